// SPDX-License-Identifier: Apache-2.0
// Mistakes of a file, with their places.
#pragma once
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
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

// True if the only mistakes of the file are features that are not supported yet.
bool only_unsupported(const Error& error);

// A place in a file: lines and columns count from one, columns in bytes.
struct Place {
  std::int64_t line = 1, column = 1;
  int set = 0;  // N of the `--set` that wrote it; 0: it stands in the file
  friend auto operator<=>(const Place&, const Place&) = default;
};

// Collects the mistakes of one file in any order. Keeps the first `most` in file order, those of
// `--set` behind them, and counts the others: people mend the first ones before they read further.
// After `enough` others it throws Error at the next, so that a file of nothing but mistakes costs
// neither time nor memory.
class Complaints {
 public:
  static constexpr std::size_t most = 100, enough = 100'000;

  explicit Complaints(std::string file) : file_(std::move(file)) {}

  const std::string& file() const { return file_; }
  bool any() const { return !found_.empty(); }
  std::vector<std::string> texts() const;      // in the order in which they were added
  std::string text_of(const Place& at) const;  // "FILE:LINE:COLUMN" or "--set N"
  // An empty place of the complaint is filled in; its text becomes one line of bounded length.
  void add(const Place& at, Complaint complaint);
  void add(const Place& at, std::string text) { add(at, Complaint{{}, std::move(text)}); }
  // Takes over those of a part of this file, each once, their texts through `renamed`.
  template <class Renamed>
  void adopt(const Complaints& part, Renamed&& renamed) {
    for (auto found : part.found_) {
      found.complaint.text = renamed(found.complaint.text);
      if (!holds(found.complaint)) keep(std::move(found));
    }
    left_out_ = std::max(left_out_, part.left_out_);
    all_unsupported_ = all_unsupported_ && part.all_unsupported_;
  }
  // Error with all of them, and "and N more mistakes" as the last. Starts over.
  void throw_if_any();

 private:
  struct Found {
    Place at;
    Complaint complaint;
  };
  bool holds(const Complaint& complaint) const;
  void keep(Found found);
  void leave_out(const Complaint& complaint);
  void leave_out_beyond_most();  // sorts and removes what is said twice

  std::string file_;
  std::vector<Found> found_;
  std::size_t left_out_ = 0;
  bool all_unsupported_ = true;  // all that are left out
  bool full_ = false;            // the first `most` of found_ are sorted and none is said twice
};

}  // namespace scenarios
