// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/similarity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "forecast/accuracy/intervals.hpp"

namespace forecast {
namespace {

// Returns the kind of recomputation of the plan; "mixed" if stages or layers differ.
std::string recompute_of(const strategies::Plan& plan) {
  if (!plan.recompute_of_stage.empty() || !plan.layers.empty()) return "mixed";
  using Kind = strategies::Recompute::Kind;
  switch (plan.recompute.kind) {
    case Kind::none:
      return "none";
    case Kind::full:
      return "full";
    case Kind::full_layers:
      return "some layers";
    case Kind::selective:
    case Kind::per_op:
    case Kind::modules:
      break;
  }
  return "selective";
}

double doublings(double number) { return std::log2(std::max(1.0, number)); }
double doublings(std::int64_t number) { return doublings(static_cast<double>(number)); }

}  // namespace

Setting setting_of(const Scenario& scenario, const Forecast& forecast) {
  const auto& model = scenario.model;
  const auto& cluster = scenario.cluster;
  const auto& plan = scenario.plan;
  const auto run = circumstances_of(scenario, forecast);
  const bool alone = cluster.nodes() < 2;
  Setting setting;
  setting.words = {run.device,
                   alone ? "one node" : cluster.fabric.name,
                   scenario.software.name,
                   run.regime[4],
                   run.regime[3],
                   model.moe ? "experts" : "dense",
                   recompute_of(plan),
                   std::to_string(plan.zero),
                   plan.offload == strategies::Offload{} ? "none" : "some"};
  setting.numbers = {doublings(cluster.gpus),
                     doublings(model::parameters(model)),
                     doublings(scenario.training.sequence_length),
                     doublings(plan.tensor),
                     doublings(plan.pipeline),
                     doublings(plan.context),
                     doublings(plan.micro_batch),
                     doublings(forecast.step.microbatches)};
  setting.simulated = forecast.step.time;
  return setting;
}

bool same(const Setting& a, const Setting& b) {
  return a.simulated == b.simulated && a.words == b.words && a.numbers == b.numbers;
}

double distance(const Setting& a, const Setting& b, const Similarity& similarity) {
  double sum = 0;
  for (std::size_t i = 0; i < a.words.size(); ++i)
    if (a.words[i] != b.words[i]) sum += similarity.difference[i];
  for (std::size_t i = 0; i < a.numbers.size(); ++i)
    sum += similarity.doubling[i] * std::abs(a.numbers[i] - b.numbers[i]);
  return sum;
}

double correlation(const Setting& a, const Setting& b, const Similarity& similarity) {
  return same(a, b) ? 1 : (1 - similarity.own) * std::exp(-distance(a, b, similarity));
}

}  // namespace forecast
