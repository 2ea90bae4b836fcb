// SPDX-License-Identifier: Apache-2.0
// Pipeline schedules: what each stage does, in order. Pure functions of a few integers.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plans/plan.hpp"
#include "plans/schedule_layout.hpp"

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

// All forwards, then all backwards (Huang et al. 2019).
std::vector<Slot> gpipe(int microbatches);

// Fill, alternate, drain (Narayanan et al. 2019). Stage s warms up with stages − 1 − s forwards,
// so the last stage never waits to alternate and stage s holds at most stages − s microbatches.
std::vector<Slot> one_f_one_b(int stage, int stages, int microbatches);

// Interleaved 1F1B (Narayanan et al. 2021): `chunks` model chunks per stage, microbatches taken in
// groups of `stages`. Stage s warms up with 2(stages − 1 − s) + (chunks − 1)·stages chunk passes.
// The last group may be shorter: then its missing microbatches are left out of the order of the
// next multiple of `stages`, which neither holds more nor makes anything wait for ever.
std::vector<Slot> interleaved(int stage, int stages, int chunks, int microbatches);

// The same with one more warm-up forward, after which every forward is paired with the backward
// behind it, so that one's communication hides under the other's computation (Megatron's
// --overlap-moe-expert-parallel-comm). It holds one chunk of a microbatch more. With one chunk it
// warms up two passes per stage to come, where 1F1B has one: a pair would else wait for both
// neighbours' pairs in turn, and only every second stage would run.
std::vector<Slot> interleaved_pairs(int stage, int stages, int chunks, int microbatches);

// DualPipe (DeepSeek-AI 2024): two copies of the model in opposite directions on an even number of
// stages; microbatches 0 … m/2 − 1 go down as chunk 0, the others up as chunk 1. In the middle, a
// forward of one direction is paired with a backward of the other. m is even and at least 2·stages.
std::vector<Slot> dualpipe(int stage, int stages, int microbatches);

// DualPipe cut in half: the directions are the two arms of a V. m is at least 2·stages.
std::vector<Slot> dualpipe_v(int stage, int stages, int microbatches);

// Times of the passes of one chunk and one microbatch on one stage, in any unit.
struct ChunkTimes {
  std::int64_t forward = 1, backward = 1, weight = 1;
  friend bool operator==(const ChunkTimes&, const ChunkTimes&) = default;
};

// What an order depends on. Times, latency and limit steer the schedules that are found by search
// (zb_h1, zb_h2, zb_v, v_half, v_min); the others are fixed by the integers.
struct OrderInput {
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  int stages = 1, chunks = 1, microbatches = 1;
  std::vector<ChunkTimes> times;  // by stage; empty: all passes take equally long
  std::int64_t latency = 0;       // between devices
  std::optional<int> limit;       // microbatches held at once; absent: the schedule's own
  bool pairs = false;             // 1F1B and interleaved: as interleaved_pairs
};

// Full-stage activations that a searched schedule may hold at once: p for zb_h1 and zb_v, 2p − 1
// for zb_h2, (p + 2) / 2 for v_half, (p + 4) / 3 for v_min; none for the others.
std::optional<int> memory_limit(ScheduleKind schedule, int stages);

// Whether the order depends on the times of passes and is searched for. Others are fixed.
bool is_searched(ScheduleKind schedule);

// Throws std::invalid_argument when stages, chunks or microbatches are less than one, when a
// schedule cannot have this number of chunks, stages or microbatches, or when the limit is one that
// the schedule does not take; Refusal when the pipeline is too large (limits.hpp). Deterministic.
Order order_of(const OrderInput& input);
Order order_of(ScheduleKind schedule, int stages, int chunks, int microbatches);

// Most activations a stage holds at once, in full-stage units: a forward adds 1/parts, the end of
// the backward (or weight) pass removes it. `parts`: chunks that make one full stage.
double peak_in_flight(const std::vector<Slot>& slots, int parts);

// Pareto-maximal vectors (live microbatches per chunk) of what a stage holds at once.
std::vector<std::vector<int>> in_flight_vectors(const std::vector<Slot>& slots, int chunks);

}  // namespace strategies
