// SPDX-License-Identifier: Apache-2.0
// Which keys of a space leave out values, and which of them leave nothing.
#pragma once
#include <string_view>
#include <vector>

#include "search/space.hpp"

namespace search {

// Keys that do not allow all values, by their names in a plan.
std::vector<std::string_view> limits_of(const Space& space);

// Of these, each that would leave plans if it alone allowed all values.
std::vector<std::string_view> reliefs(const forecast::Scenario& scenario, const Space& space);

}  // namespace search
