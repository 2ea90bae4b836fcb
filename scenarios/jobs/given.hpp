// SPDX-License-Identifier: Apache-2.0
// The arguments that a job gives, by name, each read in the type that its rule expects.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

class Given {
 public:
  // Complains of arguments with which no forecast is possible, or that only a shell can tell; the
  // objects referred to must outlive this.
  Given(const ArgumentTable& table, const std::vector<JobArgument>& arguments,
        Complaints& complaints);

  // Returns the last argument of that name that is not off, or null. Rules ask only by names of the
  // table.
  const JobArgument* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // The last argument of that name, even if it is off, or null.
  const JobArgument* mentioned(std::string_view name) const;

  // Return the value, or nothing if the argument is not given or its value is wrong, after a
  // complaint.
  std::optional<std::int64_t> whole(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<std::string> word(std::string_view name) const;
  std::vector<std::string> words(std::string_view name) const;  // split at blanks; brackets go

  // Whether the argument says yes: without a value, or by a word of `yes_or_no`; `fallback` if it
  // is not given, no if it is off. Complains of another word.
  bool yes(std::string_view name, bool fallback = false) const;

  // A degree of parallelism from 1 to 1,000,000; 1 if it is not given, or after a complaint.
  std::int64_t degree(std::string_view name) const;

  std::int64_t whole_or(std::string_view name, std::int64_t fallback) const {
    return whole(name).value_or(fallback);
  }
  std::string word_or(std::string_view name, std::string_view fallback) const {
    return word(name).value_or(std::string(fallback));
  }

  void complain(std::string_view name, const std::string& text) const { say(name, text, false); }
  // Complains of an argument that is well formed and cannot be forecast.
  void refuse(std::string_view name, const std::string& text) const { say(name, text, true); }

  // An argument that the framework does not have, and the name that it may have been meant to be.
  struct Misspelt {
    const JobArgument* argument = nullptr;
    std::string meant;
  };
  // Returns the first misspelt argument whose meant name is a word of the text; none: null.
  Misspelt misspelt_in(std::string_view text) const;
  // Returns the name of the table that is nearest to an unknown one; empty: none is near. O(names
  // of the table) when a name is first asked for.
  const std::string& meant_by(std::string_view name) const;

  // Returns the place in the job's file of the argument, or of the name of the file that has it;
  // the file's beginning where neither stands there.
  Place place_of(std::string_view name) const;
  // Returns "FILE:LINE:COLUMN" of an argument in a file that the job names; empty: it is in none.
  std::string elsewhere(std::string_view name) const;
  std::string text_of(std::string_view name) const;  // "--num-layers 32", empty: not given
  const ArgumentTable& table() const { return table_; }

 private:
  void say(std::string_view name, const std::string& text, bool unsupported) const;

  const ArgumentTable& table_;
  Complaints& complaints_;
  std::map<std::string, const JobArgument*, std::less<>> last_;
  mutable std::map<std::string, std::string, std::less<>> meant_;  // by unknown name, once asked
};

// Whether the argument's value turns it off: false, 0, none or nothing.
bool is_off(const JobArgument& argument);

// Returns the place of the argument, "FILE:LINE:COLUMN", in `file` or in the file that it has of
// its own.
std::string place_text(const JobArgument& argument, const std::string& file);

// Whether this is the argument of that name and is not off.
bool gives(const JobArgument& argument, std::string_view name);

// Returns the argument as the job writes it, "--num-layers 32", with "…" for values that need a
// shell.
std::string written(const JobArgument& argument);

}  // namespace scenarios
