// SPDX-License-Identifier: Apache-2.0
#include "search/limits.hpp"

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

// The spaces with one limit less, each with the key that is no longer limited.
std::vector<std::pair<std::string_view, Space>> loosened(const Space& space) {
  std::vector<std::pair<std::string_view, Space>> all;
  const auto add = [&](std::string_view name, const Space& wider) {
    if (!(wider == space)) all.push_back({name, wider});
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

std::vector<std::string_view> limits_of(const Space& space) {
  std::vector<std::string_view> names;
  for (const auto& [name, wider] : loosened(space)) names.push_back(name);
  return names;
}

std::vector<std::string_view> reliefs(const forecast::Scenario& scenario, const Space& space) {
  std::vector<std::string_view> names;
  for (const auto& [name, wider] : loosened(space)) {
    bool some = false;
    for_each_plan(scenario, wider, [&](const strategies::Plan&) { some = true; });
    if (some) names.push_back(name);
  }
  return names;
}

}  // namespace search
