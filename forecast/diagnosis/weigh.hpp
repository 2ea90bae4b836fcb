// SPDX-License-Identifier: Apache-2.0
// Private to the sub-room: functions that each find suspects of one kind in the observed step.
#pragma once
#include <vector>

#include "forecast/diagnosis/diagnosis.hpp"
#include "forecast/diagnosis/sums.hpp"

namespace forecast {

struct Observed {
  const SeenStep& step;
  const std::vector<SeenSums>& sums;  // by rank of the step
  const std::vector<OnChain>& chain;  // the same
  const Scenario& scenario;
  const Forecast& forecast;
  ByPart expected_chain{};  // the forecast's critical path, seconds by part
  double length = 0;        // seconds of the step
};

// The layers and passes that ran, over those that the forecast has, counted by attention's kernels:
// factors on the expected times of kernels.
struct RanPasses {
  double again = 0;             // share of forward passes that ran again and should not have
  bool attention_only = false;  // only the attention core ran again
  std::vector<double> layers;   // by rank: layers over those expected
};
RanPasses work_of(const Observed& evidence);

// Adds recomputation, imbalance, stragglers, clocks and kernels.
void add_kernel_suspects(const Observed& evidence, const RanPasses& work,
                         std::vector<Suspect>& suspects);
// Adds links, overlap and ranks that nobody traced.
void add_communication_suspects(const Observed& evidence, const RanPasses& work,
                                std::vector<Suspect>& suspects);
// Adds late ranks, hosts, data loaders and copies.
void add_idle_suspects(const Observed& evidence, std::vector<Suspect>& suspects);

// Returns mismatches_of() profiles whose step was seen already.
std::vector<Mismatch> mismatches_in(const SeenStep& step, const std::vector<Profile>& profiles,
                                    const Scenario& scenario,
                                    const std::vector<RankTimes>& expected);

// The change of one key that gives the forecast the fault of the suspect; empty if no key does.
std::string set_of(const Suspect& suspect, const Scenario& scenario);

// The least share of the step that makes a suspect.
inline constexpr double least_share = 0.01;

}  // namespace forecast
