// SPDX-License-Identifier: Apache-2.0
// The section of a scenario that limits a search.
#pragma once
#include <vector>

#include "scenarios/documents/cursor.hpp"
#include "scenarios/documents/form.hpp"
#include "search/search.hpp"

namespace scenarios {

// Degrees: keys of a plan that a search limits by a number, a list or bounds.
struct SearchedDegree {
  std::string_view name;
  search::Values search::Space::*values;
  std::int64_t (*of)(const strategies::Plan&);
};
const std::vector<SearchedDegree>& searched_degrees();

void read_search(search::Question& question, const Cursor& at);
std::vector<Field> search_fields();

}  // namespace scenarios
