// SPDX-License-Identifier: Apache-2.0
// Private to the room: what has to hold of a file before anything of it is used.
#pragma once
#include <vector>

#include "store/layout.hpp"

namespace store {

struct Opened {
  Meta meta;
  std::vector<Column> columns;
};

// Whether SQLite reads what is left of a file that was cut, and of tables that are not as they
// were.
void be_lenient(Database& database, bool lenient);

// The contents of a file with tables, after all of it was checked. Throws Error, Damaged.
Opened checked(Database& database);
// The same, of what a sweep can go on with.
Opened checked(Database& database, const Identity& identity, const std::vector<Column>& columns);

bool alike(const std::vector<Column>& a, const std::vector<Column>& b);

}  // namespace store
