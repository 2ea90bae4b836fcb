// SPDX-License-Identifier: Apache-2.0
// The keys of a sweep.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "scenarios/keys.hpp"
#include "scenarios/sweeps/grid.hpp"

namespace scenarios {

const Table<Grid>& sweep_table();
inline std::vector<Field> sweep_fields() { return fields_of(sweep_table()); }

// `vary`: maps paths to values; `together`: lists such maps.
Form axes_form();
Form joined_axes_form();
void read_axes(Grid& grid, const Cursor& at);
void read_joined_axes(Grid& grid, const Cursor& at);

// `follow`: maps paths to the axes that decide their values. Read it when all axes are known.
Form followers_form();
void read_followers(Grid& grid, const Cursor& at);

// Returns the map that varies this path, "vary." or "together.0.", and the path's key there: the
// first one or the last one.
std::pair<std::string, Value> axis_place(const std::string& path, bool last, const Cursor& root);

// Reads the files that scenarios of the grid name, once for all its points. A file that cannot be
// read is left to the points that need it.
void read_beside(Grid& grid);

}  // namespace scenarios
