// SPDX-License-Identifier: Apache-2.0
#include "forecast/fitting_change.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "plans/admissible.hpp"
#include "plans/duties.hpp"
#include "plans/holdings.hpp"
#include "units/text.hpp"

namespace forecast {

namespace {

using strategies::Plan;
using strategies::Recompute;

struct Change {
  const char* key;
  std::string value;
  Plan plan;
  bool expandable_segments;
};

bool is_allowed(const Scenario& scenario, const Plan& plan) {
  const strategies::Case asked{scenario.model, scenario.training, plan, scenario.cluster};
  for (const auto conditions : {strategies::on_sequence_parts(), strategies::on_shards(),
                                strategies::on_states(), strategies::on_batch()})
    if (!strategies::all_hold(conditions, asked)) return false;
  return strategies::takes_pipeline(asked);
}

bool recomputes_by_stage(const Plan& plan) {
  return !plan.recompute_of_stage.empty() || !plan.layers.empty();
}

bool has_host(const Scenario& scenario) {
  for (std::size_t kind = 0; kind < scenario.cluster.kinds(); ++kind) {
    const auto& node = scenario.cluster.kind(kind);
    if (node.host.memory.value <= 0 || node.host.memory_bandwidth.value <= 0 ||
        node.pcie.bandwidth.value <= 0)
      return false;
  }
  return true;
}

std::vector<Change> changes_of(const Scenario& scenario) {
  const auto& plan = scenario.plan;
  std::vector<Change> changes;
  const auto add = [&](const char* key, std::string value, auto change) {
    changes.push_back(
        {key, std::move(value), plan, scenario.software.allocator.expandable_segments});
    change(changes.back().plan);
    if (changes.back().plan == plan) changes.pop_back();
  };
  if (!scenario.software.allocator.expandable_segments && !scenario.software.allocator.preallocated)
    changes.push_back({"software.allocator.expandable_segments", "true", plan, true});
  if (plan.tensor > 1)
    add("plan.sequence_parallel", "true", [](Plan& to) { to.sequence_parallel = true; });
  for (auto smaller = plan.micro_batch / 2; smaller >= 1; --smaller)
    if (plan.micro_batch % smaller == 0)
      add("plan.micro_batch", std::to_string(smaller),
          [smaller](Plan& to) { to.micro_batch = smaller; });
  if (!recomputes_by_stage(plan)) {
    if (plan.recompute.kind == Recompute::Kind::none)
      add("plan.recompute", "selective",
          [](Plan& to) { to.recompute = {Recompute::Kind::selective}; });
    add("plan.recompute", "full", [](Plan& to) { to.recompute = {Recompute::Kind::full}; });
  }
  const bool zero_by_layer =
      std::ranges::any_of(plan.layers, [](const auto& some) { return some.zero.has_value(); });
  if (strategies::sums_gradients(plan) && !zero_by_layer)
    for (const int stage : {1, 2, 3})
      if (plan.zero < stage)
        add("plan.zero", std::to_string(stage), [&](Plan& to) { to.zero = stage; });
  if (strategies::sums_whole_gradients(plan, scenario.training, scenario.software))
    add("plan.gradient_sync", "microbatch",
        [](Plan& to) { to.gradient_sync = strategies::GradientSync::microbatch; });
  if (plan.offload == strategies::Offload{} && has_host(scenario))
    add("plan.offload", "{optimizer: cpu}",
        [](Plan& to) { to.offload.optimizer = strategies::Offload::Tier::cpu; });
  return changes;
}

}  // namespace

std::optional<FittingChange> cheapest_fitting_change(const Scenario& scenario) {
  std::optional<FittingChange> best;
  auto changed = scenario;
  strategies::KnownOrders orders;
  for (auto& change : changes_of(scenario)) {
    if (!is_allowed(scenario, change.plan)) continue;
    changed.plan = change.plan;
    changed.software.allocator.expandable_segments = change.expandable_segments;
    try {
      const auto forecast = simulate(changed, {.network = false, .orders = &orders});
      if (!forecast.memory.fits || !forecast.memory.host_fits) continue;
      // A replay that fails by fragments is kept, even where a little more room would do.
      const FittingChange found{change.key, change.value, forecast.memory.peak, forecast.step.time,
                                forecast.memory.allocator.has_value()};
      const auto rank = [](const FittingChange& one) { return std::pair{one.barely, one.step}; };
      if (!best || rank(found) < rank(*best)) best = found;
    } catch (const std::invalid_argument&) {  // what the plan cannot be combined with
    }
  }
  return best;
}

std::string advice_to_fit(const Scenario& scenario) {
  const auto change = cheapest_fitting_change(scenario);
  if (!change)
    return "no change of one key alone (sequence_parallel, micro_batch, recompute, zero, "
           "gradient_sync, offload, expandable_segments) makes it fit; try `stepcast search`";
  const auto words = change->key + ": " + change->value + ", with " +
                     units::short_text(change->peak) + " and " + units::short_text(change->step) +
                     " a step";
  if (change->barely)
    return "every change of one key that makes it fit leaves some tensor without a piece in the "
           "allocator's replay, where 2 % more memory would do; the cheapest: " +
           words;
  return "the cheapest change of one key that makes it fit, with a piece for every tensor: " +
         words;
}

}  // namespace forecast
