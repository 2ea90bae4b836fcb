// SPDX-License-Identifier: Apache-2.0
// A plan becomes a program: who does what and when.
#pragma once
#include "plans/schedules/known_orders.hpp"
#include "strategies/blocks.hpp"
#include "strategies/costs.hpp"
#include "strategies/folding.hpp"
#include "strategies/job.hpp"
#include "strategies/lowered.hpp"
#include "strategies/ticks.hpp"

namespace strategies {

// Lowers one training step. `orders`: found before, and where new ones are
// remembered; null: none. Throws Refusal where it is too large or
// too long to be simulated. O(actors · microbatches · chunks) plus the templates.
Lowered lower(const Job& job, const Costs& costs, Ranks ranks, KnownOrders* orders = nullptr);

}  // namespace strategies
