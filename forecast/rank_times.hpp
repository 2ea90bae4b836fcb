// SPDX-License-Identifier: Apache-2.0
// The forecast work of each rank in a step, in the words of a profiler's trace.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "forecast/kernel_class.hpp"
#include "forecast/scenario.hpp"
#include "forecast/step_parts.hpp"
#include "sim/program.hpp"
#include "strategies/costs.hpp"
#include "units/quantity.hpp"

namespace forecast {

enum class KernelPhase : std::uint8_t { forward, backward, recompute, update };
inline constexpr std::size_t kernel_phases = 4;

using ClassTimes = std::array<units::Seconds, kernel_classes>;

// The times of one rank of a class whose ranks do the same work.
struct RankTimes {
  int stage = 0;
  std::int64_t rank = 0;   // the lowest of its class
  std::int64_t alike = 1;  // ranks
  std::int64_t layers = 0;
  std::array<ClassTimes, kernel_phases> computing{};  // kernels' own time, by phase and class
  TimeParts exposed;        // its step, as Forecast::time has that of the rank that ends last
  TimeParts communicating;  // times of messages and collectives, hidden or not

  units::Seconds computed(KernelClass of) const {
    units::Seconds sum;
    for (const auto& phase : computing) sum += phase[static_cast<std::size_t>(of)];
    return sum;
  }
  units::Seconds computed(KernelPhase in) const {
    units::Seconds sum;
    for (const auto time : computing[static_cast<std::size_t>(in)]) sum += time;
    return sum;
  }
};

// Returns the class of a kernel; absent if the step of a pass communicates or waits. `asked`: the
// priced question; null if it has none.
std::optional<KernelClass> class_of(const sim::Step& step, const strategies::CostQuery* asked);

// Returns the index in `expected` of the class that stands for this rank: the last class of its
// stage whose lowest rank is not above it.
std::size_t rank_like(std::int64_t rank, const Scenario& scenario,
                      const std::vector<RankTimes>& expected);

// Returns the times of each class of ranks that are alike, by stage. Throws as simulate().
std::vector<RankTimes> rank_times(const Scenario& scenario);

}  // namespace forecast
