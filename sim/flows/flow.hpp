// SPDX-License-Identifier: Apache-2.0
// Names of flows, of their paths and of the paths' links.
#pragma once
#include <cstdint>
#include <limits>

namespace sim {

using Ticks = std::int64_t;  // of a network's time

// A link of a path, and how often each flow on the path loads it (a class of symmetric flows that
// is simulated on one of many equal links loads that link several times).
struct LinkUse {
  std::uint32_t link = 0;
  std::uint32_t times = 1;
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

enum class PathId : std::uint32_t {};
enum class FlowId : std::uint32_t {};  // in order of start

inline constexpr double uncapped = std::numeric_limits<double>::infinity();

}  // namespace sim
