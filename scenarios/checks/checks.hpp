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

// What is allowed but may not be meant, with advice.
std::vector<std::string> warnings(const forecast::Scenario& scenario);

}  // namespace scenarios
