// SPDX-License-Identifier: Apache-2.0
// Private to the sub-room: seconds of the work that ranks did in a step, and of the work expected
// of them.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "forecast/diagnosis/blame.hpp"
#include "forecast/diagnosis/seen_step.hpp"

namespace forecast {

using BySort = std::array<double, kernel_classes>;
using ByPart = std::array<double, step_parts.size()>;

// Transfers that lost time once, of many alike.
struct Stalls {
  double seconds = 0;              // lost in all
  double longest = 0, usual = 0;   // seconds of the longest, and of the others like it
  std::int64_t count = 0, of = 0;  // stalled, and all
};

struct SeenSums {
  BySort computing{}, expected{};
  ByPart transfers{}, awaited{}, forecast_transfers{};  // awaited: of ranks that are not traced
  std::array<Stalls, step_parts.size()> stalls{};       // not in transfers
  double before_first = 0, idle = 0;                    // idle: in all
  std::int64_t forward = 0, backward = 0;               // kernels of attention
  std::int64_t layers = 0, stage = 0, rank = 0;
  BySort forward_expected{};  // part of `expected` in forward passes
  ByPart exposed{};           // communication with nothing beside it, waits included
  // Seconds of the forecast. expected_busy: all but bubble and messages; expected_passes: forward
  // and backward passes.
  double bubble = 0, expected_busy = 0, expected_passes = 0;
  double attention_again = 0;  // expected: share of attention's forward kernels that run again
};

// Returns the sums by rank of the step.
std::vector<SeenSums> sums_of(const SeenStep& step, const std::vector<RankTimes>& expected);

// Whether some message of the pipeline is seen on one side only.
bool waits_for_messages_unseen(const SeenStep& step);

// If messages are seen on one side only, a rank's wait for another stage is time in which untraced
// stages computed. As much of it as the forecast's bubble, at the pace of the rank itself, becomes
// computation of the chain; the rest becomes `awaited`.
void follow_unseen_stages(const SeenStep& step, std::vector<SeenSums>& sums,
                          std::vector<OnChain>& chain);

// Returns the value that a quarter of the values do not exceed; values must not be empty.
double lower_quartile(std::vector<double> values);

}  // namespace forecast
