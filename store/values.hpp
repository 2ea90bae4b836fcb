// SPDX-License-Identifier: Apache-2.0
// What a store is of, what is put into it, and what may be wrong with it.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace store {

// Something about a file that its owner must see to; says what to do.
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

}  // namespace store
