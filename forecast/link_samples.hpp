// SPDX-License-Identifier: Apache-2.0
// Private to the room: the load of links over time.
#pragma once
#include <span>
#include <vector>

#include "forecast/forecast.hpp"
#include "sim/engine.hpp"
#include "sim/program.hpp"
#include "sim/recurrence.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

// The load of each link in a run: bytes that it carried over bytes that it could have carried, at
// most 1. Traffic inside of passes counts, too, though it shares links with nothing and is no
// traffic of the program. Both together may be more than a link can carry in the run, which is then
// too short: the link counts as full. `recurrence`: of the periods that the program leaves out;
// null: none. O(ops + uses of links by traffic and by templates).
std::vector<double> link_loads(const strategies::Lowered& lowered, const sim::Trace& trace,
                               const sim::Recurrence* recurrence);

// The load of these links over time; LinkSample::link is a place in the list. O(the above, sorted).
std::vector<LinkSample> link_samples(const strategies::Lowered& lowered, const sim::Trace& trace,
                                     std::span<const sim::LinkId> links);

}  // namespace forecast
