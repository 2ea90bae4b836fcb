// SPDX-License-Identifier: Apache-2.0
// Pipeline schedules: what each stage does, in order. Pure functions of a few integers.
#pragma once
#include <cstdint>
#include <vector>

#include "strategies/plan.hpp"

namespace strategies {

// backward computes input and weight gradients together.
enum class Pass : std::uint8_t { forward, backward, backward_input, backward_weight };

struct Slot {
  Pass pass;
  int microbatch;
  int chunk;  // model chunk on this stage, 0 … virtual stages − 1
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

// Throws std::invalid_argument when stages, chunks or microbatches are less than one, or when more
// than one chunk is asked of a schedule that has none.
Order order_of(ScheduleKind schedule, int stages, int chunks, int microbatches);

// Most activations a stage holds at once, in full-stage units: a forward adds 1/chunks, the end of
// the backward (or weight) pass removes it.
double peak_in_flight(const std::vector<Slot>& slots, int chunks);

// Pareto-maximal vectors (live microbatches per chunk) of what a stage holds at once.
std::vector<std::vector<int>> in_flight_vectors(const std::vector<Slot>& slots, int chunks);

}  // namespace strategies
