// SPDX-License-Identifier: Apache-2.0
// Answers for people at a terminal.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "report/style.hpp"

namespace report {

// One screen of about 40 lines: the headline, alerts where there are rules, memory by pipeline
// stage, where the time went, a picture of the pipeline (if the forecast has its timeline),
// warnings. Long pipelines are cut to their first, heaviest and last stages. Control characters in
// names come out as '?'.
std::string simulate_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          const TextOptions& options = {});

// The stages that it draws of so many: those that forecast::Options::pictured is to have.
std::vector<int> pictured_stages(std::int64_t stages);

}  // namespace report
