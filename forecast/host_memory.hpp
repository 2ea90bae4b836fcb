// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "forecast/forecast.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

// What the ranks of a node keep in its memory and on its drives, for the node that is fullest, and
// whether all of it is there. Nothing where the plan keeps everything on the devices; else
// O(ranks).
void add_host_memory(Memory& memory, const Scenario& scenario, const strategies::Lowered& lowered);

}  // namespace forecast
