// SPDX-License-Identifier: Apache-2.0
// A plan becomes a program: who does what and when.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "plans/schedules/known_orders.hpp"
#include "strategies/blocks.hpp"
#include "strategies/costs.hpp"
#include "strategies/folding.hpp"
#include "strategies/job.hpp"
#include "strategies/lowered.hpp"
#include "strategies/ticks.hpp"

namespace strategies {

struct Cast;

// Writes the program of one training step, or of one that leaves out microbatches of its steady
// phase (sim/recurrence.hpp). O(actors · microbatches written · chunks) plus the templates.
class Lowering {
 public:
  // `orders` has orders that were found before and remembers new ones; null: none. Throws Refusal
  // where the step is too large or too long to be simulated.
  Lowering(const Job& job, const Costs& costs, Ranks ranks, KnownOrders* orders = nullptr);
  Lowering(Lowering&&) noexcept;
  ~Lowering();

  // The step as it is. Throws Refusal likewise.
  Lowered whole();
  // The step with about as many microbatches as have a steady phase, or with `enlarged` times as
  // many. Returns nothing if that is most of them, if the schedule has no period, or if replicas
  // differ in speed.
  std::optional<Lowered> shortened(std::int64_t enlarged);

 private:
  Lowered write(std::int64_t microbatches, std::int64_t left_out);
  std::unique_ptr<Cast> cast_;
  Ranks ranks_;
  KnownOrders* orders_;
};

// Lowers one training step. `orders` has orders that were found before and remembers new ones;
// null: none. Throws Refusal where it is too large or too long to be simulated. O(actors ·
// microbatches · chunks) plus the templates.
Lowered lower(const Job& job, const Costs& costs, Ranks ranks, KnownOrders* orders = nullptr);

}  // namespace strategies
