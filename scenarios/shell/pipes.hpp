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

// Words that begin a loop, and that begin, part and end a block: a loop, a "case", a condition or
// commands in brackets.
inline bool is_loop(std::string_view word) {
  return is_one_of(std::array<std::string_view, 4>{"for", "while", "until", "select"}, word);
}
inline bool opens_block(std::string_view word) {
  return is_loop(word) || is_one_of(std::array<std::string_view, 4>{"{", "(", "if", "case"}, word);
}
inline bool parts_block(std::string_view word) {
  return is_one_of(std::array<std::string_view, 4>{"then", "else", "elif", "do"}, word);
}
inline bool closes_block(std::string_view word) {
  return is_one_of(std::array<std::string_view, 5>{"}", ")", "fi", "done", "esac"}, word);
}
inline bool is_reserved(std::string_view word) {
  return opens_block(word) || parts_block(word) || closes_block(word);
}

// Tells the lists and pipes that statements are in: which of them a shell runs in copies of itself,
// because others run beside them, and which end a pipe.
class Pipes {
 public:
  enum class End { alone, chained, pipe, beside };

  // "!" stands before the pipe that begins, or that goes on.
  void negate() { negated_ = !negated_; }

  // The last statement is whole, and ends so.
  void add(std::vector<Statement>& all, End how) {
    const auto at = all.size() - 1;
    const auto& last = all.back();
    const auto& word = last.words.front().text;
    const bool plain = last.array || !last.defines.empty();
    if (last.branch || (!plain && parts_block(word))) {
      blocks_.back().list = blocks_.back().link = none;
      return;
    }
    const bool closes = !plain && closes_block(word) && blocks_.size() > 1;
    if (closes) {
      negated_ = blocks_.back().negated;
      if (word == ")") mark(all, blocks_.back().begin);
      blocks_.pop_back();
    }
    auto& block = blocks_.back();
    if (block.list == none) block.list = at;
    if (block.link == none) block.link = at;
    all[block.link].reads = block.reads;
    if (!plain && opens_block(word))
      blocks_.push_back({.begin = at, .negated = std::exchange(negated_, false)});
    else if (last.defines.empty())
      finish(all, how);
  }

 private:
  static constexpr std::size_t none = std::size_t(-1);
  // Statements that belong together: where they, the list and the link that is read begin.
  struct Block {
    std::size_t begin = 0, list = none, link = none;
    bool reads = false;    // the link: what the one before it writes
    bool negated = false;  // the pipe that the block is in
  };

  // The last statement ends a link of a pipe, which may be the only one.
  void finish(std::vector<Statement>& all, End how) {
    auto& block = blocks_.back();
    const bool feeds = how == End::pipe;
    all.back().feeds = feeds;
    if (!feeds) all.back().negated = std::exchange(negated_, false);
    if (feeds || block.reads) mark(all, block.link, !feeds);
    block.reads = feeds;
    block.link = none;
    all.back().beside = how == End::beside;
    if (how == End::beside) mark(all, block.list);
    if (how == End::beside || how == End::alone) block.list = none;
  }

  // Another shell runs the statements from `begin` on.
  void mark(std::vector<Statement>& all, std::size_t begin, bool last_link = false) {
    constexpr std::size_t deepest = 64;  // blocks inside of each other
    if (blocks_.size() > deepest) return;
    ++shells_;
    const auto shell = last_link ? -shells_ : shells_;
    for (auto i = begin; i < all.size(); ++i) all[i].shells.insert(all[i].shells.begin(), shell);
  }

  std::vector<Block> blocks_{Block()};  // that are open, the innermost last
  bool negated_ = false;
  int shells_ = 0;  // so far
};

}  // namespace scenarios
