// SPDX-License-Identifier: Apache-2.0
// Measured tables of a fabric that a step does not use: a table of the wrong size or collective is
// silently without effect otherwise.
#pragma once
#include <string>
#include <vector>

#include "forecast/scenario.hpp"

namespace forecast {

// A sentence for each measured table of the fabric (Fabric::measured) that no collective of the
// step looks up, but for buffers below a hundredth of the largest between nodes; with the
// collectives between nodes that the step has instead. Lowers the step if there are tables.
std::vector<std::string> unused_tables(const Scenario& scenario);

}  // namespace forecast
