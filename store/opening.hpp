// SPDX-License-Identifier: Apache-2.0
// Private to the room: checks of a file before anything of it is used.
#pragma once
#include <vector>

#include "store/layout.hpp"

namespace store {

struct Opened {
  Meta meta;
  std::vector<Column> columns;
};

// Whether SQLite reads the rest of a file that was cut, and of tables that were changed.
void be_lenient(Database& database, bool lenient);

// The contents of a file with tables, after all of it was checked. Throws Error, Damaged.
Opened checked(Database& database);
// The contents, too, but throws unless the sweep of this identity can go on with them.
Opened checked(Database& database, const Identity& identity, const std::vector<Column>& columns);

bool alike(const std::vector<Column>& a, const std::vector<Column>& b);

}  // namespace store
