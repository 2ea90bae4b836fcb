// SPDX-License-Identifier: Apache-2.0
// Partitions by the closed forms of the literature: quick, and no bound on what a schedule takes.
#pragma once
#include <optional>
#include <vector>

#include "search/solvers/frontier.hpp"

namespace oracle {

using search::ByteCount;
using search::Picoseconds;

struct TimedLayer {
  Picoseconds time = 0;  // forward and backward of one microbatch
  ByteCount fixed = 0, kept = 0;
  Picoseconds cut = 0;  // sending what comes out of it, where a stage ends behind it
};

// Stage s of p holds min(m, p − s) microbatches, as 1F1B does.
struct TimedPipeline {
  std::vector<TimedLayer> layers;
  int stages = 1, microbatches = 1;
  std::optional<ByteCount> capacity;  // of a stage; absent: memory does not matter
};

// The least time of the slowest stage, messages left out (PipeDream's objective without replicas);
// none fits: none. O(stages · layers²)
std::optional<Picoseconds> least_bottleneck(const TimedPipeline& pipeline);

// The least sum + (m − 1) · largest, over stages, of time + 2 · cut behind it (Alpa's objective).
// O(stages · layers² · labels)
std::optional<Picoseconds> least_latency(const TimedPipeline& pipeline);

}  // namespace oracle
