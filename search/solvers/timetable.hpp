// SPDX-License-Identifier: Apache-2.0
// The exact time of a pipeline's fixed order: the longest path through its passes.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "plans/schedules/order.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "sim/program.hpp"
#include "units/quantity.hpp"

namespace search {

using sim::Picoseconds;

inline Picoseconds ticks(units::Seconds time) {
  return static_cast<Picoseconds>(std::llround(time.value * 1e12));
}

// A lower bound in whole ticks. A step of more than 46 days has 46 days as its bound, so that sums
// of bounds stay inside 64 bits; no search looks at plans that take more than 26.
inline Picoseconds whole_bound(double ticks) {
  return static_cast<Picoseconds>(std::min(ticks, 4e18));
}

// The parts of a virtual stage's work: the time of each, or how often a path passes through it. A
// fused backward pass is `backward` and `weight` together.
template <class T>
struct Parts {
  T forward{}, backward{}, weight{};  // passes of one microbatch
  T messages{};                       // between the virtual stage and the one before
  // Communication with replicas, if passes have any (DataLane): of gradients, and of parameters;
  // the time from the start of a backward pass until the first gradients can leave, and from its
  // end until the last ones have; and the times by which passes beside such communication are
  // longer.
  T reduction{}, gathering{}, first_unit{}, last_unit{}, slowed_forward{}, slowed_backward{};
  T update{};  // after the gradients of all devices are reduced
  // The time by which a backward pass is longer right behind a forward pass, with whose message it
  // shares links.
  T message_contention{};
  friend auto operator<=>(const Parts&, const Parts&) = default;

  static constexpr std::array<T Parts::*, 12> all() {
    return {&Parts::forward,         &Parts::backward,  &Parts::weight,
            &Parts::messages,        &Parts::reduction, &Parts::gathering,
            &Parts::first_unit,      &Parts::last_unit, &Parts::slowed_forward,
            &Parts::slowed_backward, &Parts::update,    &Parts::message_contention};
  }
};

// `messages` has no time of its own; all messages take the pipeline's latency.
using StageTimes = Parts<Picoseconds>;
using Visits = Parts<int>;
inline Picoseconds total(const StageTimes& times) {
  return times.forward + times.backward + times.weight;
}

// The time of all visits to a virtual stage.
inline Picoseconds time_of(const Visits& n, const StageTimes& t, Picoseconds latency) {
  return n.forward * t.forward + n.backward * t.backward + n.weight * t.weight +
         n.messages * latency + n.reduction * t.reduction + n.gathering * t.gathering +
         n.first_unit * t.first_unit + n.last_unit * t.last_unit +
         n.slowed_forward * t.slowed_forward + n.slowed_backward * t.slowed_backward +
         n.update * t.update + n.message_contention * t.message_contention;
}

// A path through a schedule: its visits to each virtual stage. Whatever the times of the stages,
// the step takes at least the length of the path.
using Path = std::vector<Visits>;

Picoseconds length(const Path& path, std::span<const StageTimes> stages, Picoseconds latency);

// The passes that communicate with the replicas of their device, on a lane of its own, in the order
// of the passes.
struct DataLane {
  using When = strategies::When;  // with the last or first pass of a virtual stage, or all
  When reduces = When::never;     // gradients of weights
  bool beside = true;             // beside the pass; otherwise behind it, and the device waits
  When gathers = When::never;     // parameters, before a forward pass is over
  bool gathers_again = false;     // before a backward pass is over
  bool message_contends =
      false;  // links that messages between stages use too (Parts::message_contention)
  friend bool operator==(const DataLane&, const DataLane&) = default;
};

// The passes of an order and what each waits for: the pass before it on its device, and the
// neighbours of its virtual stage, whose messages take `latency` between devices. As
// strategies::run_pipeline, for any times. Throws std::invalid_argument if the order waits for
// itself for ever.
class Timetable {
 public:
  Timetable(const strategies::Order& order, const strategies::Layout& layout, int microbatches,
            Picoseconds latency, const DataLane& lane = {});

  int virtual_stages() const { return virtual_stages_; }
  std::size_t passes() const { return passes_.size(); }

  // First start to last end, over all devices. O(passes)
  Picoseconds makespan(std::span<const StageTimes> stages) const;
  // A longest path; the one that stays on its device among equals.
  Path critical_path(std::span<const StageTimes> stages) const;
  // Paths that bound the step from below for any times, chosen to be long for the given ones. There
  // are three through every device: along all its passes; along them until its last forward pass;
  // from its first backward pass on. The passes before and after them are on a longest way in and
  // out.
  std::vector<Path> device_paths(std::span<const StageTimes> stages) const;

 private:
  using Index = std::uint32_t;
  static constexpr Index none = ~Index{0};
  // The kind of a node of the graph: a pass of a virtual stage (as strategies::Pass), or
  // communication.
  enum Kind : std::uint32_t {
    reduction = 4,
    gathering,
    first_unit,
    last_unit,
    slowed_forward,
    slowed_backward,
    message_contention,
    kinds
  };
  // A node: the passes that it waits for, its duration (see Durations), and a second one for pairs.
  struct Pass {
    Index device_before = none;
    Index arrival = none, second_arrival = none;
    Index gathered = none;                  // it does not end before this
    Picoseconds wait = 0, second_wait = 0;  // latency of the arrivals
    std::uint32_t part = 0, second_part = 0;
  };
  // Durations of nodes, by kinds · virtual stage + Kind; a zero at the end for nodes without a
  // second part.
  using Durations = std::vector<Picoseconds>;

  struct Builder;
  Durations durations(std::span<const StageTimes> stages) const;
  std::vector<Picoseconds> ends(const Durations& durations) const;
  // The time from the start of each pass to the end of the step, and the pass that follows on that
  // way.
  struct Remaining {
    std::vector<Picoseconds> time;
    std::vector<Index> next;
  };
  Remaining remaining(const Durations& durations) const;
  Index latest_before(Index pass, const std::vector<Picoseconds>& ends) const;
  Index last_of(Index pass, const std::vector<Picoseconds>& ends, const Durations& durations) const;
  void visit(Path& path, Index pass) const;
  void travel(Path& path, Index from, Index to) const;
  // The device whose stages take longest to update; and the time that they take.
  std::size_t last_to_update(std::span<const StageTimes> stages) const;
  Picoseconds update(std::span<const StageTimes> stages, std::size_t device) const;
  void visit_update(Path& path, std::size_t device) const;

  int virtual_stages_;
  Picoseconds latency_;
  std::vector<Pass> passes_;                 // in an order in which they can run
  std::vector<std::vector<Index>> devices_;  // passes of each device, in its order
  std::vector<std::vector<int>> stages_of_;  // virtual stages of each device
};

}  // namespace search
