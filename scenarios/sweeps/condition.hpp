// SPDX-License-Identifier: Apache-2.0
// A condition over values of a document, as people write it: "plan.tensor * plan.pipeline <= 64".
#pragma once
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace scenarios {

// The value of a path of the document, or of a part of a condition.
using Operand = std::variant<double, bool, std::string>;

// A mistake in a condition; `at` is its byte in the text.
struct ConditionError : std::invalid_argument {
  ConditionError(std::size_t where, const std::string& what)
      : std::invalid_argument(what), at(where) {}
  std::size_t at;
};

// A parsed condition of `or`, `and`, `not`, one comparison (< <= > >= == !=), + - * / %,
// parentheses; numbers, true, false, 'text' in quotes, and paths such as plan.tensor. Operators
// bind in this order, the weakest first: or, and, not, comparisons, + and -, * / and %, a sign.
class Condition {
 public:
  Condition() = default;  // always holds
  // Throws ConditionError for a text that is no condition. O(text).
  explicit Condition(std::string_view text);

  struct Path {
    std::string name;
    std::size_t at = 0;  // where it stands first
  };
  const std::vector<Path>& paths() const { return paths_; }  // each once, in order of appearance

  // Whether the condition holds with these values of its paths. Throws ConditionError if an
  // operation does not take its operands: arithmetic of text, a comparison of different kinds, a
  // division by zero.
  bool holds(std::span<const Operand> values) const;

 private:
  enum class Op {
    constant,
    path,
    either,
    both,
    negation,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    unequal,
    plus,
    minus,
    times,
    over,
    modulo,
    sign
  };
  struct Node {
    Op op = Op::constant;
    std::size_t at = 0;               // in the text
    std::size_t left = 0, right = 0;  // nodes; path: left counts paths
    Operand value = 0.0;              // constant
  };
  class Parser;
  Operand value_of(std::size_t node, std::span<const Operand> values) const;

  std::vector<Node> nodes_;  // the last is the whole; none: always holds
  std::vector<Path> paths_;
};

}  // namespace scenarios
