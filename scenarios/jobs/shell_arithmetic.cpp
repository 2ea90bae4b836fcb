// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/shell_arithmetic.hpp"

#include <cctype>
#include <charconv>
#include <limits>

namespace scenarios {
namespace {

using Number = std::optional<std::int64_t>;
using Names = std::function<std::optional<std::string>(const std::string&)>;

Number number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc() || stop != text.data() + text.size()) return {};
  return number;
}

class Sum {
 public:
  Sum(std::string_view text, const Names& names) : text_(text), names_(names) {}

  Number read() {
    const auto all = sum(0);
    return peek() == '\0' && at_ == text_.size() ? all : std::nullopt;
  }

 private:
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Number sum(int depth) {
    auto all = product(depth);
    while (all && (peek() == '+' || peek() == '-')) {
      const bool minus = text_[at_++] == '-';
      const auto next = product(depth);
      std::int64_t both = 0;
      const bool beyond = !next || (minus ? __builtin_sub_overflow(*all, *next, &both)
                                          : __builtin_add_overflow(*all, *next, &both));
      all = beyond ? Number() : both;
    }
    return all;
  }

  Number product(int depth) {
    auto all = factor(depth);
    while (all && (peek() == '*' || peek() == '/' || peek() == '%')) {
      const char sign = text_[at_++];
      const auto next = factor(depth);
      all = next ? applied(*all, sign, *next) : Number();
    }
    return all;
  }

  static Number applied(std::int64_t a, char sign, std::int64_t b) {
    std::int64_t both = 0;
    if (sign == '*') return __builtin_mul_overflow(a, b, &both) ? Number() : both;
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return {};
    return sign == '/' ? a / b : a % b;
  }

  Number factor(int depth) {
    constexpr int deepest = 32;
    if (peek() == '(') {
      ++at_;
      const auto inside = depth < deepest ? sum(depth + 1) : Number();
      if (peek() != ')') return {};
      ++at_;
      return inside;
    }
    if (peek() == '-') {
      ++at_;
      const auto next = depth < deepest ? factor(depth + 1) : Number();
      return next ? applied(*next, '*', -1) : Number();
    }
    const auto begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const auto word = text_.substr(begin, at_ - begin);
    if (word.empty()) return {};
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0)  // 010 is 8 in a shell
      return word.size() > 1 && word.front() == '0' ? Number() : number_of(word);
    const auto value = names_(std::string(word));
    return value ? number_of(*value) : Number();
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::int64_t> calculated(std::string_view sum, const Names& value_of) {
  return Sum(sum, value_of).read();
}

}  // namespace scenarios
