// SPDX-License-Identifier: Apache-2.0
// The best order of a small pipeline with split backward passes.
#pragma once
#include <optional>
#include <vector>

#include "search/solvers/timetable.hpp"

namespace search {

// A pipeline with one chunk per stage, at most 15 microbatches and 5 stages.
struct SmallPipeline {
  std::vector<StageTimes> stages;
  int microbatches = 1;
  Picoseconds latency = 0;   // of a message between neighbours
  std::optional<int> limit;  // microbatches that a stage may hold, from the start of their forward
                             // pass to the end of their weight pass
};

struct OptimalOrder {
  Picoseconds makespan = 0;  // first start to last end over all stages
  strategies::Order order;
};

// The order with the least makespan of all orders of forward, backward_input and backward_weight
// passes. Labels, per numbers of passes done, are the times at which stages are ready and messages
// arrive; a label is dropped where another is no later in anything, or where its remaining passes
// cannot beat the best known. Exponential: 4 stages of 4 microbatches make some 10⁵ labels. Nothing
// if more than `most_labels` would be needed. Throws std::invalid_argument beyond the sizes above,
// or for a limit below 1.
std::optional<OptimalOrder> optimal_order(const SmallPipeline& pipeline,
                                          std::size_t most_labels = 5'000'000);

}  // namespace search
