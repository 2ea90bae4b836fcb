// SPDX-License-Identifier: Apache-2.0
// Private to the room: rows of a store, each checked when it is read.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "store/layout.hpp"

namespace store {

class Reading {
 public:
  Reading(Database& database, const Identity& identity, const std::vector<Column>& columns);

  // at(), each() and each_place() throw Damaged if a row differs from the written one, or is
  // missing.
  std::optional<Row> at(std::int64_t position);
  void each(const std::function<void(const Row&)>& visit);  // by position
  void each_place(const std::function<void(std::int64_t)>& visit);

 private:
  void check(const Statement& place) const;
  Row row_of(const Statement& place);

  Database* database_;
  Table points_, places_;
  std::size_t figures_;
  Statement at_, each_, point_;
};

}  // namespace store
