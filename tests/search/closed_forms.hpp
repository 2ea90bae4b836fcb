// SPDX-License-Identifier: Apache-2.0
// Partitions by the closed forms of the literature: quick to find, and no bound on the time of a
// schedule.
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
  Picoseconds cut = 0;  // sending the layer's output, where a stage ends behind it
};

// A pipeline whose stage s of p holds min(m, p − s) microbatches, as in 1F1B.
struct TimedPipeline {
  std::vector<TimedLayer> layers;
  int stages = 1, microbatches = 1;
  std::optional<ByteCount> capacity;  // of a stage; absent: memory does not matter
};

// The least time of the slowest stage, without messages (PipeDream's objective without replicas);
// nothing if no partition fits. O(stages · layers²)
std::optional<Picoseconds> least_bottleneck(const TimedPipeline& pipeline);

// The least sum, over stages, of time + 2 · the cut behind, plus (m − 1) · the largest of these
// (Alpa's objective). O(stages · layers² · labels)
std::optional<Picoseconds> least_latency(const TimedPipeline& pipeline);

}  // namespace oracle
