// SPDX-License-Identifier: Apache-2.0
// The memory and the drives of nodes that a plan offloads to.
#pragma once
#include "forecast/forecast.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

// Adds the bytes that the ranks of the fullest node keep in its memory and on its drives, and
// whether they fit. Adds nothing if the plan keeps everything on the devices. O(ranks)
void add_host_memory(Memory& memory, const Scenario& scenario, const strategies::Lowered& lowered);

}  // namespace forecast
