// SPDX-License-Identifier: Apache-2.0
// Private to the room: the tables of a store, its identity, and the digest of all its rows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/checksum.hpp"
#include "store/sqlite.hpp"
#include "store/values.hpp"

namespace store {

// A table of numbered rows.
struct Table {
  std::string name;
  std::string number;   // the column that numbers its rows
  std::string columns;  // columns under a checksum, in its order; the checksum's column follows
  int width = 0;        // number of `columns`
  std::string salt;     // salt of its checksums
};

Table points_table(const std::vector<Column>& columns, const std::string& program);
Table places_table(const std::string& fingerprint);

// "SELECT number, columns, checksum FROM table".
std::string selection(const Table& table);

// The checksum of the row whose columns begin at `first`, if it is the one that was written beside.
std::optional<Sum> sound(const Table& table, const Statement& row, int first);

// Rows of one table: how many, and the sum of their checksums.
struct Tally {
  std::int64_t rows = 0;
  Sum sum;
  friend bool operator==(const Tally&, const Tally&) = default;
  void add(const Sum& checksum);
  void remove(const Sum& checksum);
};

struct Digest {
  Tally points, places;
  std::int64_t commits = 0;  // so that no two states of a file have the same digest
};

struct Meta {
  Identity identity;
  Digest digest;
};

// Whether the file has no tables: its writer was killed while it made the file.
bool is_blank(Database& database);
void create(Database& database, const std::vector<Column>& columns);
// Throws Error where it is no store, Damaged where its header or its tables are not as they were
// made, or made by another layout.
void check_layout(Database& database);
std::vector<Column> columns_of(Database& database);
Meta meta_of(Database& database, const std::vector<Column>& columns);  // Throws Damaged
void put(Database& database, const Meta& meta, const std::vector<Column>& columns);

// Writes the digest, which is bound to everything else in meta and to the tables' definitions.
class Seal {
 public:
  Seal(Database& database, const Identity& identity, const std::vector<Column>& columns);
  void put(const Digest& digest);

 private:
  std::string bound_;
  Statement statement_;
};

// Returns Damaged, with the file's name before the words and advice behind them.
Damaged damage(const Database& database, const std::string& words);

}  // namespace store
