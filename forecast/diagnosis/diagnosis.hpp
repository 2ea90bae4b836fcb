// SPDX-License-Identifier: Apache-2.0
// Reasons why a real run was slower than its forecast, from traces of its ranks, ranked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/kernel_class.hpp"
#include "forecast/profile.hpp"
#include "forecast/rank_times.hpp"
#include "forecast/scenario.hpp"

namespace forecast {

// The kinds of cause that may have made a step longer.
//   straggler         kernels of some ranks took longer than the same kernels of the others
//   late_rank         GPUs of some ranks idled while others waited for them
//   unseen_rank       traced ranks waited unevenly for ranks that are not traced
//   stall             few transfers among many alike lost time, once all ranks had come
//   slow_link         communication took longer than forecast, waiting for others left out
//   host_bound        GPUs idled between kernels, on all ranks
//   no_overlap        communication that the forecast hides was waited for
//   slow_kernels      kernels of one class took longer than forecast, on all ranks
//   low_clock         kernels of all classes took longer by one factor, on all ranks
//   data_loading      GPUs idled at the beginning of the step
//   stage_imbalance   a pipeline stage ran more layers than forecast
//   expert_imbalance  experts of some ranks computed more than those of the others
//   recomputation     more passes forward than the scenario says
//   copies            copies from or to the host that nothing hid
enum class Cause : std::uint8_t {
  straggler,
  late_rank,
  unseen_rank,
  stall,
  slow_link,
  host_bound,
  no_overlap,
  slow_kernels,
  low_clock,
  data_loading,
  stage_imbalance,
  expert_imbalance,
  recomputation,
  copies
};
std::string_view to_text(Cause cause);  // "slow link"

struct Suspect {
  Cause cause{};
  units::Seconds seconds;  // time by which the step would be shorter without it
  double factor = 1;       // seen over expected time
  units::Seconds seen, expected;
  std::optional<KernelClass> kernels;  // class of its kernels; absent: all
  std::optional<StepPart> part;        // communication of which sort
  std::vector<std::int64_t> ranks;     // ascending; empty: all
  int stage = -1;
  std::int64_t stalled = 0, transfers = 0;  // of a stall: transfers that did, and all
  std::string set;  // "path.to.key=value" that asks the forecast what this does; empty: none can
};

// A property in which the traced run differs from the scenario.
struct Mismatch {
  std::string what, trace, scenario;  // "GPUs", "8", "64"
};

struct Diagnosis {
  std::string step;  // name of the diagnosed step
  units::Seconds measured, forecast;
  std::vector<std::int64_t> ranks;   // traced, ascending
  std::int64_t gpus = 0;             // GPUs of the scenario
  std::vector<Mismatch> mismatches;  // if there are any, nothing is compared
  std::vector<Suspect> suspects;     // the most seconds first
  units::Seconds unexplained;        // measured - forecast - all of them
};

// Refuses the profile of this index.
struct NothingSeen : std::invalid_argument {
  NothingSeen(std::size_t index, const std::string& why)
      : std::invalid_argument(why), profile(index) {}
  std::size_t profile;
};

// Differences between the profiles and this scenario: GPUs, ranks, device, number format, sizes of
// groups, layers.
std::vector<Mismatch> mismatches_of(const std::vector<Profile>& profiles, const Scenario& scenario,
                                    const std::vector<RankTimes>& expected);

// Diagnoses a run. Profiles are of different ranks of one run, `forecast` is the scenario's. Clocks
// of ranks need not be set alike. The chain of work that the step waited for is followed from its
// end through all ranks that are traced; time on it beyond that of the forecast and of the other
// ranks is a suspect. Suspects below 1 % of the step are left out. Seconds that two causes share
// are counted once: the suspects sum to at most the excess of the step over the forecast. Throws
// std::invalid_argument where a profile has no work, as rank_times() does.
Diagnosis diagnose(const std::vector<Profile>& profiles, const Scenario& scenario,
                   const Forecast& forecast);

}  // namespace forecast
