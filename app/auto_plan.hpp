// SPDX-License-Identifier: Apache-2.0
// A plan that is searched because it was left open (simulate --plan auto).
#pragma once
#include <optional>
#include <string>

#include "app/command.hpp"
#include "report/correction.hpp"
#include "scenarios/placed.hpp"
#include "search/question.hpp"

namespace app {

// Gap and time limit of the search where the scenario has none.
inline constexpr double auto_gap = 0.05;
inline constexpr units::Seconds auto_time_limit{60};

struct AutoPlan {
  std::optional<forecast::Scenario> scenario;  // with the plan; absent: none fits
  report::PlanSearched how;
  std::string none;  // why there is no plan, in one line
};

// Searches on as many threads as `common` says. Throws scenarios::Error as a search does.
AutoPlan plan_for(search::Question question, const scenarios::Origin& origin, const Common& common);

}  // namespace app
