// SPDX-License-Identifier: Apache-2.0
#include "sim/play.hpp"

namespace sim {

LaneTimes lanes_from(Picoseconds compute, Picoseconds host) {
  LaneTimes free;
  free.fill(never);
  free[static_cast<std::size_t>(Lane::compute)] = compute;
  free[static_cast<std::size_t>(Lane::host)] = host;
  return free;
}

LaneTimes after(const Template& body, LaneTimes free) {
  std::vector<Picoseconds> ends;
  const std::array lanes_of{&free};
  drain(body, free, never);
  play([&](std::size_t) { return std::span<const Step>{body.steps}; }, lanes_of, std::array{never},
       ends, [](auto...) {});
  return free;
}

Picoseconds on_compute_lane(const Template& body) {
  const auto free = after(body, lanes_from(0));
  return std::max<Picoseconds>(0, free[static_cast<std::size_t>(Lane::compute)]);
}

}  // namespace sim
