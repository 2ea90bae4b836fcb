// SPDX-License-Identifier: Apache-2.0
// The document of a search of which nothing else is known.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/search/search.hpp"

namespace tests {

// Parts that a search may have beside its outcome.
struct BesideSearch {
  std::optional<search::Why> why = {};
  std::optional<search::Corrected> corrected = {};
  std::vector<search::Configurable> configurable = {};
  std::optional<search::WholeRun> run = {};
  std::optional<report::FrameworkLimits> limits = {};
  std::optional<scenarios::JobAccount> job = {};
  std::string emitted = {};
  units::Seconds wall = {};
};

inline report::SearchReport report_of(const search::Outcome& outcome, const BesideSearch& beside) {
  return {.outcome = outcome,
          .why = beside.why,
          .corrected = beside.corrected,
          .configurable = beside.configurable,
          .run = beside.run,
          .limits = beside.limits,
          .job = beside.job,
          .emitted = beside.emitted,
          .wall = beside.wall};
}

inline std::string search_json(const search::Outcome& outcome, const BesideSearch& beside = {},
                               std::string_view version = "") {
  return report::search_json(report_of(outcome, beside), version);
}

}  // namespace tests
