// SPDX-License-Identifier: Apache-2.0
// Private to the room: the load of links over time.
#pragma once
#include <span>
#include <vector>

#include "forecast/forecast.hpp"
#include "sim/engine.hpp"
#include "sim/program.hpp"

namespace forecast {

// Of these links, numbered by their place in the list. O(uses of links by ops, sorted).
std::vector<LinkSample> link_samples(const sim::Program& program, const sim::Trace& trace,
                                     std::span<const sim::LinkId> links);

}  // namespace forecast
