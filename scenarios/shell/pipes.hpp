// SPDX-License-Identifier: Apache-2.0
// Private to the room: the copies of a shell that statements run in, told while they are read.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/shell/statements.hpp"

namespace scenarios {

// Whether anything is one of some words.
template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Words that begin and end a loop or a "case".
inline bool opens_block(std::string_view word) {
  constexpr std::array<std::string_view, 5> openers{"for", "while", "until", "case", "select"};
  return is_one_of(openers, word);
}
inline bool closes_block(std::string_view word) { return word == "done" || word == "esac"; }

// Tells which statements a shell runs in a copy of itself, because others run beside them.
class Pipes {
 public:
  enum class End { alone, pipe, beside };

  // The statement that is read ends so. Returns whether it is run apart.
  bool end(End how) {
    reads_ = std::exchange(piped_, how == End::pipe);
    beside_ = how != End::alone;
    return reads_ || beside_;
  }

  // The last statement is whole. If it ends a loop, a condition or commands in brackets that are
  // run apart, marks all of its statements.
  void add(std::vector<Statement>& all) {
    const auto& last = all.back();
    const auto& word = last.words.front().text;
    const bool reads = std::exchange(reads_, false), beside = std::exchange(beside_, false);
    if (last.branch || last.array || !last.defines.empty()) return;
    if (begins(word)) open_.push_back({all.size() - 1, brackets_.size(), reads});
    if (!ends(word) || open_.empty()) return;
    const auto [begin, around, fed] = open_.back();
    open_.pop_back();
    if (!fed && !beside) return;
    ++shells_;
    for (auto i = begin; i < all.size(); ++i) {
      all[i].grouped = true;
      auto& shells = all[i].shells;
      const auto outer = std::min(around, shells.size());
      shells.insert(shells.begin() + static_cast<std::ptrdiff_t>(outer), shells_);
    }
  }

  // Round brackets begin and end behind the last statement.
  void open_bracket() { brackets_.push_back(++shells_); }
  void close_bracket() {
    if (!brackets_.empty()) brackets_.pop_back();
  }
  // Marks a statement that is next: those in round brackets, and one beside which others run, have
  // shells of their own.
  void mark(Statement& statement) {
    statement.shells = brackets_;
    const bool parts = !statement.words.empty() &&
                       (begins(statement.words.front().text) || ends(statement.words.front().text));
    if (statement.subshell && !parts) statement.shells.push_back(++shells_);
    statement.subshell = statement.subshell || !brackets_.empty();
  }

 private:
  static bool begins(std::string_view word) {
    return word == "{" || word == "if" || opens_block(word);
  }
  static bool ends(std::string_view word) {
    return word == "}" || word == "fi" || closes_block(word);
  }

  bool piped_ = false;                   // the one before ends with a pipe
  bool reads_ = false, beside_ = false;  // of the statement that is read: see end()
  // Loops, conditions and curly brackets that are open: where they begin, how many round brackets
  // are around, and whether they read a pipe.
  struct Open {
    std::size_t begin = 0, around = 0;
    bool fed = false;
  };
  std::vector<Open> open_;
  std::vector<int> brackets_;  // shells of round brackets around
  int shells_ = 0;             // so far
};

}  // namespace scenarios
