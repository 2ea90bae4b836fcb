// SPDX-License-Identifier: Apache-2.0
// Step-by-step playing of a pass (included by engine.hpp).
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "sim/program.hpp"

namespace sim {

template <class Seen>
void play(const Template& body, std::span<LaneTimes* const> lanes_of,
          std::span<const Picoseconds> arrivals, std::vector<Picoseconds>& ends, Seen seen) {
  const auto actors = lanes_of.size();
  const auto at = [](Lane lane) { return static_cast<std::size_t>(lane); };
  ends.resize(body.steps.size() * actors);
  if (body.drains)
    for (std::size_t a = 0; a < actors; ++a) {
      auto& free = *lanes_of[a];
      free[at(Lane::host)] = std::max(
          {free[at(Lane::host)], free[at(Lane::compute)], free[at(Lane::tensor)], arrivals[a]});
    }
  for (std::size_t s = 0; s < body.steps.size(); ++s) {
    const auto& step = body.steps[s];
    const auto ready = [&](std::size_t a) {
      auto& free = *lanes_of[a];
      auto start = std::max(free[at(Lane::host)] += step.issue, free[at(step.lane)]);
      if (s == 0) start = std::max(start, arrivals[a]);
      if (step.joins >= 0)
        start = std::max(start, ends[static_cast<std::size_t>(step.joins) * actors + a]);
      return start;
    };
    const auto settle = [&](std::size_t a, Picoseconds start) {
      const auto end = start + step.duration;
      (*lanes_of[a])[at(step.lane)] = end;
      ends[s * actors + a] = end;
      seen(a, s, start, end);
    };
    if (step.rendezvous) {
      Picoseconds start = 0;
      for (std::size_t a = 0; a < actors; ++a) start = std::max(start, ready(a));
      for (std::size_t a = 0; a < actors; ++a) settle(a, start);
    } else {
      for (std::size_t a = 0; a < actors; ++a) settle(a, ready(a));
    }
  }
}

}  // namespace sim
