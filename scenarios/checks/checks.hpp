// SPDX-License-Identifier: Apache-2.0
// Whether the parts of a scenario fit together.
#pragma once
#include <string>
#include <vector>

#include "forecast/scenario.hpp"
#include "scenarios/documents/cursor.hpp"

namespace scenarios {

// Degrees and sizes, batch and replicas, device and precision.
void check_scenario(const forecast::Scenario& scenario, bool data_given, const Value& document,
                    Reading& reading);

// Warnings, with advice, of values that are allowed but perhaps not meant.
std::vector<std::string> warnings(const forecast::Scenario& scenario);

}  // namespace scenarios
