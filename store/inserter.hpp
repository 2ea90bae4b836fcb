// SPDX-License-Identifier: Apache-2.0
// Private to the room: puts rows into a store and keeps its digest.
#pragma once
#include <string>
#include <vector>

#include "store/layout.hpp"

namespace store {

// Use it inside of a transaction: rows that are not sealed before its end are not in the digest.
class Inserter {
 public:
  Inserter(Database& database, const Meta& meta, const std::vector<Column>& columns);

  const Digest& digest() const { return digest_; }
  void forget(const Digest& before) { digest_ = before; }  // of a transaction that was rolled back

  // Adds a row. A point that is known stays as it is; a position takes the point that came last.
  void add(const Row& row);
  // Copies a sound row of another store of the same program or fingerprint, as scan() visits it,
  // unless its id or position is there.
  void copy_point(const Statement& row, const Sum& checksum);
  void copy_place(const Statement& row, const Sum& checksum);
  bool has_point(const std::string& id);

  void seal();  // one more commit

 private:
  void add_point(const Row& row);
  void add_place(const Row& row);
  void remove_place(std::int64_t position);
  bool copy(Statement& insert, const Table& table, const Statement& row);

  Database* database_;
  std::vector<Column> columns_;
  Table points_, places_;
  Statement insert_point_, insert_place_, find_place_, delete_place_, find_point_;
  Seal seal_;
  Digest digest_;
};

}  // namespace store
