// SPDX-License-Identifier: Apache-2.0
// Private to the room: reads a table whose pages may be damaged, as far as that goes.
#pragma once
#include <cstdint>
#include <functional>

#include "store/layout.hpp"

namespace store {

struct Visit {
  // A row that is as it was written: its number, columns and checksum, as selection() has them.
  std::function<void(const Statement& row, const Sum& checksum)> sound;
  std::function<void(std::int64_t number)> broken;  // a row that is not
};

// Visits the rows in the order in which they stand. Rows on pages that cannot be read are skipped,
// at a logarithmic cost for each run of them.
void scan(Database& database, const Table& table, const Visit& visit);

// Throws Damaged, with the rows that are lost, unless every row is there and as it was written, and
// SQLite finds tables and indices in order.
void verify(Database& database, const Meta& meta, const std::vector<Column>& columns);

}  // namespace store
