// SPDX-License-Identifier: Apache-2.0
#include "forecast/expert_ranks.hpp"

#include <algorithm>

#include "strategies/activity.hpp"
#include "strategies/experts.hpp"

namespace forecast {
namespace {

ExpertRanks::Layer layer_of_load(double quantile, double load, const strategies::Lowered& lowered,
                                 const strategies::Block& middle, const strategies::Costs& costs) {
  auto share = lowered.writer->share();
  share.loaded = {load, load};
  const strategies::PassWriter writer(share, costs, {{middle}});
  const auto time = [](const strategies::Pieces& pieces) {
    return units::Seconds{static_cast<double>(strategies::spent_alone(pieces).total()) * 1e-12};
  };
  return {quantile,
          load,
          time(writer.forward_part(middle, model::Part::mlp)),
          time(writer.backward_part(middle, model::Part::mlp)),
          {static_cast<double>(writer.cost(middle).kept)}};
}

}  // namespace

std::optional<ExpertRanks> expert_ranks(const Scenario& scenario,
                                        const strategies::Lowered& lowered,
                                        const strategies::Block& middle,
                                        const strategies::Costs& costs) {
  const auto& routing = scenario.training.routing;
  if (!scenario.model.moe || scenario.plan.expert == 1 || routing == strategies::Routing{})
    return {};
  const auto& moe = *scenario.model.moe;
  const auto& group = lowered.writer->share().expert_shape;
  const auto loads = strategies::expert_loads(lowered.writer->share());
  ExpertRanks ranks;
  ranks.ranks_reached = strategies::parts_hit(moe, routing, group.ranks);
  ranks.nodes_reached = strategies::parts_hit(moe, routing, group.nodes);
  ranks.own_load = loads.own;
  ranks.fullest_load = loads.fullest;
  ranks.dropped = loads.dropped;
  if (routing.skew == strategies::Skew::balanced) return ranks;
  if (routing.placement != strategies::ExpertPlacement::given) {
    auto given = routing;
    given.placement = strategies::ExpertPlacement::given;
    ranks.given_load = strategies::expert_loads(moe, given, scenario.plan.expert).fullest;
    ranks.least_load = strategies::least_fullest_load(moe, routing, scenario.plan.expert);
  }
  const auto add = [&](double quantile, double load) {
    ranks.layers.push_back(layer_of_load(quantile, load, lowered, middle, costs));
  };
  add(0, loads.own);
  for (std::size_t q = 0; q < strategies::load_quantiles.size(); ++q)
    add(strategies::load_quantiles[q], loads.quantiles[q]);
  return ranks;
}

void add_expert_waits(Forecast& forecast, const strategies::Lowered& lowered,
                      const sim::Measures& measures) {
  for (auto& stage : forecast.pipeline.stages) {
    const auto found =
        std::ranges::find(lowered.actors, stage.stage, &strategies::ActorFacts::stage);
    const auto waiting = measures.of_actor[static_cast<std::size_t>(found - lowered.actors.begin())]
                             .on[strategies::expert_waiting];
    if (forecast.experts)
      forecast.experts->waiting =
          std::max(forecast.experts->waiting, units::Seconds{static_cast<double>(waiting) * 1e-12});
    if (stage.bubble_by_cause)
      (*stage.bubble_by_cause)[static_cast<std::size_t>(IdleCause::expert_imbalance)] += waiting;
  }
}

}  // namespace forecast
