// SPDX-License-Identifier: Apache-2.0
// Pipeline schedules: what each stage does, in order. Pure functions of a few integers.
#pragma once
#include <optional>
#include <vector>

#include "plans/schedules/order.hpp"
#include "plans/schedules/schedule_layout.hpp"

namespace strategies {

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

// Interleaved 1F1B with one more warm-up forward, after which every forward is paired with the
// backward behind it, so that one's communication hides under the other's computation (Megatron's
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

// Throws std::invalid_argument when stages, chunks or microbatches are less than one, when a
// schedule cannot have this number of chunks, stages or microbatches, or when the limit is one that
// the schedule does not take; Refusal when the pipeline is too large (limits.hpp). Deterministic.
Order order_of(const OrderInput& input);
Order order_of(ScheduleKind schedule, int stages, int chunks, int microbatches);

}  // namespace strategies
