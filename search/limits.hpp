// SPDX-License-Identifier: Apache-2.0
// The keys of a search that leave out values, and those of them that leave no plan.
#pragma once
#include <string_view>
#include <vector>

#include "search/space.hpp"

namespace search {

// The keys that do not allow all values, by their names in a plan, a shard group of some ranks
// first.
std::vector<std::string_view> limits_of(const forecast::Scenario& scenario, const Space& space);

// The limiting keys of which each alone, if it allowed all values, would leave plans.
std::vector<std::string_view> reliefs(const forecast::Scenario& scenario, const Space& space);

}  // namespace search
