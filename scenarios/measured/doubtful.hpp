// SPDX-License-Identifier: Apache-2.0
// Values that a scenario may have and that do something else than their writer thinks.
#pragma once
#include <string>
#include <vector>

#include "forecast/scenario.hpp"

namespace scenarios {

// Sentences about keys of a device that its measured kernels override, and about latencies and
// times of launches that are as long as if they lacked their unit.
std::vector<std::string> doubtful_values(const forecast::Scenario& scenario);

}  // namespace scenarios
