// SPDX-License-Identifier: Apache-2.0
// Finished points of a sweep, in one SQLite file that survives whatever happens to its writer.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/values.hpp"

namespace store {

// Tables: points (one row for each id), places (which point is at which position), meta; and the
// view `sweep`, which joins them. Not for threads to share.
//
// Every row carries a checksum of its table, its key and every bit of its values; a point's is
// bound to the program, a place's to the fingerprint. Every transaction also writes, into meta, the
// number of rows and the sum of their checksums (modulo 2^128, so that their order does not
// matter). Opening a store reads every row, adds up number and checksums and compares; each row is
// checked once more when it is read. So no row is read from a store of which a bit of a row has
// changed, a page is lost, or a part has gone back to an older state; only a file that went back to
// an older state as a whole is not noticed. Chance hides damage with a probability below 1e-30; a
// forger, who can compute checksums as well, is not kept out.
class Store {
 public:
  // Opens a store for writing: makes the file, or goes on with its points. One process at a time
  // may do so; a shard's file ends in .part until it is finished, and a file system that other
  // machines share will do. A store of the same axes whose values have changed keeps its points, to
  // be placed again. Throws Error, Damaged; then the file is as it was.
  static Store writer(const std::filesystem::path& file, const Identity& identity,
                      const std::vector<Column>& columns);
  // Opens a store for reading its points of this moment, also while another process writes. Throws
  // Error, Damaged.
  static Store reader(const std::filesystem::path& file);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const Identity& identity() const;
  std::vector<Column> columns() const;

  std::int64_t placed() const;  // positions with a point
  void for_each_place(const std::function<void(std::int64_t)>& visit) const;
  std::vector<std::string> unplaced() const;  // ids of points at no position, sorted
  // row() and for_each_row() throw Damaged if a row differs from the written one.
  std::optional<Row> row(std::int64_t position) const;
  void for_each_row(const std::function<void(const Row&)>& visit) const;  // by position

  // Adds all rows or none; they are on the disk when it returns. Points that are known are only
  // placed. Throws Error.
  void add(std::span<const Row> rows);
  // Takes everything of another store of the same sweep. Throws Error, Damaged, and then has taken
  // nothing.
  void take(const std::filesystem::path& other);
  // Makes the store one plain file, which needs no writable folder to be read. Nothing can be added
  // then.
  void close();
  // Closes the store and gives a shard its final name.
  void finish();

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The path of a shard that is not finished.
std::filesystem::path unfinished(const std::filesystem::path& file);

// The result of a repair.
struct Repaired {
  std::filesystem::path damaged;        // where it is now
  std::int64_t points = 0, placed = 0;  // rows that were kept
};

// Repairs a damaged store: moves it aside, with its log, and makes a sound store of the points
// whose checksums show that this program wrote them, and of the positions that this very sweep gave
// them. A row of an older state of the file is kept, too: an id names question and program, so the
// row is no less right. If nothing can be read, the new store has no point. A shard is then
// unfinished. Returns nothing if the store is sound or does not exist. Throws Error, also for a
// sound store of another sweep, and then leaves the file as it was.
std::optional<Repaired> repair(const std::filesystem::path& file, const Identity& identity,
                               const std::vector<Column>& columns);

}  // namespace store
