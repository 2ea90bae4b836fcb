// SPDX-License-Identifier: Apache-2.0
#include "search/purchase/whole_run.hpp"

#include "search/purchase/machine_prices.hpp"

namespace search {
namespace {

constexpr units::Seconds one_hour{3600};

// The scenario's cluster as the one option of a purchase for its training.
Purchase purchase_of(const forecast::Scenario& scenario, const std::optional<QuotedPrice>& price) {
  Workload workload{.name = scenario.model.name};
  workload.tokens = *scenario.training.tokens;
  PurchaseOption option;
  option.name = scenario.cluster.node.name;
  option.questions = {{.scenario = scenario}};
  option.price = price;
  option.power.nameplate = power_per_node(scenario.cluster);
  option.nodes_per_rack = nodes_fed_by_rack(option.power.nameplate);
  return {.name = scenario.name,
          .workloads = {workload},
          .constraints = {},
          .economics = {},
          .reliability = {},
          .options = {option}};
}

double gpu_hours(const Assessment& assessment) {
  return static_cast<double>(assessment.gpus) * (assessment.time / one_hour);
}

}  // namespace

std::optional<WholeRun> whole_run(const forecast::Scenario& scenario,
                                  const forecast::Forecast& forecast,
                                  const std::optional<QuotedPrice>& price) {
  if (!scenario.training.tokens || !(forecast.step.time.value > 0)) return {};
  auto purchase = purchase_of(scenario, price);
  const std::vector<Planned> plans{{.scenario = scenario, .forecast = forecast}};
  WholeRun run;
  run.tokens = *scenario.training.tokens;
  run.calm = assess(purchase, purchase.options.front(), plans);
  run.steps = run.calm.time / forecast.step.time;
  purchase.reliability = published_failures();
  run.failing = assess(purchase, purchase.options.front(), plans);
  run.gpu_hours = gpu_hours(run.calm);
  run.gpu_hours_failing = gpu_hours(run.failing);
  run.price = price;
  run.power_known = purchase.options.front().power.nameplate.value > 0;
  run.lifetime = purchase.economics.lifetime;
  return run;
}

}  // namespace search
