// SPDX-License-Identifier: Apache-2.0
#include "search/limits.hpp"

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace search {
namespace {

constexpr std::pair<std::string_view, Values Space::*> degrees[] = {
    {"tensor", &Space::tensor},
    {"context", &Space::context},
    {"expert", &Space::expert},
    {"expert_tensor", &Space::expert_tensor},
    {"pipeline", &Space::pipeline},
    {"virtual_stages", &Space::virtual_stages},
    {"data", &Space::data},
    {"zero", &Space::zero},
    {"micro_batch", &Space::micro_batch}};

struct Looser {
  std::string_view key;  // that is no longer limited
  Space space;
  strategies::ShardGroup shard_group;  // of every plan
};

// The spaces with one limit less.
std::vector<Looser> loosened(const forecast::Scenario& scenario, const Space& space) {
  const auto& group = scenario.plan.shard_group;
  std::vector<Looser> all;
  if (group != strategies::ShardGroup::all)
    all.push_back({"shard_group", space, strategies::ShardGroup::all});
  const auto add = [&](std::string_view name, const Space& wider) {
    if (!(wider == space)) all.push_back({name, wider, group});
  };
  for (const auto& [name, values] : degrees) {
    auto wider = space;
    wider.*values = {};
    add(name, wider);
  }
  auto wider = space;
  wider.sequence_parallel.reset();
  add("sequence_parallel", wider);
  wider = space;
  wider.schedules.clear();
  add("schedule", wider);
  return all;
}

}  // namespace

std::vector<std::string_view> limits_of(const forecast::Scenario& scenario, const Space& space) {
  std::vector<std::string_view> names;
  for (const auto& looser : loosened(scenario, space)) names.push_back(looser.key);
  return names;
}

std::vector<std::string_view> reliefs(const forecast::Scenario& scenario, const Space& space) {
  std::vector<std::string_view> names;
  auto asked = scenario;
  for (const auto& [key, wider, group] : loosened(scenario, space)) {
    asked.plan.shard_group = group;
    if (any_plan_in(asked, wider)) names.push_back(key);
  }
  return names;
}

std::optional<BatchRelief> batch_relief(const forecast::Scenario& scenario, const Space& space) {
  const auto batch = scenario.training.global_batch, gpus = scenario.cluster.gpus;
  auto asked = scenario;
  const auto any_with = [&](std::int64_t sequences) {
    asked.training.global_batch = sequences;
    return any_plan_in(asked, space);
  };
  if (any_with(batch)) return {};
  std::map<std::int64_t, std::int64_t> factors;  // to the least divisor of the GPUs that needs each
  for (std::int64_t d = 2; d <= gpus; ++d)
    if (gpus % d == 0 && batch % d != 0) factors.emplace(d / std::gcd(d, batch), d);
  for (const auto& [factor, divisor] : factors) {
    if (factor > batch) break;
    if (!any_with(factor * batch)) continue;
    auto step = divisor;
    while (8 * step <= batch) step *= 2;
    const auto next = (batch / step + 1) * step;
    return BatchRelief{factor, any_with(next) ? next : factor * batch};
  }
  return {};
}

}  // namespace search
