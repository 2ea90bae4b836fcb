// SPDX-License-Identifier: Apache-2.0
#include "report/launch/framework_limits.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "plans/schedules/schedule_needs.hpp"

namespace report {
namespace {

using forecast::Scenario;
using search::Space;
using strategies::Plan;
using strategies::Recompute;
using strategies::ScheduleKind;

// Whether the key itself is lost, or one of its parts: of "overlap" the key "overlap.data".
bool is_of(const Lost& lost, std::string_view key) {
  const std::string_view own = lost.key;
  return own == key || (own.starts_with(key) && own[key.size()] == '.');
}

// Tries one key of a plan on a model of the same parts with few layers, divided by nothing else.
class KeyTrial {
 public:
  KeyTrial(const Scenario& scenario, Framework framework)
      : scenario_(scenario), framework_(framework) {
    auto& s = scenario_;
    s.model.layers = layers;
    if (s.model.moe)
      s.model.moe->first_dense_layers = std::min<std::int64_t>(1, s.model.moe->first_dense_layers);
    s.cluster.gpus = gpus;
    s.training.global_batch = gpus * 4;
    s.plan = {};
    s.plan.context_method = scenario.plan.context_method;
    s.plan.overlap = scenario.plan.overlap;
    s.plan.data = gpus;
  }

  // Whether the framework runs the plan that `change` makes, as far as `key` and its parts can
  // tell.
  template <class Change>
  bool runs(std::string_view key, const Change& change) const {
    auto s = scenario_;
    change(s.plan);
    const auto ranks = s.plan.tensor * s.plan.context * s.plan.pipeline;
    s.plan.data = std::max<std::int64_t>(1, gpus / ranks);
    s.cluster.gpus = s.plan.data * ranks;
    try {
      return std::ranges::none_of(launch(s, framework_).not_expressed,
                                  [&](const Lost& one) { return is_of(one, key); });
    } catch (const std::invalid_argument&) {
      return true;  // a plan that the model forbids shows no limit of the framework
    }
  }

 private:
  static constexpr std::int64_t layers = 8, gpus = 16;
  Scenario scenario_;
  Framework framework_;
};

// Leaves out the schedules that the framework lacks, and those whose transfers it cannot run as the
// plan says. Where the plan says nothing and the software's own way is not the framework's,
// transfers wait for computation.
void limit_schedules(search::Alternative& one, Framework framework) {
  using enum ScheduleKind;
  auto& space = one.space;
  auto& overlaps = one.scenario.plan.overlap.pipeline;
  const KeyTrial trial(one.scenario, framework);
  std::vector<ScheduleKind> kept;
  bool as_software = true;
  for (const auto& named : words_of(ScheduleKind{})) {
    const auto kind = named.value;
    const bool wanted = space.schedules.empty() ||
                        std::ranges::find(space.schedules, kind) != space.schedules.end();
    const auto runs = [&](std::string_view key) {
      return trial.runs(key, [&](Plan& plan) {
        plan.pipeline = 4;
        plan.schedule = kind;
        plan.virtual_stages = kind == interleaved || strategies::has_two_chunks(kind) ? 2 : 1;
      });
    };
    const bool transfers = runs("overlap.pipeline");
    if (!wanted || !runs("schedule") || (overlaps && !transfers)) continue;
    as_software = as_software && transfers;
    kept.push_back(kind);
  }
  if (!as_software) overlaps = false;
  if (kept.empty()) {  // of one rank, where there is no pipeline
    kept.push_back(one_f_one_b);
    if (space.pipeline.allow(1)) space.pipeline.most = 1;
  }
  space.schedules = kept;
}

// The alternative with the stages of ZeRO that the framework runs. A search varies no overlap: a
// stage that gathers parameters otherwise than the software does is an alternative of its own, and
// one that runs under no overlap of the plan is left out.
std::vector<search::Alternative> by_overlap(search::Alternative one, const KeyTrial& trial) {
  std::vector<std::int64_t> rest;
  for (std::int64_t zero = 0; zero <= 3; ++zero)
    if (one.space.zero.allow(zero) &&
        trial.runs("zero", [&](Plan& plan) { plan.zero = static_cast<int>(zero); }))
      rest.push_back(zero);
  const auto given = one.scenario.plan.overlap.parameters;
  std::vector<search::Alternative> parts;
  for (const auto ahead : {given, std::optional(false), std::optional(true)}) {
    if (given && ahead != given) continue;
    const auto runs = [&](std::int64_t zero) {
      return trial.runs("overlap", [&](Plan& plan) {
        plan.zero = static_cast<int>(zero);
        plan.overlap.parameters = ahead;
      });
    };
    const auto left = std::stable_partition(rest.begin(), rest.end(), std::not_fn(runs));
    if (left == rest.end()) continue;
    parts.push_back(one);
    parts.back().space.zero.listed.assign(left, rest.end());
    parts.back().scenario.plan.overlap.parameters = ahead;
    rest.erase(left, rest.end());
  }
  if (parts.empty()) parts.push_back(std::move(one));
  return parts;
}

// The alternative; where the framework runs some stages of ZeRO on no ranks that `divide` makes,
// these stages are an alternative of their own, in which `forbid` leaves such ranks out.
template <class Divide, class Forbid>
std::vector<search::Alternative> by_sharding(search::Alternative one, const KeyTrial& trial,
                                             const Divide& divide, const Forbid& forbid) {
  std::vector<std::int64_t> always, alone;
  for (const auto zero : one.space.zero.listed) {
    const bool divided = trial.runs("zero", [&](Plan& plan) {
      plan.zero = static_cast<int>(zero);
      divide(plan);
    });
    (divided ? always : alone).push_back(zero);
  }
  auto apart = one;
  const bool possible = forbid(apart.space);
  if (alone.empty() || (always.empty() && !possible)) return {std::move(one)};
  std::vector<search::Alternative> parts;
  one.space.zero.listed = always;
  apart.space.zero.listed = alone;
  if (!always.empty()) parts.push_back(std::move(one));
  if (possible) parts.push_back(std::move(apart));
  return parts;
}

std::vector<search::Alternative> by_tensor(search::Alternative one, const KeyTrial& trial) {
  return by_sharding(
      std::move(one), trial, [](Plan& plan) { plan.tensor = 2; },
      [](Space& space) {
        if (!space.tensor.allow(1) || !space.pipeline.allow(1)) return false;
        space.tensor.most = space.pipeline.most = 1;
        return true;
      });
}

std::vector<search::Alternative> by_experts(search::Alternative one, const KeyTrial& trial) {
  if (!one.scenario.model.moe) return {std::move(one)};
  return by_sharding(
      std::move(one), trial, [](Plan& plan) { plan.expert = 2; },
      [](Space& space) {
        if (!space.expert.allow(1)) return false;
        space.expert.most = 1;
        return true;
      });
}

void limit_degrees(const KeyTrial& trial, std::int64_t key_heads, Space& space) {
  if (!trial.runs("pipeline", [](Plan& plan) { plan.pipeline = 2; })) space.pipeline.most = 1;
  if (!trial.runs("context_method", [](Plan& plan) { plan.context = 2; })) space.context.most = 1;
  if (space.tensor.allow(1) &&
      !trial.runs("tensor", [&](Plan& plan) { plan.tensor = 2 * key_heads; }))
    space.tensor.most = std::min(space.tensor.most, key_heads);
  for (const bool divides : {false, true})
    if (!trial.runs("sequence_parallel", [&](Plan& plan) {
          plan.tensor = 2;
          plan.sequence_parallel = divides;
        }))
      space.sequence_parallel = !divides;
  if (space.expert_tensor.allow(1) &&
      !trial.runs("expert_tensor", [](Plan& plan) { plan.tensor = plan.expert = 2; }))
    space.expert_tensor.most = 1;
  if (!trial.runs("layers_per_stage", [](Plan& plan) {
        plan.pipeline = 2;
        plan.layers_per_stage = {3, 5};
      }))
    space.partition = false;
}

std::vector<Recompute> ways_of(const KeyTrial& trial) {
  using enum Recompute::Kind;
  const std::array all{Recompute{none}, Recompute{selective}, Recompute{per_op}, Recompute{full}};
  std::vector<Recompute> ways;
  for (const auto& way : all)
    if (trial.runs("recompute", [&](Plan& plan) { plan.recompute = way; })) ways.push_back(way);
  return ways;
}

// The alternative, once for each recomputation of all layers that the framework has.
std::vector<search::Alternative> alternatives_of(search::Alternative one, Framework framework) {
  limit_schedules(one, framework);
  const KeyTrial trial(one.scenario, framework);
  limit_degrees(trial, one.scenario.model.kv_heads, one.space);
  const bool varies = std::exchange(one.space.recompute, false);
  const auto ways = varies ? ways_of(trial) : std::vector{one.scenario.plan.recompute};
  std::vector<search::Alternative> each;
  for (const auto& overlapped : by_overlap(std::move(one), trial))
    for (const auto& sharded : by_tensor(overlapped, trial))
      for (const auto& part : by_experts(sharded, trial))
        for (const auto& way : ways) {
          each.push_back(part);
          each.back().scenario.plan.recompute = way;
        }
  return each;
}

void limit_to_fork(search::Alternative& one) {
  auto& space = one.space;
  const auto kind = ScheduleKind::one_f_one_b;
  if (space.schedules.empty() || std::ranges::find(space.schedules, kind) != space.schedules.end())
    space.schedules = {kind};
  if (space.virtual_stages.allow(1)) space.virtual_stages.most = 1;
  if (one.scenario.plan.context_method != strategies::ContextMethod::ulysses &&
      space.context.allow(1))
    space.context.most = 1;
  space.partition = false;
}

// Returns the sentences of launch() about these keys and their parts.
std::vector<std::string> lost_of(const Scenario& scenario, Framework framework,
                                 std::span<const std::string_view> keys) {
  auto all = launch(scenario, framework).not_expressed;
  std::erase_if(all, [&](const Lost& lost) {
    return std::ranges::none_of(keys, [&](auto key) { return is_of(lost, key); });
  });
  return sentences_of(all);
}

}  // namespace

std::string_view launch_version(Framework framework) {
  switch (framework) {
    case Framework::megatron:
      return "d98e8a64dd";
    case Framework::deepspeed:
      return "edaa72212";
    case Framework::torchtitan:
      return "0.2.2";
    case Framework::nanotron:
      return "2411b022";
  }
  throw std::invalid_argument("no such framework");
}

std::vector<std::string> beyond(const Scenario& scenario, Framework framework) {
  static constexpr std::array<std::string_view, 13> keys{
      "tensor",        "schedule",  "virtual_stages", "layers_per_stage",  "pipeline",
      "zero",          "recompute", "context_method", "sequence_parallel", "expert",
      "expert_tensor", "layers",    "shard_group"};
  return lost_of(scenario, framework, keys);
}

std::string not_run_words(const Scenario& scenario) {
  static constexpr std::array<std::pair<std::string_view, Framework>, 4> frameworks{
      {{"megatron-core", Framework::megatron},
       {"deepspeed", Framework::deepspeed},
       {"torchtitan", Framework::torchtitan},
       {"nanotron", Framework::nanotron}}};
  static constexpr std::array<std::string_view, 3> keys{"schedule", "virtual_stages", "zero"};
  const auto of = std::ranges::find(frameworks, scenario.software.name,
                                    [](const auto& one) { return one.first; });
  if (of == frameworks.end()) return {};
  std::string text;
  for (const auto& sentence : lost_of(scenario, of->second, keys))
    text += (text.empty() ? "" : "; ") + sentence;
  if (text.empty()) return {};
  return "software " + scenario.software.name +
         " does not run this plan as it is forecast: " + text;
}

search::Question within_limits(const search::Question& question, Framework framework,
                               const scenarios::JobAccount* job) {
  auto limited = question;
  limited.others.clear();
  const auto parts = [&](search::Alternative one) {
    if (job != nullptr && job->fork) limit_to_fork(one);
    return alternatives_of(std::move(one), framework);
  };
  auto first = parts({question.scenario, question.space});
  limited.scenario = first.front().scenario;
  limited.space = first.front().space;
  limited.others.assign(first.begin() + 1, first.end());
  for (const auto& other : question.others)
    for (auto& one : parts(other)) limited.others.push_back(std::move(one));
  return limited;
}

}  // namespace report
