// SPDX-License-Identifier: Apache-2.0
// Finished points of a sweep, in one SQLite file that survives whatever happens to its writer.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace store {

// Something about a file that its owner must see to; says what to do.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A part of a sweep that is kept in a file of its own.
struct Shard {
  std::int64_t index = 1, count = 1;  // 1 ≤ index ≤ count
  friend bool operator==(const Shard&, const Shard&) = default;
};

// What a store is of.
struct Identity {
  std::string program;      // its version: other versions forecast otherwise
  std::string definition;   // the sweep, written out
  std::string axes;         // what is varied, and how points are made; in words
  std::string fingerprint;  // of all that decides the points; equal: the same points
  std::string folder;       // that paths in the definition start from
  Shard shard;
  std::int64_t points = 0;  // that make it complete
};

// A figure that has a column of its own, named alike.
struct Column {
  std::string name;
  bool whole = false;  // else a real number
};

struct Row {
  std::int64_t position = 0;                           // on the grid
  std::string id;                                      // names question and program
  std::string axes, status, reason, scenario, result;  // texts; axes, scenario, result: JSON
  std::vector<double> figures;                         // of every column; or none at all
};

// Tables: points (one row for each id), places (which point is at which position), meta; and the
// view `sweep`, which joins them. Not for threads to share.
class Store {
 public:
  // For writing: makes the file, or goes on with what it holds. One process at a time; a shard's
  // file ends in .part until it is finished, and a file system that other machines share will do.
  // A store of the same axes whose values have changed keeps its points, to be placed again.
  // Throws Error.
  static Store writer(const std::filesystem::path& file, const Identity& identity,
                      const std::vector<Column>& columns);
  // For reading, also while another process writes. Throws Error.
  static Store reader(const std::filesystem::path& file);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const Identity& identity() const;
  std::vector<Column> columns() const;

  std::int64_t placed() const;  // positions with a point
  void for_each_place(const std::function<void(std::int64_t)>& visit) const;
  std::vector<std::string> unplaced() const;            // ids of points at no position, sorted
  std::optional<Row> row(std::int64_t position) const;  // without scenario
  std::vector<std::pair<std::string, std::int64_t>> counts() const;  // by status, sorted
  // The position with most of that figure among those of this status, the first of equals.
  std::optional<std::int64_t> most(const std::string& column, const std::string& status) const;

  // All or none, and on the disk when it returns. Points that are known are only placed. Throws
  // Error.
  void add(std::span<const Row> rows);
  // Everything of another store of the same sweep. Throws Error, and then has taken nothing.
  void take(const std::filesystem::path& other);
  // Makes it one plain file, which needs no writable folder to be read. Nothing can be added then.
  void close();
  // The same, and gives a shard its final name.
  void finish();

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Where a shard is written until it is finished.
std::filesystem::path unfinished(const std::filesystem::path& file);

}  // namespace store
