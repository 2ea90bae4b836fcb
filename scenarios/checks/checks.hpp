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

// Returns the reason why so many tokens are no training: they are fewer than those of one step.
// Empty: they are enough.
std::string less_than_a_step(double tokens, const strategies::Training& training);

// Warnings, with advice, of values that are allowed but perhaps not meant.
std::vector<std::string> warnings(const forecast::Scenario& scenario);
// The same, and those of keys that `document` gives and others override.
std::vector<std::string> warnings(const forecast::Scenario& scenario, const Value& document);

}  // namespace scenarios
