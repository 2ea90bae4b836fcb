// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "forecast/forecast.hpp"
#include "sim/engine.hpp"
#include "strategies/lower.hpp"

namespace forecast {

// What one rank of every stage did: bars, messages between them, and memory over time.
Timeline timeline_of(const Scenario& scenario, const strategies::Lowered& lowered,
                     const sim::Trace& trace, const Memory& memory);

}  // namespace forecast
