// SPDX-License-Identifier: Apache-2.0
// What is wrong with a file, said where it stands.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace scenarios {

struct Complaint {
  std::string place;         // "FILE:LINE:COLUMN", "FILE" or "--set N"
  std::string text;          // "path: what is wrong; what was expected; did you mean 'X'?"
  bool unsupported = false;  // well formed, but beyond what this version simulates
  friend bool operator==(const Complaint&, const Complaint&) = default;
};

// All mistakes of one file, in file order; what() has one line for each.
struct Error : std::runtime_error {
  explicit Error(std::vector<Complaint> all);
  std::vector<Complaint> complaints;  // never empty
};

// True when nothing is wrong with the file except that it asks for what is not supported yet.
bool only_unsupported(const Error& error);

}  // namespace scenarios
