// SPDX-License-Identifier: Apache-2.0
// Private to the room: a pipeline that is played while its order is being decided.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "plans/schedules/order.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "plans/schedules/tournament_tree.hpp"

namespace strategies {

// The input of a search: all times are per chunk, the memory limit is in chunks.
struct LineInput {
  Layout layout;
  int microbatches;
  std::vector<ChunkTimes> times;
  std::int64_t latency;
  int limit;
};

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;

// A neighbour's pass of the same microbatch, and how long its result is on the way.
struct Edge {
  int virtual_stage = -1, stage = 0;  // virtual_stage −1: there is no neighbour
  std::int64_t latency = 0;
};

// The virtual stage of a chunk, and the edges to its neighbours in the model (schedule_layout.hpp).
struct ChunkEdges {
  ChunkEdges(ChunkPlace place, const LineInput& input)
      : virtual_stage(virtual_stage_of(place.stage, place.chunk, input.layout)),
        before(edge(strategies::before(place, input.layout), place.stage, input)),
        behind(edge(strategies::behind(place, input.layout), place.stage, input)) {}
  int virtual_stage;
  Edge before, behind;

 private:
  static Edge edge(const std::optional<ChunkPlace>& to, int stage, const LineInput& input) {
    if (!to) return {};
    return {virtual_stage_of(to->stage, to->chunk, input.layout), to->stage,
            to->stage == stage ? 0 : input.latency};
  }
};

// The edges of every chunk of a line.
class Edges {
 public:
  explicit Edges(const LineInput& input) : chunks_(input.layout.chunks) {
    for (int stage = 0; stage < input.layout.stages; ++stage)
      for (int chunk = 0; chunk < chunks_; ++chunk)
        all_.emplace_back(ChunkPlace{stage, chunk}, input);
  }
  const ChunkEdges& of(int stage, int chunk) const {
    return all_[static_cast<std::size_t>(stage * chunks_ + chunk)];
  }

 private:
  int chunks_;
  std::vector<ChunkEdges> all_;  // by stage, then chunk
};

// The state of all stages. Every chunk takes its microbatches in turn, so what runs next is a
// forward or a backward of some chunk, or the weight pass of the oldest microbatch that awaits one.
class Line {
 public:
  explicit Line(const LineInput& input)
      : in_(input),
        edges_(input),
        stages_(static_cast<std::size_t>(input.layout.stages)),
        wakes_(stages_.size()),
        forward_(static_cast<std::size_t>(input.layout.virtual_stages() * input.microbatches),
                 never),
        backward_(forward_) {
    for (auto& stage : stages_) stage.slots.reserve(slots_per_stage());
  }

  // The time at which the next forward, or backward, of a chunk could begin as far as other passes
  // are concerned; `never` if that is not known yet, or if there is none left.
  std::int64_t forward_ready(int stage, int chunk) const {
    const int m = at(stage).forwards[index(chunk)];
    if (m == in_.microbatches) return never;
    const auto& from = edges_.of(stage, chunk).before;
    return from.virtual_stage < 0 ? 0 : arrival(forward_, from, m);
  }
  std::int64_t backward_ready(int stage, int chunk) const {
    const int m = at(stage).backwards[index(chunk)];
    if (m == at(stage).forwards[index(chunk)]) return never;
    const auto& of = edges_.of(stage, chunk);
    return of.behind.virtual_stage < 0 ? forward_[cell(of.virtual_stage, m)]
                                       : arrival(backward_, of.behind, m);
  }
  int forwards(int stage, int chunk) const { return at(stage).forwards[index(chunk)]; }
  int backwards(int stage, int chunk) const { return at(stage).backwards[index(chunk)]; }
  // The number of chunks in memory, and of those that await their weight pass only.
  int held(int stage) const { return at(stage).held; }
  int held(int stage, int chunk) const {
    return at(stage).forwards[index(chunk)] - at(stage).weights[index(chunk)];
  }
  int waiting(int stage) const {
    const auto& here = at(stage);
    return here.backwards[0] + here.backwards[1] - here.weights[0] - here.weights[1];
  }
  // The time that a stage has waited since its first pass, and the stage that has waited longest.
  std::int64_t idle(int stage) const { return at(stage).idle; }
  std::int64_t most_idle() const { return most_idle_; }
  bool last_was_forward(int stage) const { return at(stage).last_was_forward; }
  const LineInput& input() const { return in_; }

  // Asks `decide(stage, now)` of the stage that is free first, again and again, for a Decision.
  // Returns the orders of all stages, or nothing if all wait for ever.
  template <class Decide>
  Order play(Decide decide) {
    for (auto left = stages_.size() * slots_per_stage(); left > 0;) {
      if (wakes_.least() >= never) return {};
      const auto stage = static_cast<int>(wakes_.first());
      const auto decision = decide(stage, wakes_.least());
      if (decision.run) {
        run(stage, decision.pass, decision.chunk);
        --left;
      } else {
        wakes_.set(index(stage), decision.until);
      }
    }
    Order order;
    for (auto& stage : stages_) order.push_back(std::move(stage.slots));
    return order;
  }

  struct Decision {
    bool run;
    Pass pass = Pass::forward;
    int chunk = 0;
    std::int64_t until = never;  // ask again then, or when news arrive
  };

 private:
  struct Stage {
    std::int64_t free = 0, idle = 0;
    std::array<int, 2> forwards{}, backwards{}, weights{};
    int held = 0;
    bool last_was_forward = false;
    // Backwards, of which the first `weighed` have had their weight pass.
    std::vector<Slot> waiting;
    std::size_t weighed = 0;
    std::vector<Slot> slots;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  const Stage& at(int stage) const { return stages_[index(stage)]; }
  std::size_t slots_per_stage() const {
    return static_cast<std::size_t>(3 * in_.layout.chunks * in_.microbatches);
  }
  std::size_t cell(int virtual_stage, int microbatch) const {
    return index(virtual_stage * in_.microbatches + microbatch);
  }
  std::int64_t arrival(const std::vector<std::int64_t>& ends, const Edge& from,
                       int microbatch) const {
    return ends[cell(from.virtual_stage, microbatch)] + from.latency;
  }

  // The chunk whose weight pass is due for the oldest microbatch; the later one of equals, which
  // waited longer.
  static int oldest_waiting(const Stage& stage) {
    const auto due = [&](std::size_t chunk) {
      return stage.weights[chunk] < stage.backwards[chunk] ? stage.weights[chunk]
                                                           : std::numeric_limits<int>::max();
    };
    return due(1) <= due(0) ? 1 : 0;
  }
  void run(int stage, Pass pass, int chunk) {
    auto& here = stages_[index(stage)];
    const auto& times = in_.times[index(stage)];
    const auto begin = wakes_[index(stage)];
    if (!here.slots.empty()) here.idle += begin - here.free;
    most_idle_ = std::max(most_idle_, here.idle);
    if (pass == Pass::backward_weight) {
      const auto oldest = index(oldest_waiting(here));
      here.slots.push_back({pass, here.weights[oldest]++, static_cast<int>(oldest)});
      --here.held;
      wakes_.set(index(stage), here.free = begin + times.weight);
      return;
    }
    const bool forward = pass == Pass::forward;
    auto& counters = forward ? here.forwards : here.backwards;
    const Slot slot{pass, counters[index(chunk)]++, chunk};
    here.slots.push_back(slot);
    if (forward) ++here.held;
    here.last_was_forward = forward;
    wakes_.set(index(stage), here.free = begin + (forward ? times.forward : times.backward));
    const auto& of = edges_.of(stage, chunk);
    (forward ? forward_ : backward_)[cell(of.virtual_stage, slot.microbatch)] = here.free;
    const auto& next = forward ? of.behind : of.before;
    if (next.virtual_stage >= 0 && next.stage != stage) wake(next.stage, here.free + next.latency);
  }
  void wake(int stage, std::int64_t when) {
    const auto i = index(stage);
    wakes_.set(i, std::max(stages_[i].free, std::min(wakes_[i], when)));
  }

  const LineInput& in_;
  Edges edges_;
  std::vector<Stage> stages_;
  std::int64_t most_idle_ = 0;
  TournamentTree wakes_;                          // when each stage is asked next
  std::vector<std::int64_t> forward_, backward_;  // ends, by virtual stage and microbatch
};

}  // namespace strategies
