// SPDX-License-Identifier: Apache-2.0
// Private to the room: one stage's memory over time, by kind.
#pragma once
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/late_gradients.hpp"

namespace forecast {

// The memory of one rank over time. Its passes are added in the program's order, in which they
// allocate.
class MemorySamples {
 public:
  // `late`: gradients are told with the passes; otherwise they are there all the time.
  MemorySamples(int stage, const StageMemory& memory, bool late)
      : stage_(stage), memory_(memory), late_(late) {}

  // `slice`: the bar of the pass. `beside` has no gradients if they are there all the time.
  void pass(const PassBeside& beside, bool updates, sim::Picoseconds start, sim::Picoseconds end,
            std::size_t slice);
  // The samples, sorted by time. StageMemory::buffers are there all the time. If the peak is above
  // the most of the passes, it is shown from the end of the last pass to the optimizer's begin:
  // copies of gradients on their way, which show only if they make the peak.
  std::vector<MemorySample> take();

 private:
  void at(sim::Picoseconds when, std::int64_t kept, std::int64_t temporary, std::int64_t gradients,
          std::size_t slice);

  int stage_;
  const StageMemory& memory_;
  bool late_;
  std::vector<MemorySample> samples_;
  std::int64_t held_ = 0, gradients_ = 0;  // after the passes so far
  std::int64_t peak_ = 0;
  std::size_t last_pass_ = no_slice;  // before the optimizer's
  sim::Picoseconds passes_end_ = 0, updates_begin_ = -1;
};

}  // namespace forecast
