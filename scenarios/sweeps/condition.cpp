// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweeps/condition.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace scenarios {

// Recursive descent, one function for each level of strength.
class Condition::Parser {
 public:
  Parser(std::string_view text, Condition& into) : text_(text), into_(into) {}

  void run() {
    either();
    skip_space();
    if (at_ < text_.size()) fail("expected an operator or the end here");
  }

 private:
  // Deeper than any condition that people write, and far from the end of the stack.
  static constexpr int deepest = 100;

  [[noreturn]] void fail(const std::string& what) const {
    const auto rest = std::string(text_.substr(at_, 20));
    throw ConditionError(
        at_, rest.empty() ? what + ", but the condition ends" : what + ": '" + rest + "'");
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  static bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  }
  // Returns the name, number or keyword here; empty if none begins.
  std::string_view word() {
    skip_space();
    auto end = at_;
    while (end < text_.size() && in_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(std::string_view keyword) {
    if (word() != keyword) return false;
    at_ += keyword.size();
    return true;
  }
  bool take(std::string_view sign) {
    skip_space();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  std::size_t add(Node node) {
    into_.nodes_.push_back(std::move(node));
    return into_.nodes_.size() - 1;
  }

  std::size_t either() {
    auto left = both();
    for (auto at = at_; take_word("or"); at = at_)
      left = add({.op = Op::either, .at = at, .left = left, .right = both()});
    return left;
  }
  std::size_t both() {
    auto left = negation();
    for (auto at = at_; take_word("and"); at = at_)
      left = add({.op = Op::both, .at = at, .left = left, .right = negation()});
    return left;
  }
  std::size_t negation() {
    skip_space();
    const auto at = at_;
    if (!take_word("not")) return comparison();
    if (++depth_ > deepest) fail("nested too deeply");
    const auto inner = negation();
    --depth_;
    return add({.op = Op::negation, .at = at, .left = inner});
  }
  std::size_t comparison() {
    constexpr std::array<std::pair<std::string_view, Op>, 6> signs{{{"<=", Op::less_equal},
                                                                    {">=", Op::greater_equal},
                                                                    {"==", Op::equal},
                                                                    {"!=", Op::unequal},
                                                                    {"<", Op::less},
                                                                    {">", Op::greater}}};
    auto left = sum();
    int compared = 0;
    skip_space();
    for (std::size_t i = 0; i < signs.size();) {
      const auto at = at_;
      const auto& [sign, op] = signs[i++];
      if (!take(sign)) continue;
      if (++compared > 1) {
        at_ = at;
        fail("two comparisons in a row; write a < b and b < c");
      }
      left = add({.op = op, .at = at, .left = left, .right = sum()});
      skip_space();
      i = 0;
    }
    if (take("=")) {
      --at_;
      fail("write == to compare");
    }
    return left;
  }
  std::size_t sum() {
    auto left = product();
    for (;;) {
      skip_space();
      const auto at = at_;
      if (take("+"))
        left = add({.op = Op::plus, .at = at, .left = left, .right = product()});
      else if (take("-"))
        left = add({.op = Op::minus, .at = at, .left = left, .right = product()});
      else
        return left;
    }
  }
  std::size_t product() {
    auto left = unary();
    for (;;) {
      skip_space();
      const auto at = at_;
      if (take("*"))
        left = add({.op = Op::times, .at = at, .left = left, .right = unary()});
      else if (take("/"))
        left = add({.op = Op::over, .at = at, .left = left, .right = unary()});
      else if (take("%"))
        left = add({.op = Op::modulo, .at = at, .left = left, .right = unary()});
      else
        return left;
    }
  }
  std::size_t unary() {
    skip_space();
    const auto at = at_;
    if (!take("-")) return primary();
    if (++depth_ > deepest) fail("nested too deeply");
    const auto inner = unary();
    --depth_;
    return add({.op = Op::sign, .at = at, .left = inner});
  }
  std::size_t primary() {
    skip_space();
    if (take("(")) {
      if (++depth_ > deepest) fail("nested too deeply");
      const auto inner = either();
      --depth_;
      if (!take(")")) fail("expected ')'");
      return inner;
    }
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) return quoted();
    const auto at = at_;
    if (take_word("true")) return add({.at = at, .value = true});
    if (take_word("false")) return add({.at = at, .value = false});
    const auto name = word();
    if (name.empty()) fail("expected a path, a number or '('");
    return std::isdigit(static_cast<unsigned char>(name.front())) ? number() : path(name);
  }
  std::size_t quoted() {
    const auto at = at_;
    const auto end = text_.find(text_[at], at + 1);
    if (end == std::string_view::npos) fail("a quote that never ends");
    at_ = end + 1;
    return add({.at = at, .value = std::string(text_.substr(at + 1, end - at - 1))});
  }
  std::size_t number() {
    double value = 0;
    const auto rest = text_.substr(at_);
    const auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    const auto length = static_cast<std::size_t>(end - rest.data());
    if (wrong != std::errc() || (length < rest.size() && in_word(rest[length])))
      fail("not a number; put words in quotes");
    const auto at = std::exchange(at_, at_ + length);
    return add({.at = at, .value = value});
  }
  std::size_t path(std::string_view name) {
    const auto top = name == "model" || name == "software" || name == "name";
    if (!top && name.find('.') == name.npos)
      fail("unknown name; a path has its section too (plan.tensor), a word stands in quotes");
    const auto at = std::exchange(at_, at_ + name.size());
    auto& paths = into_.paths_;
    const auto known = std::ranges::find(paths, name, &Path::name);
    const auto index = static_cast<std::size_t>(known - paths.begin());
    if (known == paths.end()) paths.push_back({std::string(name), at});
    return add({.op = Op::path, .at = at, .left = index});
  }

  std::string_view text_;
  Condition& into_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Condition::Condition(std::string_view text) {
  if (text.size() > 10'000) throw ConditionError(0, "longer than any condition");
  Parser(text, *this).run();
}

namespace {

std::string operand_words(const Operand& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, std::get<double>(value)).ptr;
  return {digits, end};
}

double operand_number(const Operand& value, std::size_t at) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  throw ConditionError(at, operand_words(value) + " is no number to calculate with");
}

bool truth_of(const Operand& value, std::size_t at) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  throw ConditionError(at, operand_words(value) + " is neither true nor false; compare it");
}

double nonzero(double divisor, std::size_t at) {
  if (divisor == 0) throw ConditionError(at, "division by zero");
  return divisor;
}

}  // namespace

Operand Condition::value_of(std::size_t index, std::span<const Operand> values) const {
  const auto& node = nodes_[index];
  if (node.op == Op::constant) return node.value;
  if (node.op == Op::path) return values[node.left];
  const auto left = value_of(node.left, values);
  const auto right = [&] { return value_of(node.right, values); };
  if (node.op == Op::negation) return !truth_of(left, node.at);
  if (node.op == Op::either) return truth_of(left, node.at) || truth_of(right(), node.at);
  if (node.op == Op::both) return truth_of(left, node.at) && truth_of(right(), node.at);
  if (node.op == Op::sign) return -operand_number(left, node.at);
  const auto other = right();
  if (node.op >= Op::less && node.op <= Op::unequal) {
    if (left.index() != other.index())
      throw ConditionError(node.at, operand_words(left) + " and " + operand_words(other) +
                                        " cannot be compared: they are of different kinds");
    if (node.op == Op::equal) return left == other;
    if (node.op == Op::unequal) return left != other;
    const double a = operand_number(left, node.at), b = operand_number(other, node.at);
    if (node.op == Op::less) return a < b;
    if (node.op == Op::less_equal) return a <= b;
    return node.op == Op::greater ? a > b : a >= b;
  }
  const double a = operand_number(left, node.at), b = operand_number(other, node.at);
  if (node.op == Op::plus) return a + b;
  if (node.op == Op::minus) return a - b;
  if (node.op == Op::times) return a * b;
  return node.op == Op::over ? a / nonzero(b, node.at) : std::fmod(a, nonzero(b, node.at));
}

bool Condition::holds(std::span<const Operand> values) const {
  return nodes_.empty() || truth_of(value_of(nodes_.size() - 1, values), 0);
}

}  // namespace scenarios
