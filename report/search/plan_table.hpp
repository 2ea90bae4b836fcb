// SPDX-License-Identifier: Apache-2.0
// Private to the room: plans in rows.
#pragma once
#include <string>
#include <vector>

#include "report/style.hpp"
#include "search/search.hpp"

namespace report {

// Returns a row for each plan: rank (if `ranked`), step time, slowdown against `best`, degrees in
// the field's short names, schedule, peak memory, recomputation, and the keys in which alternatives
// of the question differ. A rank is "=" if the plan equals the best within its interval. `wins`: a
// cell for each plan with the gain of a finer one; none: there is no such column. Columns of a kind
// of parallelism that no plan uses are left out.
std::string plan_table(const search::Question& question, const std::vector<search::Ranked>& plans,
                       const search::Ranked& best, bool ranked, const TextOptions& options,
                       const std::vector<std::string>& wins = {});

// Whether the plan is no slower than the best by more than the best's 80 % interval.
bool equals_best(const search::Ranked& plan, const search::Ranked& best);

}  // namespace report
