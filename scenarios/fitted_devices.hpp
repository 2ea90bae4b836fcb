// SPDX-License-Identifier: Apache-2.0
// On which devices forecasts rest on figures that were fitted to measured runs, and on which on
// data sheets alone.
#pragma once
#include <string_view>
#include <vector>

#include "scenarios/calibration.hpp"
#include "scenarios/published.hpp"

namespace scenarios {

// Whether a figure of the device of that name is fitted, or one of the catalog entry that it starts
// from. A calibration that fits no device's figures says nothing of them: then every device is.
// O(parameters).
bool fits_device(const Calibration& calibration, std::string_view device);

// Says so of every row that has a scenario: of all its devices.
void mark_fitted(std::vector<Dataset>& datasets, const Calibration& calibration);

}  // namespace scenarios
