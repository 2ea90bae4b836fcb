// SPDX-License-Identifier: Apache-2.0
// Private to the room: simulated time as the parts of a step.
#pragma once
#include "forecast/step_parts.hpp"
#include "sim/spent.hpp"

namespace forecast {

TimeParts parts_of(const sim::Spent& spent);

}  // namespace forecast
