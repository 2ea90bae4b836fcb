// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "forecast/diagnosis/diagnosis.hpp"
#include "forecast/diagnosis/weigh.hpp"

namespace forecast {

namespace {

// Scales the suspects down so that they sum to at most `excess`, the time by which the step exceeds
// its forecast.
void share_excess(std::vector<Suspect>& suspects, double excess) {
  double sum = 0;
  for (const auto& suspect : suspects) sum += suspect.seconds.value;
  if (!(sum > excess)) return;
  for (auto& suspect : suspects) suspect.seconds = suspect.seconds * std::max(0.0, excess / sum);
}

std::vector<Suspect> suspects_of(const Observed& evidence) {
  std::vector<Suspect> suspects;
  const auto work = work_of(evidence);
  add_kernel_suspects(evidence, work, suspects);
  add_communication_suspects(evidence, work, suspects);
  add_idle_suspects(evidence, suspects);
  std::erase_if(suspects, [](const Suspect& one) { return !(one.seconds.value > 0); });
  share_excess(suspects, evidence.length - evidence.forecast.step.time.value);
  std::erase_if(suspects, [&](const Suspect& one) {
    return one.seconds.value < least_share * evidence.length;
  });
  std::ranges::stable_sort(suspects, std::ranges::greater(), &Suspect::seconds);
  for (auto& suspect : suspects) suspect.set = set_of(suspect, evidence.scenario);
  return suspects;
}

}  // namespace

std::string_view to_text(Cause cause) {
  constexpr std::array<std::string_view, 14> texts{
      "straggler",     "late rank",    "rank not traced", "stall",
      "slow link",     "host",         "no overlap",      "slow kernels",
      "low clock",     "data loading", "stage imbalance", "expert imbalance",
      "recomputation", "copies"};
  return texts[static_cast<std::size_t>(cause)];
}

Diagnosis diagnose(const std::vector<Profile>& profiles, const Scenario& scenario,
                   const Forecast& forecast) {
  const auto expected = rank_times(scenario);
  const auto step = see_step(profiles, scenario, expected);
  Diagnosis diagnosis{.step = step.name,
                      .measured = step.time,
                      .forecast = forecast.step.time,
                      .gpus = scenario.cluster.gpus,
                      .mismatches = mismatches_in(step, profiles, scenario, expected)};
  for (const auto& rank : step.ranks) diagnosis.ranks.push_back(rank.rank);
  if (!diagnosis.mismatches.empty()) return diagnosis;
  auto sums = sums_of(step, expected);
  auto chain = chain_of(step);
  follow_unseen_stages(step, sums, chain);
  Observed evidence{.step = step,
                    .sums = sums,
                    .chain = chain,
                    .scenario = scenario,
                    .forecast = forecast,
                    .length = step.time.value};
  for (const auto& part : forecast.critical_path)
    evidence.expected_chain[static_cast<std::size_t>(part.part)] = part.time.value;
  diagnosis.suspects = suspects_of(evidence);
  diagnosis.unexplained = diagnosis.measured - diagnosis.forecast;
  for (const auto& suspect : diagnosis.suspects) diagnosis.unexplained -= suspect.seconds;
  constexpr double rounding = 1e-9;
  if (std::abs(diagnosis.unexplained.value) < rounding * evidence.length)
    diagnosis.unexplained = {};
  return diagnosis;
}

}  // namespace forecast
