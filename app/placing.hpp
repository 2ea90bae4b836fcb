// SPDX-License-Identifier: Apache-2.0
// Refusals of a simulation get the places of their keys in the scenario's file, and the file gives
// warnings.
#pragma once
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "forecast/unused_tables.hpp"
#include "report/launch/framework_limits.hpp"
#include "scenarios/checks/checks.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/measured/doubtful.hpp"
#include "scenarios/placed.hpp"

namespace app {

// Answers a question that was read from `origin`. Turns std::invalid_argument of answer() into
// scenarios::Error with a place.
template <class Answer>
auto placing(const scenarios::Origin& origin, Answer answer) {
  try {
    return answer();
  } catch (const std::invalid_argument& refused) {
    throw scenarios::Error({scenarios::placed(refused, origin)});
  }
}

// Returns the warnings about the scenario that was read from `origin`, before it is simulated.
inline std::vector<std::string> warnings_of(const forecast::Scenario& scenario,
                                            const scenarios::Origin& origin) {
  auto warnings = scenarios::warnings(scenario, origin.document);
  warnings.insert(warnings.begin(), origin.notes.begin(), origin.notes.end());
  std::ranges::move(scenarios::doubtful_values(scenario), std::back_inserter(warnings));
  std::ranges::move(forecast::unused_tables(scenario), std::back_inserter(warnings));
  // A job runs what it says, and its reader refuses what its framework does not start.
  if (auto text = origin.job ? std::string() : report::not_run_words(scenario); !text.empty())
    warnings.push_back(std::move(text));
  return warnings;
}

}  // namespace app
