// SPDX-License-Identifier: Apache-2.0
// The prices and bounds that a search has of plans of scenarios, and plans inside of them.
#pragma once
#include <algorithm>
#include <random>
#include <vector>

#include "forecast/costs.hpp"
#include "forecast/forecast.hpp"
#include "search/partition_problem.hpp"
#include "search/plan_bounds.hpp"
#include "search/price_cache.hpp"

namespace bounded_plans {

using namespace search;
using strategies::has_fixed_order;

// The scenario whose plan has degrees alone: its layers, partition and recomputation are left open.
inline forecast::Scenario searched(forecast::Scenario scenario) {
  auto& plan = scenario.plan;
  plan.layers_per_stage.clear();
  plan.recompute = {};
  plan.recompute_of_stage.clear();
  plan.layers.clear();
  return scenario;
}

// The bounds of a plan and the prices and costs that they take, from prices that do not depend on
// the plan's pipeline.
class BoundedPlan {
 public:
  explicit BoundedPlan(forecast::Scenario scenario, std::vector<strategies::Recompute> ways = {})
      : scenario_(searched(std::move(scenario))),
        costs_(forecast::costs_on(scenario_.cluster)),
        prices_(layer_prices(scenario_, division(),
                             ways.empty() ? ways_of(scenario_.model) : std::move(ways), costs_)),
        fastest_(prices_),
        replicas_({scenario_.model, scenario_.training, scenario_.plan, scenario_.software,
                   scenario_.cluster},
                  costs_, prices_.whole, prices_.largest),
        bounds_({scenario_, scenario_.plan, prices_}, replicas_),
        fastest_bounds_({scenario_, scenario_.plan, fastest_}, replicas_) {
    keep_fastest_way(fastest_);
  }
  BoundedPlan(const BoundedPlan&) = delete;

  const forecast::Scenario& scenario() const { return scenario_; }
  const strategies::Plan& plan() const { return scenario_.plan; }
  const LayerPrices& prices() const { return prices_; }
  const strategies::ReplicaCosts& replicas() const { return replicas_; }
  // The bounds of the plan if every layer ran in its fastest way.
  const PlanBounds& fastest() const { return fastest_bounds_; }
  const PlanBounds& bounds() const { return bounds_; }
  PipelineProblem problem() const { return pipeline_problem(bounds_, costs_, 0); }

 private:
  // The plan whose layers are priced: it has the degrees that divide layers, and no pipeline,
  // chunks or sharding.
  strategies::Plan division() const {
    auto plan = scenario_.plan;
    plan.data *= plan.pipeline;
    plan.pipeline = 1;
    plan.virtual_stages = 1;
    plan.zero = 0;
    return plan;
  }

  forecast::Scenario scenario_;
  strategies::Costs costs_;
  LayerPrices prices_, fastest_;
  strategies::ReplicaCosts replicas_;
  PlanBounds bounds_, fastest_bounds_;
};

// A partition with a cut and a way for every layer, each as likely as any other.
inline Partition random_partition(const BoundedPlan& bounded, const PipelineProblem& problem,
                                  std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto layers = static_cast<int>(problem.chain.layers.size());
  const int stages = problem.layout.virtual_stages();
  auto cut = cut_of(bounded.bounds());
  if (!is_cut(bounded.bounds()) && problem.ranges.empty()) {
    std::vector<int> inner(static_cast<std::size_t>(layers) - 1);
    for (std::size_t i = 0; i < inner.size(); ++i) inner[i] = static_cast<int>(i) + 1;
    std::ranges::shuffle(inner, random);
    inner.resize(static_cast<std::size_t>(stages) - 1);
    std::ranges::sort(inner);
    cut.assign(1, 0);
    cut.insert(cut.end(), inner.begin(), inner.end());
    cut.push_back(layers);
  }
  Partition result{.first_layer = cut};
  IntervalFrontiers frontiers(problem.chain);
  const bool alike = random() % 2 == 0;
  const auto usual = random();
  for (int v = 0; v < stages; ++v) {
    const auto at = static_cast<std::size_t>(v);
    auto times = frontiers.exchanged(cut[at], cut[at + 1]);
    for (const auto part : StageTimes::all()) times.*part += problem.besides[at].*part;
    auto& choices = result.choices.emplace_back();
    for (int i = cut[at]; i < cut[at + 1]; ++i) {
      const auto& options = problem.chain.layers[static_cast<std::size_t>(i)].options;
      const auto way = alike ? usual % options.size() : below(options.size());
      choices.push_back({1, static_cast<int>(way)});
      const auto& price = problem.chain.layers[static_cast<std::size_t>(i)].price(
          static_cast<int>(way), i + 1 == cut[at + 1]);
      times.forward += price.forward;
      times.backward += price.backward;
      times.weight += price.weight;
    }
    result.stages.push_back(times);
  }
  result.makespan =
      Timetable(problem.order, problem.layout, problem.microbatches, problem.latency, problem.lane)
          .makespan(result.stages);
  return result;
}

using search::ticks;

}  // namespace bounded_plans
