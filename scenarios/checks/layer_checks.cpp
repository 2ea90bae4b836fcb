// SPDX-License-Identifier: Apache-2.0
// Checks on layers that run otherwise than the plan says: their ranges, and the conditions that a
// smaller tensor degree puts on the rest of the plan.
#include <algorithm>
#include <string>

#include "scenarios/checks/checker.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;

// Checks that ranges of layers lie in the model and apart from each other.
void check_ranges(const Scenario& s, const Checker& checker) {
  if (!checker.knows({"plan.layers", "model.layers"})) return;
  const auto complain = [&](const std::string& text) { checker.complain("plan", "layers", text); };
  const auto words = [](const strategies::LayerStrategy& range) {
    return digits(range.from) + " to " + digits(range.to);
  };
  auto ranges = s.plan.layers;
  std::ranges::stable_sort(ranges, {}, &strategies::LayerStrategy::from);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto& range = ranges[i];
    if (range.recompute) check_modules("plan", "layers", range.recompute->modules, s, checker);
    if (range.from > range.to)
      complain("from " + words(range) + " is no range; write the lower layer first");
    else if (range.to >= s.model.layers)
      complain("from " + words(range) + ", but the last layer of the model is " +
               digits(s.model.layers - 1));
    else if (i > 0 && ranges[i - 1].to >= range.from)
      complain("from " + words(ranges[i - 1]) + " and from " + words(range) +
               " overlap; each layer has one choice");
  }
}

// Checks that the other keys of a range, which follow from the plan, agree with it.
void check_told(const Scenario& s, const Checker& checker) {
  const auto& plan = s.plan;
  if (!checker.knows({"plan.layers", "plan.tensor", "plan.data", "plan.zero"})) return;
  for (const auto& range : plan.layers) {
    const auto complain = [&](const std::string& text) {
      checker.complain("plan", "layers",
                       "from " + digits(range.from) + " to " + digits(range.to) + ": " + text);
    };
    const auto inside = range.tensor.value_or(plan.tensor);
    const auto replicas = plan.data * plan.tensor / inside;
    if (range.data && *range.data != replicas)
      complain("data " + digits(*range.data) + ", but tensor " + digits(inside) + " makes " +
               digits(replicas) + " replicas of the plan's " + digits(plan.data) + " x tensor " +
               digits(plan.tensor) + "; write " + digits(replicas) + " or leave it out");
    if (range.zero && *range.zero != plan.zero)
      complain("zero " + digits(*range.zero) + ", but the plan has zero " + digits(plan.zero) +
               ": all layers share states alike; write zero for the plan");
  }
}

}  // namespace

void check_layers(const Scenario& scenario, const Checker& checker) {
  check_ranges(scenario, checker);
  checker.check(strategies::on_regrouping(), scenario);
  check_told(scenario, checker);
}

}  // namespace scenarios
