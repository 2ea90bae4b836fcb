// SPDX-License-Identifier: Apache-2.0
// Values of a store: its identity, its rows, and the errors about it.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace store {

// A problem with a file that its owner must solve; the text gives advice.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The file does not hold what was written to it, or nothing shows that it does. Names the rows that
// are lost, the first twenty of them, and `repair`.
struct Damaged : Error {
  using Error::Error;
};

// A part of a sweep that is kept in a file of its own.
struct Shard {
  std::int64_t index = 1, count = 1;  // 1 ≤ index ≤ count
  friend bool operator==(const Shard&, const Shard&) = default;
};

// The sweep, or shard of one, whose points a store holds.
struct Identity {
  std::string program;      // its version: other versions forecast otherwise
  std::string definition;   // the sweep, written out
  std::string axes;         // varied paths and the making of points, in words
  std::string fingerprint;  // equal: the same points
  std::string folder;       // base of paths in the definition
  Shard shard;
  std::int64_t points = 0;  // number of points of a complete store
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
  std::vector<double> figures;                         // one for every column; or none
};

}  // namespace store
