// SPDX-License-Identifier: Apache-2.0
#include "search/given_plan.hpp"

#include <algorithm>
#include <array>

#include "plans/holdings.hpp"
#include "plans/partition.hpp"
#include "search/cuts.hpp"
#include "search/evaluator.hpp"
#include "strategies/lowering/lower.hpp"

namespace search {

namespace {

using strategies::Plan;
using strategies::ScheduleKind;

// The plan of the space that runs as the given plan does.
Plan as_searched(Plan plan, const Question& question) {
  const auto& space = question.space;
  const auto& asked = space.schedules;
  const bool simple =
      asked.empty() || std::ranges::find(asked, ScheduleKind::one_f_one_b) != asked.end();
  const bool alone = plan.pipeline == 1 ||
                     (plan.schedule == ScheduleKind::interleaved && plan.virtual_stages == 1);
  if (alone && simple) {
    plan.schedule = ScheduleKind::one_f_one_b;
    plan.virtual_stages = 1;
    if (plan.pipeline == 1) plan.layers_per_stage.clear();
  }
  if (plan.pipeline == 1 && plan.schedule == ScheduleKind::interleaved)
    for (auto chunks = plan.virtual_stages - 1; chunks > 0; --chunks)
      if (space.virtual_stages.allow(chunks)) {
        plan.virtual_stages = chunks;
        plan.layers_per_stage.clear();
      }
  if (plan.tensor == 1 && !space.sequence_parallel) plan.sequence_parallel = false;
  if (!strategies::sums_gradients(plan))
    for (int zero = 3; zero >= 0; --zero)
      if (space.zero.allow(zero)) plan.zero = zero;
  return plan;
}

// A degree of plans: its key, its values in a space, and its value in a plan.
struct Degree {
  std::string_view name;
  Values Space::*values;
  std::int64_t (*of)(const Plan&);
};
constexpr std::array degree_keys{
    Degree{"tensor", &Space::tensor, [](const Plan& p) { return p.tensor; }},
    Degree{"context", &Space::context, [](const Plan& p) { return p.context; }},
    Degree{"expert", &Space::expert, [](const Plan& p) { return p.expert; }},
    Degree{"expert_tensor", &Space::expert_tensor,
           [](const Plan& p) { return strategies::expert_tensor(p); }},
    Degree{"pipeline", &Space::pipeline, [](const Plan& p) { return p.pipeline; }},
    Degree{"virtual_stages", &Space::virtual_stages,
           [](const Plan& p) { return p.virtual_stages; }},
    Degree{"data", &Space::data, [](const Plan& p) { return p.data; }},
    Degree{"zero", &Space::zero, [](const Plan& p) { return std::int64_t{p.zero}; }},
    Degree{"micro_batch", &Space::micro_batch, [](const Plan& p) { return p.micro_batch; }}};
constexpr std::string_view sequence = "sequence_parallel", schedule = "schedule";

// The space with the plan's degrees in place of all values but those of one key.
Space only(const Space& space, const Plan& plan, std::string_view but) {
  Space left = space;
  for (const auto& [name, values, of] : degree_keys)
    if (name != but) left.*values = {.listed = {of(plan)}};
  if (but != sequence) left.sequence_parallel = plan.sequence_parallel;
  if (but != schedule) left.schedules = {plan.schedule};
  return left;
}

bool holds_any(const Question& question, const Space& space) {
  return any_plan_in(question.scenario, space);
}

std::vector<std::string_view> degrees_outside(const Question& question, const Plan& plan) {
  const auto& space = question.space;
  std::vector<std::string_view> wrong;
  const bool experts = question.scenario.model.moe.has_value();
  for (const auto& [name, values, of] : degree_keys)
    if ((experts || !name.starts_with("expert")) && !(space.*values).allow(of(plan)))
      wrong.push_back(name);
  if (space.sequence_parallel.value_or(plan.sequence_parallel) != plan.sequence_parallel)
    wrong.push_back(sequence);
  const auto& asked = space.schedules;
  if (!asked.empty() && std::ranges::find(asked, plan.schedule) == asked.end())
    wrong.push_back(schedule);
  if (!wrong.empty() || holds_any(question, only(space, plan, {}))) return wrong;
  for (const auto& degree : degree_keys)
    if (holds_any(question, only(space, plan, degree.name))) wrong.push_back(degree.name);
  for (const auto name : {sequence, schedule})
    if (holds_any(question, only(space, plan, name))) wrong.push_back(name);
  if (wrong.empty()) wrong.push_back("degrees");
  return wrong;
}

bool holds_partition(const Question& question, const Plan& plan) {
  return holds_cut(plan, question.scenario.plan.layers_per_stage, question.space,
                   question.scenario.model.layers);
}

bool holds_recomputation(const Question& question, const Plan& plan) {
  const auto& own = question.scenario.plan;
  if (!question.space.recompute)
    return plan.recompute == own.recompute && plan.layers == own.layers &&
           plan.recompute_of_stage == own.recompute_of_stage;
  std::vector<strategies::Drop> allowed;
  for (const auto& way : ways_of(question.scenario, question.space))
    allowed.push_back(strategies::drop_of(way, 0));
  for (const auto& stage :
       strategies::blocks_of(question.scenario.model, question.scenario.training, plan))
    for (const auto& block : stage)
      if (block.kind == strategies::Block::Kind::layer &&
          std::ranges::find(allowed, block.drop) == allowed.end())
        return false;
  return true;
}

// Adds the keys that no search varies and in which the plans differ.
void add_fixed(const Plan& own, const Plan& plan, std::vector<std::string_view>& wrong) {
  const auto compare = [&](std::string_view name, auto Plan::*key) {
    if (!(own.*key == plan.*key)) wrong.push_back(name);
  };
  if (plan.context > 1) compare("context_method", &Plan::context_method);
  if (plan.zero == 3) compare("reshard_after_forward", &Plan::reshard_after_forward);
  if (plan.zero == 3) compare("wrap", &Plan::wrap);
  if (plan.zero >= 2) compare("gradient_sync", &Plan::gradient_sync);
  compare("shard_group", &Plan::shard_group);
  compare("offload", &Plan::offload);
  compare("overlap", &Plan::overlap);
  compare("gradient_precision", &Plan::gradient_precision);
  compare("master_weights", &Plan::master_weights);
  compare("bucket", &Plan::bucket);
  compare("bucket", &Plan::gather_bucket);
  compare("gradient_compression", &Plan::gradient_compression);
  compare("activation_compression", &Plan::activation_compression);
  compare("rank_order", &Plan::rank_order);
}

}  // namespace

std::vector<std::string_view> outside(const Question& question, const Plan& plan) {
  const auto same = as_searched(plan, question);
  auto wrong = degrees_outside(question, same);
  if (!holds_partition(question, same)) wrong.push_back("layers_per_stage");
  if (!holds_recomputation(question, same)) wrong.push_back("recompute");
  add_fixed(question.scenario.plan, same, wrong);
  return wrong;
}

Comparison compare(const Question& question, const Plan& given, const Options& options) {
  auto scenario = question.scenario;
  scenario.plan = given;
  const auto forecast = forecast::simulate(scenario);
  return {outside(question, given), forecast.step.time, missing(question, forecast) <= 0,
          search(question, options)};
}

}  // namespace search
