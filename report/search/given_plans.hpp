// SPDX-License-Identifier: Apache-2.0
// Plans that people chose for published runs, beside those that searches find.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/style.hpp"
#include "search/given_plan.hpp"

namespace report {

struct GivenPlan {
  std::string id;
  std::string reason;  // why there is no comparison
  std::optional<search::Comparison> comparison;
  units::Seconds wall;  // time that the comparison took
};
struct GivenPlans {
  std::string dataset;
  std::vector<GivenPlan> rows;
};

// The document of `validate search --json`: that of `validate --json` with the given plan's step,
// the found one's, its proved bound and gap, and the keys that put the given plan outside of the
// space. The totals count rows, compared rows, given plans inside of the space, and found plans
// that are no slower than the given ones.
std::string given_plans_json(const std::vector<GivenPlans>& all);

// The comparisons as a table, then the totals, then the reasons why rows are not compared.
std::string given_plans_text(const std::vector<GivenPlans>& all, const TextOptions& options = {});

}  // namespace report
