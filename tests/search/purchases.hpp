// SPDX-License-Identifier: Apache-2.0
// Purchases of round numbers: steps of ten seconds, nodes of 90,000.
#pragma once
#include <utility>
#include <vector>

#include "search/purchase/purchase.hpp"
#include "tests/forecast/small_llama.hpp"

namespace tests {

using namespace search;
using units::Money;
using units::Seconds;

inline constexpr double day = 86400, year = 365 * day;

// A plan with steps of 100 sequences of 1,000 tokens, during half of which GPUs compute: 10,000
// tokens/s if a step takes 10 s.
inline Planned plan_of(const Question& question, double seconds = 10) {
  Planned plan{question.scenario, {}};
  auto& step = plan.forecast.step;
  step.time = step.time_low = step.time_high = {seconds};
  plan.forecast.time[forecast::StepPart::compute] = {seconds / 2};
  return plan;
}

inline Question question(int nodes) {
  Question question{.scenario = tests::small_llama()};
  auto& scenario = question.scenario;
  scenario.cluster = tests::cluster_of(nodes * 8, 8, 8);
  scenario.cluster.node.nics.count = 8;
  scenario.cluster.fabric.switch_power = {};
  scenario.training.sequence_length = 1000;
  scenario.training.global_batch = 100;
  return question;
}

// An option of nodes that cost 90,000 and 10,000 for their network, and draw 10 kW each.
inline PurchaseOption bought(int nodes = 10) {
  PurchaseOption option{.name = "bought", .questions = {question(nodes)}};
  option.price = QuotedPrice{.node = {90e3}, .network_per_node = {10e3}};
  option.power.nameplate = {10e3};
  return option;
}

inline PurchaseOption rented(double per_gpu_hour, int nodes = 10) {
  auto option = bought(nodes);
  option.name = "rented";
  option.price = {};
  option.rent = Rent{.per_gpu_hour = {per_gpu_hour}};
  return option;
}

// A purchase for a training of 86.4 billion tokens: 100 days at 10,000 tokens/s.
inline Purchase purchase(std::vector<PurchaseOption> options = {bought()}) {
  Purchase purchase;
  purchase.workloads = {{.name = "toy", .tokens = 10'000 * 100 * day}};
  purchase.economics.electricity = Money{0.36} / units::Joules{3.6e6};  // 1e-7 a joule
  purchase.options = std::move(options);
  return purchase;
}

inline Assessment assessed(const Purchase& purchase, double seconds = 10, std::size_t option = 0) {
  const auto& of = purchase.options[option];
  return assess(purchase, of, {plan_of(of.questions.front(), seconds)});
}

inline double days(Seconds time) { return time.value / day; }

}  // namespace tests
