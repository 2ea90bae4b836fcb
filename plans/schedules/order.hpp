// SPDX-License-Identifier: Apache-2.0
// The order of passes on every stage of a pipeline, and what it depends on.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "plans/schedules/schedule_kind.hpp"

namespace strategies {

// backward computes input and weight gradients together.
enum class Pass : std::uint8_t { forward, backward, backward_input, backward_weight };

struct Slot {
  Pass pass;
  int microbatch;
  int chunk;            // model chunk on this stage, 0 … chunks − 1
  bool paired = false;  // runs together with the next slot, as one pass of forward + backward
  friend bool operator==(const Slot&, const Slot&) = default;
};

// Orders of every stage: order[stage] is what it does, first to last.
using Order = std::vector<std::vector<Slot>>;

// The passes that do something besides computing: none, one of a step, or every one.
enum class When { never, once, always };

// Times of the passes of one chunk and one microbatch on one stage, in any unit.
struct ChunkTimes {
  std::int64_t forward = 1, backward = 1, weight = 1;
  friend auto operator<=>(const ChunkTimes&, const ChunkTimes&) = default;
};

// The input that an order depends on. Times, latency and limit steer the schedules that are found
// by search (zb_h1, zb_h2, zb_v, v_half, v_min); the others are fixed by the integers.
struct OrderInput {
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  int stages = 1, chunks = 1, microbatches = 1;
  std::vector<ChunkTimes> times;  // by stage; empty: all passes take equally long
  std::int64_t latency = 0;       // between devices
  std::optional<int> limit;       // microbatches held at once; absent: the schedule's own
  bool pairs = false;             // 1F1B and interleaved: as interleaved_pairs
  friend auto operator<=>(const OrderInput&, const OrderInput&) = default;
};

}  // namespace strategies
