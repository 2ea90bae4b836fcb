// SPDX-License-Identifier: Apache-2.0
// Sentences that warn of a forecast: memory that overflows, and plans or clusters that are
// doubtful.
#pragma once
#include <string>
#include <vector>

#include "forecast/forecast.hpp"

namespace forecast {

// Returns a sentence that says which memory overflows (device, host or NVMe); empty if everything
// fits. Changes that would make it fit are fitting_change's.
std::string misfit_of(const Scenario& scenario, const Memory& memory);

// Returns the part of that about the memory or the storage of a node, with advice; empty if both
// do.
std::string node_misfit_of(const Memory& memory);

// Warnings about this answer, each but misfit_of's with advice. Empty if all is well.
std::vector<std::string> warnings_of(const Scenario& scenario, const Forecast& forecast);

}  // namespace forecast
