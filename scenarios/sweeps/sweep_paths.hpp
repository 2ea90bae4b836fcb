// SPDX-License-Identifier: Apache-2.0
// Paths of a sweep, which lead into the scenarios that it makes.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "scenarios/documents/cursor.hpp"
#include "scenarios/sweeps/condition.hpp"
#include "scenarios/sweeps/grid.hpp"

namespace scenarios {

// Returns the mistake in a path, or an empty text: each of its keys must be one that a scenario has
// there.
std::string path_mistake(const std::string& path);

// Returns a path of the grid whose values are lost at some point because those of `path` are set
// after them, or an empty text. Followers are set first, then the axes in their order. O(values of
// paths that hold `path`).
std::string overwritten_by(const std::string& path, const Grid& grid);

// Sets the values at these indices of the axes, and what follows from them.
void set_point(Value& document, const Grid& grid, std::span<const std::size_t> indices,
               Reading& reading);

// Fills in the values of every path of the condition; none may have a mistake. Throws
// ConditionError for a path that stands for no single value.
void find_terms(Grid& grid);

// The mistake of a condition that leaves nothing of a grid.
inline constexpr const char* no_point_left = "holds for no point of the sweep";

// Returns the grid with this condition in place of its own. Throws ConditionError, also for a
// condition that holds for no point. O(positions).
Grid narrowed(Grid grid, const std::string& only_if);

}  // namespace scenarios
