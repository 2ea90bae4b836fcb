// SPDX-License-Identifier: Apache-2.0
#include "search/least_memory.hpp"

#include <algorithm>
#include <cmath>

#include "forecast/memory.hpp"
#include "plans/partition.hpp"

namespace search {

double room_for_tensors(const PlanFacts& facts, double headroom) {
  double least = HUGE_VAL;
  for (std::size_t kind = 0; kind < facts.scenario.cluster.kinds(); ++kind)
    least = std::min(least, facts.scenario.cluster.kind(kind).device.usable_memory.value);
  const auto& software = facts.scenario.software;
  // A plan may regroup no layer after all, and a stage may hold no experts.
  auto simple = facts.plan;
  simple.layer_tensor.reset();
  const strategies::Placement placement(simple);
  const double outside =
      strategies::communicators(placement, false) * software.communicator_memory.value +
      software.framework_memory.value;
  const double workspaces =
      software.workspace.value + (facts.scenario.model.moe ? software.expert_workspace.value : 0);
  const auto room = forecast::room_of(facts.scenario, units::Bytes{least}, units::Bytes{outside});
  const double reserved = room.value * (1 - headroom) - outside;
  if (headroom == 0) return reserved - workspaces;
  return std::ceil(reserved / software.reserved_over_allocated) - workspaces;
}

strategies::StaticMemory states_of(const PlanFacts& facts, const strategies::Parameters& held,
                                   double cast) {
  // The least states under Muon, as if all parameters were matrices.
  return strategies::static_memory({.parameters = held, .cast = cast, .matrices = held},
                                   facts.shards, facts.plan, facts.scenario.training,
                                   facts.scenario.software);
}

namespace {

// Weights, gradients and optimizer states of so many parameters, bytes.
double bytes_of_states(const PlanFacts& facts, const strategies::Parameters& held, double cast) {
  const auto fixed = states_of(facts, held, cast);
  return (fixed.weights + fixed.gradients + fixed.optimizer).value;
}

// Returns the bytes by which the model's states are fewer if every layer that then holds less is
// regrouped: its shards may lie on more ranks.
double saved_by_regrouping(const PlanFacts& facts) {
  double saved = 0;
  for (std::size_t k = 0; k < facts.prices.kinds.size(); ++k)
    if (const auto& regrouped = facts.prices.regrouped[k]) {
      const auto& as_divided = facts.prices.least_costs[k].front();
      saved += facts.prices.kinds[k].count *
               std::max(0.0, bytes_of_states(facts, as_divided.parameters, as_divided.cast) -
                                 bytes_of_states(facts, regrouped->parameters, regrouped->cast));
    }
  return saved;
}

}  // namespace

double average_states(const PlanFacts& facts) {
  double cast = 0;
  for (std::size_t k = 0; k < facts.prices.kinds.size(); ++k)
    cast += facts.prices.kinds[k].count * facts.prices.least_costs[k].front().cast;
  auto whole = facts.prices.whole;
  // A lower bound leaves out parameters held beside the head, where they add.
  if (facts.scenario.model.tied_embeddings) whole.with_layer -= facts.prices.words;
  if (facts.plan.layer_tensor) whole.apart = 0;
  return static_cast<double>(facts.placement.copies()) *
         (bytes_of_states(facts, whole, cast) - saved_by_regrouping(facts)) /
         static_cast<double>(facts.plan.pipeline);
}

bool states_fit(const PlanFacts& facts, double headroom) {
  return average_states(facts) <= room_for_tensors(facts, headroom);
}

namespace {

// Whether some device has no layer as the plan is cut.
bool leaves_devices_bare(const PlanFacts& facts) {
  const auto layout = facts.layout;
  const auto layers = strategies::layers_per_virtual_stage(facts.plan, facts.scenario.model.layers);
  std::vector<std::int64_t> held(static_cast<std::size_t>(layout.stages), 0);
  for (std::size_t v = 0; v < layers.size(); ++v)
    held[static_cast<std::size_t>(strategies::place_of(static_cast<int>(v), layout).stage)] +=
        layers[v];
  return std::ranges::find(held, 0) != held.end();
}

}  // namespace

// The least memory: every stage has the smallest layer whole at some time, or as many gradients as
// ZeRO-2 leaves whole. Partitions that are not given may leave a stage without a layer.
double whole_units(const PlanFacts& facts) {
  if (!is_cut(facts) || leaves_devices_bare(facts)) return 0;
  double weights = HUGE_VAL, gradients = HUGE_VAL;
  const auto count = [&](const strategies::Parameters& held) {
    const auto& offload = facts.plan.offload;
    const bool away = offload.parameters != strategies::Offload::Tier::none;
    weights = std::min(weights, strategies::not_whole(held, facts.shards, away));
    gradients = std::min(
        gradients,
        strategies::not_whole(held, facts.shards, facts.plan.zero == 2 ? offload.gradients : away));
  };
  for (std::size_t kind = 0; kind < facts.prices.kinds.size(); ++kind)
    if (facts.prices.kinds[kind].layer) {
      count(facts.prices.least_costs[kind].front().parameters);
      if (const auto& regrouped = facts.prices.regrouped[kind]) count(regrouped->parameters);
    }
  if (facts.plan.zero == 2)
    gradients = std::min(gradients, strategies::most_unreduced(facts.plan, facts.scenario.training,
                                                               facts.scenario.software));
  return strategies::static_memory(
             {.parameters = {.with_layer = weights}, .gathered = weights, .unreduced = gradients},
             facts.shards, facts.plan, facts.scenario.training, facts.scenario.software)
      .gathered.value;
}

double rough_memory(const PlanFacts& facts) {
  const auto p = static_cast<double>(facts.plan.pipeline);
  const auto m = static_cast<double>(facts.microbatches);
  double kept = 0;
  for (std::size_t k = 0; k < facts.prices.kinds.size(); ++k)
    kept +=
        facts.prices.kinds[k].count * static_cast<double>(facts.prices.least_costs[k].front().kept);
  return average_states(facts) + kept / p * std::min(m, p + 1);
}

}  // namespace search
