// SPDX-License-Identifier: Apache-2.0
// Limits of size: a few integers tell, before anything is built, whether a step is too large to be
// simulated.
#pragma once
#include <cstdint>
#include <optional>

#include "plans/schedules/refusal.hpp"
#include "plans/schedules/schedule_kind.hpp"

namespace strategies {

// A replica's pipeline. `chunks` as in plans: the V schedules have two, whatever it says.
struct PipelineSize {
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  std::int64_t stages = 1, chunks = 1, microbatches = 1;
};

// Forwards and backwards of all chunks on all stages. A double holds any product of such sizes.
double passes_of(const PipelineSize& size);

// The most microbatches that the schedule is played with on so many stages, zero for none. A step
// has at most 20 million events, and a pass is at least three of them; it has at most 10,000
// stages, because stages wait for each other in turn. Where the order is searched for (zb_h1,
// zb_h2, zb_v, v_half, v_min), a stage is asked what it does next about as often as there are
// stages for each pass, and several orders of a V are tried with as many microbatches as stages:
// there passes times stages are limited to what takes some seconds, and passes to what takes a
// gigabyte.
std::int64_t most_microbatches(const PipelineSize& size);

// Returns why a pipeline of this size is not played, if it is not. Nothing is said about sizes
// below one.
std::optional<Refusal> too_large(const PipelineSize& size);

}  // namespace strategies
