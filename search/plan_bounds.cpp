// SPDX-License-Identifier: Apache-2.0
#include "search/plan_bounds.hpp"

#include <algorithm>

#include "plans/memory.hpp"
#include "plans/partition.hpp"
#include "search/cuts.hpp"

namespace search {

using strategies::Plan;
using strategies::Recompute;

PlanFacts::PlanFacts(const forecast::Scenario& scenario_, const Plan& plan_,
                     const LayerPrices& prices_, bool chunks_move_)
    : scenario(scenario_),
      plan(plan_),
      prices(prices_),
      chunks_move(chunks_move_),
      microbatches(strategies::microbatches_of(plan_, scenario_.training)),
      graded(strategies::splits_gradients(plan_.schedule)),
      layout(strategies::layout_of(plan_)),
      placement(plan_),
      shards(strategies::shards_of(plan_, placement, scenario_.cluster)),
      duties(strategies::data_duties(plan_, scenario_.training, scenario_.software)) {}

namespace {

DataLane lane_of(const PlanFacts& facts, const strategies::ReplicaCosts& replicas) {
  const auto& software = facts.scenario.software;
  const auto& duties = facts.duties;
  if (!replicas.has_peers() || strategies::post_validates(facts.plan, software)) return {};
  return {
      .reduces = duties.reduces,
      .beside = duties.beside,
      .gathers = duties.gathers,
      .gathers_again = duties.gathers_again && !strategies::root_is_model(facts.plan, software)};
}

}  // namespace

PlanBounds::PlanBounds(PlanFacts facts, const strategies::ReplicaCosts& replicas_)
    : PlanFacts(facts), replicas(replicas_), lane(lane_of(*this, replicas_)) {}

bool is_cut(const PlanFacts& facts) {
  if (!facts.plan.layers_per_stage.empty() || facts.plan.pipeline == 1) return true;
  if (facts.plan.schedule == strategies::ScheduleKind::interleaved)
    return !facts.chunks_move ||
           facts.scenario.model.layers % (facts.plan.pipeline * facts.plan.virtual_stages) == 0;
  return !cuts_anywhere(facts.plan.schedule);
}

std::vector<int> cut_of(const PlanFacts& facts) {
  const auto layers = strategies::layers_per_virtual_stage(facts.plan, facts.scenario.model.layers);
  std::vector<int> first{0};
  for (std::size_t v = 0; v < layers.size(); ++v)
    first.push_back(first.back() + static_cast<int>(layers[v]) + (v == 0 ? 1 : 0));
  ++first.back();
  return first;
}

namespace {

// Writes into a plan the way of every layer, as a place in the variants of the prices;
// recomputation only if told so.
void write_ways(const PlanFacts& facts, Plan& plan, const std::vector<std::size_t>& way,
                bool recompute) {
  if (!recompute && !plan.layer_tensor) return;
  const auto of = [&](std::size_t layer) -> const LayerVariant& {
    return facts.prices.variants[way[layer]];
  };
  plan.layers.clear();
  bool differs = false;
  if (recompute) {
    plan.recompute_of_stage.clear();
    plan.recompute = of(0).recompute;
    for (std::size_t i = 0; i < way.size(); ++i)
      differs = differs || !(of(i).recompute == plan.recompute);
    if (differs) plan.recompute = {};
  }
  for (std::size_t i = 0; i < way.size(); ++i) {
    strategies::LayerStrategy own{static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)};
    if (differs && !(of(i).recompute == Recompute{})) own.recompute = of(i).recompute;
    if (of(i).regrouped) own.tensor = plan.layer_tensor;
    if (!own.recompute && !own.tensor) continue;
    auto& all = plan.layers;
    if (!all.empty() && all.back().to == own.from - 1 && all.back().recompute == own.recompute &&
        all.back().tensor == own.tensor)
      ++all.back().to;
    else
      all.push_back(own);
  }
  if (std::ranges::none_of(way, [&](std::size_t w) { return facts.prices.variants[w].regrouped; }))
    plan.layer_tensor.reset();
}

}  // namespace

Plan plan_with(const PlanFacts& facts, const Partition& partition, bool recompute) {
  auto result = facts.plan;
  const auto layers = facts.scenario.model.layers;
  result.layers_per_stage.clear();
  std::vector<std::size_t> way(static_cast<std::size_t>(layers), 0);
  for (std::size_t v = 0; v < partition.choices.size(); ++v) {
    const auto first = static_cast<std::int64_t>(partition.first_layer[v]);
    const auto last = static_cast<std::int64_t>(partition.first_layer[v + 1]);
    const auto from = std::max<std::int64_t>(0, first - 1), to = std::min(layers, last - 1);
    result.layers_per_stage.push_back(std::max<std::int64_t>(0, to - from));
    auto element = first;
    for (const auto& choice : partition.choices[v]) {
      if (element >= 1 && element <= layers)
        way[static_cast<std::size_t>(element - 1)] = static_cast<std::size_t>(choice.option);
      element += choice.layers;
    }
  }
  auto even = result;
  even.layers_per_stage.clear();
  if (facts.plan.layers_per_stage.empty() &&
      layers >= facts.plan.pipeline * facts.plan.virtual_stages &&
      strategies::layers_per_virtual_stage(even, layers) == result.layers_per_stage)
    result.layers_per_stage.clear();
  write_ways(facts, result, way, recompute);
  return result;
}

}  // namespace search
