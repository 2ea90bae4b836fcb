// SPDX-License-Identifier: Apache-2.0
// How long a pipeline's fixed order takes, exactly: the longest path through its passes.
#pragma once
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/program.hpp"
#include "strategies/schedule.hpp"

namespace search {

using sim::Picoseconds;

// One virtual stage, one microbatch. A backward pass that is not split takes backward + weight.
struct StageTimes {
  Picoseconds forward = 0, backward = 0, weight = 0;
  friend bool operator==(const StageTimes&, const StageTimes&) = default;
};
inline Picoseconds total(const StageTimes& times) {
  return times.forward + times.backward + times.weight;
}

// How often a path passes through a virtual stage: its passes, and the messages between it and the
// virtual stage before.
struct Visits {
  int forward = 0, backward = 0, weight = 0, messages = 0;
  friend auto operator<=>(const Visits&, const Visits&) = default;

  Picoseconds time(const StageTimes& stage, Picoseconds latency) const {
    return forward * stage.forward + backward * stage.backward + weight * stage.weight +
           messages * latency;
  }
};

// A path through a schedule, by virtual stage: whatever the stages' times, the step takes at least
// its length.
using Path = std::vector<Visits>;

Picoseconds length(const Path& path, std::span<const StageTimes> stages, Picoseconds latency);

// The passes of an order and what each waits for: the pass before it on its device, and the
// neighbours of its virtual stage, whose messages take `latency` between devices. As
// strategies::run_pipeline, for any times. Throws std::invalid_argument if the order waits for
// itself for ever.
class Timetable {
 public:
  Timetable(const strategies::Order& order, const strategies::Layout& layout, int microbatches,
            Picoseconds latency);

  int virtual_stages() const { return virtual_stages_; }
  std::size_t passes() const { return passes_.size(); }

  // First start to last end, over all devices. O(passes)
  Picoseconds makespan(std::span<const StageTimes> stages) const;
  // A longest path; of equal ones, that which stays on its device.
  Path critical_path(std::span<const StageTimes> stages) const;
  // Paths that bound the step from below for any times, chosen to be long for the given ones.
  // Through every device three: along all its passes; along them until its last forward pass; from
  // its first backward pass on. What comes before and after is a longest way in and out.
  std::vector<Path> device_paths(std::span<const StageTimes> stages) const;

 private:
  using Index = std::uint32_t;
  static constexpr Index none = ~Index{0};
  // Beside what it waits for: which duration (see Durations) it takes, and a second one for pairs.
  struct Pass {
    Index device_before = none;
    Index arrival = none, second_arrival = none;
    Picoseconds wait = 0, second_wait = 0;  // latency of the arrivals
    std::uint32_t part = 0, second_part = 0;
  };
  // By 4 · virtual stage + strategies::Pass; a zero at the end for what has no second part.
  using Durations = std::vector<Picoseconds>;

  struct Builder;
  Durations durations(std::span<const StageTimes> stages) const;
  std::vector<Picoseconds> ends(const Durations& durations) const;
  // From the start of each pass to the end of the step, and the pass that follows on that way.
  struct Remaining {
    std::vector<Picoseconds> time;
    std::vector<Index> next;
  };
  Remaining remaining(const Durations& durations) const;
  Index latest_before(Index pass, const std::vector<Picoseconds>& ends) const;
  void visit(Path& path, Index pass) const;
  void travel(Path& path, Index from, Index to) const;

  int virtual_stages_;
  Picoseconds latency_;
  std::vector<Pass> passes_;                 // in an order in which they can run
  std::vector<std::vector<Index>> devices_;  // passes of each device, in its order
};

}  // namespace search
