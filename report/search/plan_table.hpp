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
// differ in. Columns in which all plans are as without that kind of parallelism are left out.
std::string plan_table(const search::Question& question, const std::vector<search::Ranked>& plans,
                       const search::Ranked& best, bool ranked, const TextOptions& options);

}  // namespace report
