// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "forecast/forecast.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

// Memory of every pipeline rank: what it holds throughout, what the played program adds at its
// peak, and what lies outside the allocator.
Memory memory_of(const Scenario& scenario, const strategies::Lowered& lowered);

}  // namespace forecast
