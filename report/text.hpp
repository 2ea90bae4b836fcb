// SPDX-License-Identifier: Apache-2.0
// Answers for people at a terminal.
#pragma once
#include <optional>
#include <string>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "units/quantity.hpp"

namespace report {

// What someone measured for the same step, and where it is printed.
struct Published {
  units::Seconds step_time;
  std::string source;
};

struct TextOptions {
  int width = 100;      // columns; taken as at least 60 and at most 200
  bool unicode = true;  // false: ASCII only
  bool colour = false;  // ANSI colours; nothing is said by colour alone
  std::optional<Published> published = std::nullopt;
};

// One screen of about 40 lines: the headline, alerts where there are rules, memory by pipeline
// stage, where the time went, a picture of the pipeline (if the forecast has its timeline),
// warnings. Long pipelines are cut to their first, heaviest and last stages. Control characters in
// names come out as '?'.
std::string simulate_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          const TextOptions& options = {});

}  // namespace report
