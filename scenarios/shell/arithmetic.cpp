// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

namespace scenarios {
namespace {

using Number = std::optional<std::int64_t>;
using Names = std::function<std::optional<std::string>(const std::string&)>;

// Returns the number of a text: 010 is 8 and 0x10 is 16, as in C.
Number number_of(std::string_view text) {
  const bool minus = text.starts_with('-');
  auto digits = text.substr(minus ? 1 : 0);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X"))
    base = 16;
  else if (digits.size() > 1 && digits.front() == '0')
    base = 8;
  digits.remove_prefix(base == 16 ? 2 : 0);
  std::int64_t number = 0;
  const auto [stop, wrong] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (wrong != std::errc() || stop != digits.data() + digits.size() || digits.starts_with('-'))
    return {};
  return minus ? -number : number;
}

// Operators of two operands; the stronger ones bind first.
struct Operator {
  std::string_view sign;
  int strength;
};
// If one sign begins another, the longer one comes first.
constexpr std::array<Operator, 19> operators{{{"||", 1},
                                              {"&&", 2},
                                              {"|", 3},
                                              {"^", 4},
                                              {"&", 5},
                                              {"==", 6},
                                              {"!=", 6},
                                              {"<<", 8},
                                              {">>", 8},
                                              {"<=", 7},
                                              {">=", 7},
                                              {"<", 7},
                                              {">", 7},
                                              {"+", 9},
                                              {"-", 9},
                                              {"**", 11},
                                              {"*", 10},
                                              {"/", 10},
                                              {"%", 10}}};

Number power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return {};
  std::int64_t all = 1;
  // Other bases overflow 64 bits after at most 63 multiplications, which bounds the loop.
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(all, base, &all)) return {};
  return all;
}

Number shifted(std::int64_t a, std::string_view sign, std::int64_t b) {
  constexpr std::int64_t widest = 62;
  if (b < 0 || b > widest || a < 0) return {};
  if (sign == ">>") return a >> b;
  std::int64_t all = 0;
  return __builtin_mul_overflow(a, std::int64_t{1} << b, &all) ? Number() : all;
}

Number applied(std::int64_t a, std::string_view sign, std::int64_t b) {
  std::int64_t both = 0;
  if (sign == "+") return __builtin_add_overflow(a, b, &both) ? Number() : both;
  if (sign == "-") return __builtin_sub_overflow(a, b, &both) ? Number() : both;
  if (sign == "*") return __builtin_mul_overflow(a, b, &both) ? Number() : both;
  if (sign == "**") return power(a, b);
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<=") return a <= b;
  if (sign == ">=") return a >= b;
  if (sign == "<") return a < b;
  if (sign == ">") return a > b;
  if (sign == "&&") return a != 0 && b != 0;
  if (sign == "||") return a != 0 || b != 0;
  if (sign == "|") return a | b;
  if (sign == "^") return a ^ b;
  if (sign == "&") return a & b;
  if (sign == "<<" || sign == ">>") return shifted(a, sign, b);
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return {};
  return sign == "/" ? a / b : a % b;
}

class Expression {
 public:
  Expression(std::string_view text, const Names& names) : text_(text), names_(names) {}

  Number read() {
    const auto all = choice(0);
    return peek() == '\0' && at_ == text_.size() ? all : std::nullopt;
  }

 private:
  static constexpr int deepest = 32;

  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // Reads A ? B : C.
  Number choice(int depth) {
    const auto asked = binary(depth, 1);
    if (!asked || peek() != '?') return asked;
    if (depth >= deepest) return {};
    ++at_;
    const auto yes = choice(depth + 1);
    if (!yes || peek() != ':') return {};
    ++at_;
    const auto no = choice(depth + 1);
    if (!no) return {};
    return *asked != 0 ? yes : no;
  }

  // Whether this is --NAME, which a shell counts down; before a number both are signs.
  bool decrements() {
    peek();
    auto rest = text_.substr(at_);
    if (!rest.starts_with("--")) return false;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t", 2), rest.size()));
    return !rest.empty() &&
           (std::isalpha(static_cast<unsigned char>(rest.front())) != 0 || rest.front() == '_');
  }

  const Operator* next_operator() {
    peek();
    const auto rest = text_.substr(at_);
    const auto* found = std::ranges::find_if(
        operators, [&](const Operator& one) { return rest.starts_with(one.sign); });
    return found == operators.end() ? nullptr : found;
  }

  // Reads operands joined by operators of at least this strength.
  Number binary(int depth, int strength) {
    auto all = operand(depth);
    for (const auto* next = next_operator(); all && next && next->strength >= strength;
         next = next_operator()) {
      at_ += next->sign.size();
      if (depth >= deepest) return {};
      const bool to_the_right = next->sign == "**";  // 2 ** 3 ** 2 is 2 ** 9
      const auto other = binary(depth + 1, next->strength + (to_the_right ? 0 : 1));
      all = other ? applied(*all, next->sign, *other) : Number();
    }
    return all;
  }

  Number operand(int depth) {
    if (peek() == '(') {
      ++at_;
      const auto inside = depth < deepest ? choice(depth + 1) : Number();
      if (peek() != ')') return {};
      ++at_;
      return inside;
    }
    if (decrements()) return {};
    if (const char sign = peek(); sign == '-' || sign == '!' || sign == '~') {
      ++at_;
      const auto next = depth < deepest ? operand(depth + 1) : Number();
      if (!next) return {};
      return sign == '-' ? applied(0, "-", *next) : sign == '~' ? ~*next : Number(*next == 0);
    }
    const auto begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const auto word = text_.substr(begin, at_ - begin);
    if (word.empty()) return {};
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0)
      return at_ < text_.size() && text_[at_] == '#' ? number_of_base(word) : number_of(word);
    if (at_ < text_.size() && text_[at_] == '[')
      at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
    const auto value = names_(std::string(text_.substr(begin, at_ - begin)));
    return value ? number_of(*value) : Number();
  }

  // Reads the digits behind "10#".
  Number number_of_base(std::string_view base) {
    const auto begin = ++at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const auto digits = text_.substr(begin, at_ - begin);
    const auto radix = number_of(base);
    constexpr std::int64_t most = 36;
    if (!radix || *radix < 2 || *radix > most) return {};
    std::int64_t number = 0;
    const auto* end = digits.data() + digits.size();
    const auto [stop, wrong] =
        std::from_chars(digits.data(), end, number, static_cast<int>(*radix));
    return wrong == std::errc() && stop == end ? Number(number) : Number();
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::int64_t> calculated(std::string_view text, const Names& value_of) {
  return Expression(text, value_of).read();
}

ArithmeticAssignment arithmetic_assignment(std::string_view word) {
  constexpr std::string_view around = " \t\"'()", blanks = " \t";
  if (word.starts_with("((") && word.ends_with("))")) word = word.substr(2, word.size() - 4);
  const auto begin = std::min(word.find_first_not_of(around), word.size());
  auto end = begin;
  while (end < word.size() &&
         (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_'))
    ++end;
  const std::string name(word.substr(begin, end - begin));
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return {};
  const auto sign_at = std::min(word.find_first_not_of(blanks, end), word.size());
  auto rest = word.substr(sign_at);
  while (!rest.empty() && (rest.back() == '"' || rest.back() == '\'')) rest.remove_suffix(1);
  if (rest.starts_with("++") || rest.starts_with("--"))
    return {name, name + " " + std::string(1, rest[0]) + " 1"};
  if (rest.starts_with('=') && !rest.starts_with("==")) return {name, std::string(rest.substr(1))};
  constexpr std::string_view signs = "+-*/%";
  if (rest.size() > 1 && signs.find(rest[0]) != signs.npos && rest[1] == '=')
    return {name, name + " " + rest[0] + " (" + std::string(rest.substr(2)) + ")"};
  return {};
}

std::vector<std::string> assigned_otherwise(std::string_view word) {
  const auto one = arithmetic_assignment(word);
  const std::string_view rest = one.name.empty() ? word : std::string_view(one.value);
  const bool counts = one.value != one.name + " + 1" && one.value != one.name + " - 1" &&
                      (rest.find("++") != rest.npos || rest.find("--") != rest.npos);
  bool assigns = counts;
  constexpr std::string_view compares = "=!<>";
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] != '=') continue;
    const bool shifted = i > 1 && (rest.substr(i - 2, 2) == "<<" || rest.substr(i - 2, 2) == ">>");
    const bool compared = (i > 0 && compares.find(rest[i - 1]) != compares.npos) ||
                          (i + 1 < rest.size() && rest[i + 1] == '=');
    assigns = assigns || shifted || !compared;
  }
  std::vector<std::string> names;
  if (!assigns) return names;
  for (std::size_t i = 0; i < word.size();) {
    auto end = i;
    while (end < word.size() &&
           (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_'))
      ++end;
    if (end > i && std::isdigit(static_cast<unsigned char>(word[i])) == 0)
      names.emplace_back(word.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return names;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data(), end, number);
  constexpr std::int64_t most = 1'000'000'000;
  return wrong == std::errc() && stop == end && number < most && number > -most
             ? std::optional(number)
             : std::nullopt;
}

}  // namespace scenarios
