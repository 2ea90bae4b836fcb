// SPDX-License-Identifier: Apache-2.0
// Private to the room: plans in rows.
#pragma once
#include <string>
#include <vector>

#include "report/style.hpp"
#include "search/search.hpp"

namespace report {

// A row for each plan: rank (if `ranked`), step time, how much slower than `best`, degrees in the
// field's short names, schedule, peak memory, what is recomputed; what alternatives of the question
// differ in. A rank is "=" where the plan equals the best within its interval. `wins`: a cell for
// each plan, what a finer one would win; none: nothing is said of it. Columns in which all plans
// are as without that kind of parallelism are left out.
std::string plan_table(const search::Question& question, const std::vector<search::Ranked>& plans,
                       const search::Ranked& best, bool ranked, const TextOptions& options,
                       const std::vector<std::string>& wins = {});

// Whether the plan is no slower than the best by more than the best's 80 % interval.
bool equals_best(const search::Ranked& plan, const search::Ranked& best);

}  // namespace report
