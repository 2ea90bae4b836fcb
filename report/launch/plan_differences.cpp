// SPDX-License-Identifier: Apache-2.0
#include "report/launch/plan_differences.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string_view>

#include "plans/duties.hpp"
#include "plans/partition.hpp"
#include "plans/plan.hpp"
#include "plans/schedules/schedule_needs.hpp"
#include "report/launch/launch_parts.hpp"
#include "scenarios/documents/cursor.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/shown.hpp"
#include "scenarios/tables.hpp"

namespace report {
namespace {

using forecast::Scenario;
using scenarios::Value;
using strategies::Plan;

// Names the modules that are recomputed, in one order.
void settle_modules(strategies::Recompute& recompute) {
  using enum strategies::Recompute::Kind;
  if (recompute.kind == selective) recompute = {modules, 0, {strategies::Module::core_attn}};
  std::ranges::sort(recompute.modules);
}

// Says what holds where the plan leaves it to others.
void settle_defaults(const Scenario& s, Plan& plan) {
  const auto overlaps = overlaps_of(s);
  plan.overlap = {overlaps.data, overlaps.tensor, overlaps.pipeline, overlaps.parameters,
                  overlaps.expert};
  plan.gradient_precision = gradient_precision_of(s);
  plan.bucket = plan.bucket.value_or(s.software.bucket);
  plan.gradient_sync = strategies::gradient_sync(plan, s.software);
  plan.expert_tensor = strategies::expert_tensor(plan);
  if (placed_as(plan)) plan.rank_order = Plan{}.rank_order;
  settle_modules(plan.recompute);
  std::ranges::for_each(plan.recompute_of_stage, settle_modules);
  std::ranges::sort(plan.offload.activation_modules);
  using strategies::ShardGroup;
  try {
    const auto shards = shards_of(s);
    plan.shard_group = shards < emitted_sharers(plan) ? ShardGroup::of(shards) : ShardGroup::all;
    plan.layers_per_stage = strategies::layers_per_virtual_stage(plan, s.model.layers);
  } catch (const std::invalid_argument&) {  // what fits another model or cluster stays
  }
}

// Takes out what has no effect.
void forget_unused(const Scenario& s, Plan& plan) {
  plan.data = 1;
  if (plan.context == 1) plan.context_method = Plan{}.context_method;
  if (plan.tensor == 1) plan.sequence_parallel = false, plan.overlap.tensor.reset();
  if (plan.pipeline == 1) {
    plan.schedule = Plan{}.schedule;
    plan.virtual_stages = 1;
    plan.layers_per_stage.clear();
    plan.overlap.pipeline.reset();
  }
  if (!s.model.moe) plan.expert = 1, plan.expert_tensor.reset();
  if (plan.expert == 1) plan.overlap.expert.reset();
  if (plan.zero == 0) {
    plan.shard_group = strategies::ShardGroup::all;
    plan.overlap.parameters.reset();
    plan.gather_bucket.reset();
  }
  if (plan.zero < 2) plan.gradient_sync.reset();
  if (plan.zero < 3) plan.reshard_after_forward = true, plan.wrap = {};
}

Plan settled(const Scenario& s) {
  auto plan = s.plan;
  const bool alone = emitted_sharers(plan) == 1 && (!s.model.moe || expert_replicas_of(plan) == 1);
  settle_defaults(s, plan);
  forget_unused(s, plan);
  if (alone) {  // nobody has the same parameters
    plan.overlap.data.reset();
    plan.bucket.reset();
  }
  return plan;
}

// The keys of the plan with their values as texts; parts of overlaps and offloads are keys of their
// own.
std::map<std::string, std::string> texts_of(const Plan& plan) {
  constexpr std::array<std::string_view, 2> parted{"overlap", "offload"};
  std::map<std::string, std::string> texts;
  for (const auto& member : scenarios::shown(plan).members) {
    const auto key = "plan." + member.key.text;
    if (std::ranges::find(parted, member.key.text) == parted.end())
      texts[key] = scenarios::json_of(member.value);
    else
      for (const auto& part : member.value.members)
        texts[key + "." + part.key.text] = scenarios::json_of(part.value);
  }
  return texts;
}

}  // namespace

std::optional<Scenario> with_plan_of(const scenarios::JobScenario& job, const Scenario& asked) {
  auto with = asked;
  with.plan = {};
  const auto* section = job.document.find("plan");
  if (section != nullptr) {
    scenarios::Reading reading("", {});
    scenarios::read_plan(with.plan, scenarios::Cursor(*section, "plan", reading));
    if (reading.complains()) return {};
  }
  auto& plan = with.plan;
  if (section == nullptr || section->find("virtual_stages") == nullptr)
    plan.virtual_stages = strategies::has_two_chunks(plan.schedule) ? 2 : 1;
  plan.data =
      std::max<std::int64_t>(1, asked.cluster.gpus / (plan.tensor * plan.context * plan.pipeline));
  return with;
}

std::set<std::string> differing_keys(const Scenario& one, const Scenario& other) {
  auto first = texts_of(settled(one)), second = texts_of(settled(other));
  std::set<std::string> keys;
  for (const auto& [key, text] : first)
    if (const auto found = second.find(key); found == second.end() || found->second != text)
      keys.insert(key);
  for (const auto& [key, text] : second)
    if (!first.contains(key)) keys.insert(key);
  return keys;
}

std::set<std::string> plan_keys(const Scenario& scenario) {
  std::set<std::string> keys;
  for (const auto& [key, text] : texts_of(settled(scenario))) keys.insert(key);
  return keys;
}

}  // namespace report
