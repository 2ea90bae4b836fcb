// SPDX-License-Identifier: Apache-2.0
// Private to the room: schedules with the weight pass split off, found by search.
#pragma once
#include "plans/schedules/order.hpp"

namespace strategies {

// An order for zb_h1, zb_h2 (Qi et al. 2023), zb_v, v_half or v_min (Qi et al. 2024) that never
// holds more than its memory limit. It has the least sum of makespan (all stages begin and end
// together) and longest stage span (each on its own) among some dozens of candidates, which are
// compared with few microbatches, and the best of them with all. `input` is checked. Deterministic.
// O(candidates · stages² + stages · microbatches).
Order zero_bubble(const OrderInput& input);

}  // namespace strategies
