// SPDX-License-Identifier: Apache-2.0
// Tells devices whose figures were fitted to measured runs from those that are known by data sheets
// alone.
#pragma once
#include <string_view>
#include <vector>

#include "scenarios/calibration.hpp"
#include "scenarios/published.hpp"

namespace scenarios {

// Whether a figure of the device of that name is fitted, or one of the catalog entry that it starts
// from. If the calibration fits no device's figures, every device counts as fitted. O(parameters).
bool fits_device(const Calibration& calibration, std::string_view device);

// Sets `fitted` of every row that has a scenario: whether all its devices are fitted.
void mark_fitted(std::vector<Dataset>& datasets, const Calibration& calibration);

}  // namespace scenarios
