// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

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
  // `assigned`: the variables that the expression gives other values; null: it may give none.
  Expression(std::string_view text, const Names& names,
             std::map<std::string, std::int64_t>* assigned = nullptr)
      : text_(text), names_(names), assigned_(assigned) {}

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
    if (const auto name = assigned_name(); !name.empty()) return assignment(name, depth);
    const auto asked = binary(depth, 1);
    if (!asked || peek() != '?') return asked;
    if (depth >= deepest) return {};
    ++at_;
    const auto yes = part(*asked != 0, [&] { return choice(depth + 1); });
    if (!yes || peek() != ':') return {};
    ++at_;
    const auto no = part(*asked == 0, [&] { return choice(depth + 1); });
    if (!no) return {};
    return *asked != 0 ? yes : no;
  }

  // Reads a part that counts, or whose assignments are not carried out.
  template <typename Read>
  Number part(bool counts, const Read& read) {
    skipped_ += counts ? 0 : 1;
    const auto value = read();
    skipped_ -= counts ? 0 : 1;
    return value;
  }

  std::string_view name_at(std::size_t at) const {
    auto end = at;
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    const bool named = end > at && std::isdigit(static_cast<unsigned char>(text_[at])) == 0;
    return named ? text_.substr(at, end - at) : std::string_view();
  }

  // Returns the name that stands here before a sign of assignment; empty: another part.
  std::string_view assigned_name() {
    peek();
    const auto name = name_at(at_);
    if (assigned_ == nullptr || name.empty()) return {};
    const auto kept = std::exchange(at_, at_ + name.size());
    const bool assigns = !sign_of_assignment().empty();
    at_ = kept;
    return assigns ? name : std::string_view();
  }
  std::string_view sign_of_assignment() {
    constexpr std::array<std::string_view, 11> signs{
        "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "="};
    peek();
    const auto rest = text_.substr(at_);
    const auto* sign =
        std::ranges::find_if(signs, [&](std::string_view one) { return rest.starts_with(one); });
    return sign == signs.end() || rest.starts_with("==") ? std::string_view() : *sign;
  }

  // Reads "NAME += 2".
  Number assignment(std::string_view name, int depth) {
    if (depth >= deepest) return {};
    at_ += name.size();
    const auto sign = sign_of_assignment();
    at_ += sign.size();
    const auto right = choice(depth + 1);
    if (!right || sign == "=") return given(name, right);
    const auto before = value_of(name);
    return given(name,
                 before ? applied(*before, sign.substr(0, sign.size() - 1), *right) : Number());
  }

  Number value_of(std::string_view name) const {
    const std::string key(name);
    if (assigned_ != nullptr)
      if (const auto found = assigned_->find(key); found != assigned_->end()) return found->second;
    const auto value = names_(key);
    return value ? number_of(*value) : Number();
  }
  Number given(std::string_view name, Number value) {
    if (value && skipped_ == 0) (*assigned_)[std::string(name)] = *value;
    return value;
  }

  // Reads the name of "++NAME", whose sign is here.
  Number counted_before() {
    const auto sign = text_.substr(at_, 1);
    at_ += 2;
    peek();
    const auto name = name_at(at_);
    at_ += name.size();
    const auto before = value_of(name);
    return given(name, before ? applied(*before, sign, 1) : Number());
  }
  // Passes the sign of "NAME++", which returns the value before.
  Number counted_behind(std::string_view name, Number before) {
    const auto kept = at_;
    peek();
    const auto rest = text_.substr(at_);
    const bool counts = rest.starts_with("++") || rest.starts_with("--");
    if (assigned_ == nullptr || !counts) {
      at_ = kept;
      return before;
    }
    at_ += 2;
    if (!before || !given(name, applied(*before, rest.substr(0, 1), 1))) return {};
    return before;
  }

  // Whether this is --NAME or ++NAME, which a shell counts; before a number both are signs.
  bool counts() {
    peek();
    auto rest = text_.substr(at_);
    if (!rest.starts_with("--") && !rest.starts_with("++")) return false;
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
      const bool needed = !(next->sign == "&&" && *all == 0) && !(next->sign == "||" && *all != 0);
      const auto other =
          part(needed, [&] { return binary(depth + 1, next->strength + (to_the_right ? 0 : 1)); });
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
    if (counts()) return assigned_ == nullptr ? Number() : counted_before();
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
    const auto name = text_.substr(begin, at_ - begin);
    return name.ends_with(']') ? value_of(name) : counted_behind(name, value_of(name));
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
  std::map<std::string, std::int64_t>* assigned_;
  std::size_t at_ = 0;
  int skipped_ = 0;  // parts around whose value is not needed
};

}  // namespace

std::optional<std::int64_t> calculated(std::string_view text, const Names& value_of) {
  return Expression(text, value_of).read();
}

std::optional<Calculation> calculated_with_assignments(std::string_view text,
                                                       const Names& value_of) {
  Calculation all;
  const auto value = Expression(text, value_of, &all.assigned).read();
  if (!value) return {};
  all.value = *value;
  return all;
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
