// SPDX-License-Identifier: Apache-2.0
// Layers that are to be cut into the virtual stages of a pipeline, in an order of passes; and a
// partition of them.
#pragma once
#include <atomic>
#include <limits>
#include <vector>

#include "search/solvers/interval_frontiers.hpp"
#include "search/solvers/timetable.hpp"

namespace search {

struct PipelineProblem {
  Chain chain;
  strategies::Order order;
  strategies::Layout layout;
  int microbatches = 1;
  Picoseconds latency = 0;          // of a message between two devices
  std::vector<ByteCount> capacity;  // by device; what its layers' fixed bytes, kept bytes of all
                                    // microbatches in flight, and largest transient may use
  std::vector<StageTimes> besides = {};  // by virtual stage: what its passes take besides its
                                         // layers; none: nothing
  DataLane lane = {};
  // The fewest and the most layers that each virtual stage may hold; without a range, one at least.
  struct LayerRange {
    int least = 1, most = std::numeric_limits<int>::max();
    bool takes(int layers) const { return layers >= least && layers <= most; }
  };
  std::vector<LayerRange> ranges = {};
  // A simulation tells alike layers of a virtual stage apart by what their neighbours do, as where
  // rows of layers run again together. Prices here are the same in any order.
  bool neighbours_matter = false;
  const std::atomic<bool>* stop = nullptr;  // once it is set, what takes long throws Stopped
};

struct Partition {
  std::vector<int> first_layer;              // by virtual stage, then the number of layers
  std::vector<std::vector<Choice>> choices;  // by virtual stage, first layer to last
  std::vector<StageTimes> stages;            // by virtual stage
  Picoseconds makespan = 0;
};

}  // namespace search
