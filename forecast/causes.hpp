// SPDX-License-Identifier: Apache-2.0
// Private to the room: why ranks were idle (idle.hpp has the definitions).
#pragma once
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/timeline.hpp"
#include "sim/measures.hpp"

namespace forecast {

// A run whose waits are to be explained. `slice_of` as Drawn has it; null: nothing is drawn.
struct Played {
  const sim::Program& program;
  const std::vector<strategies::ActorFacts>& actors;
  const sim::Trace& trace;
  const sim::Waits& waits;
  sim::Period period = sim::Period::makespan;
  std::size_t stages = 1;
  bool chunks = false;  // names say which
  const std::vector<std::size_t>* slice_of = nullptr;
};

// The idle intervals of every stage's lowest rank, by (stage, start). Chains only for intervals
// that are drawn. O(events + length of the chains).
std::vector<Idle> idle_of(const Played& played);

// The critical path of the actors that are drawn, from the step's begin.
std::vector<Awaited> critical_path_of(const Played& played);

}  // namespace forecast
