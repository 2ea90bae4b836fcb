// SPDX-License-Identifier: Apache-2.0
// The order in which a step runs the slots of its stages.
#pragma once
#include "plans/schedules/known_orders.hpp"
#include "strategies/lowering/emitter.hpp"

namespace strategies {

// Finds the order of every stage's slots for the plan's schedule. Searched schedules ask for the
// times of passes and of a message. Takes the order from `orders`, which may be null, if it is
// known there. Throws Refusal where the passes of a stage take 26 days.
void find_order(Emitter& emitter, const Cast& cast, KnownOrders* orders);

}  // namespace strategies
