// SPDX-License-Identifier: Apache-2.0
// Sums of a shell: operators bind as in C, and what cannot be told has no value.
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "scenarios/shell/arithmetic.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"

namespace arithmetic_spec {

namespace {

using Names = std::map<std::string, std::string>;

std::optional<std::string> text_of(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

const Names three_names{{"A", "3"}, {"B", "-8"}, {"E", ""}, {"W", "word"}, {"M[1]", "5"}};

std::string shown(std::optional<std::int64_t> value) {
  return value ? std::to_string(*value) : "nothing";
}

std::string value_of(const std::string& text) {
  return shown(scenarios::calculated(
      text, [](const std::string& name) { return text_of(three_names, name); }));
}

struct Case {
  const char *text, *value;
};

void check(const std::vector<Case>& cases) {
  for (const auto& one : cases) {
    INFO(one.text);
    CHECK(value_of(one.text) == one.value);
  }
}

// An expression with as few brackets as its operators need, and its value; `strength`: of the
// operator that joins its parts.
struct Drawn {
  std::string text;
  std::int64_t value;
  int strength;
};

constexpr int of_number = 20;

std::string in_brackets(const Drawn& part, int least) {
  return part.strength < least ? "(" + part.text + ")" : part.text;
}

std::int64_t joined(std::int64_t a, const std::string& sign, std::int64_t b) {
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (sign == "/") return a / b;
  if (sign == "%") return a % b;
  if (sign == "<") return a < b ? 1 : 0;
  if (sign == ">=") return a >= b ? 1 : 0;
  if (sign == "==") return a == b ? 1 : 0;
  if (sign == "&") return a & b;
  if (sign == "^") return a ^ b;
  if (sign == "|") return a | b;
  if (sign == "&&") return a != 0 && b != 0 ? 1 : 0;
  return a != 0 || b != 0 ? 1 : 0;
}

Drawn drawn(std::mt19937& random, int depth) {
  const auto below = [&](unsigned n) { return random() % n; };
  if (depth == 0 || below(4) == 0) {
    const auto number = static_cast<std::int64_t>(below(9));
    return {std::to_string(number), number, of_number};
  }
  static const std::vector<std::pair<std::string, int>> signs{
      {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6}, {"<", 7},
      {">=", 7}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
  const auto& [sign, strength] = signs[below(static_cast<unsigned>(signs.size()))];
  const auto left = drawn(random, depth - 1);
  auto right = drawn(random, depth - 1);
  if ((sign == "/" || sign == "%") && right.value == 0) right = {"7", 7, of_number};
  const std::string blank = below(2) == 0 ? " " : "";
  return {in_brackets(left, strength) + blank + sign + blank + in_brackets(right, strength + 1),
          joined(left.value, sign, right.value), strength};
}

}  // namespace

TEST_CASE("operators of a sum bind as strongly as in C, equal ones from the left") {
  check({{"1+2*3", "7"},
         {"(1+2)*3", "9"},
         {"20/3/2", "3"},
         {"20-3-2", "15"},
         {"7%4*3", "9"},
         {"1<<2+1", "8"},  // the sum first
         {"1|2&2", "3"},
         {"6^3|8", "13"},
         {"5&6==6", "1"},  // the comparison first
         {"1<2==1", "1"},
         {"3>2>1", "0"},  // 1 > 1
         {"0||1&&0", "0"},
         {"2**3**2", "512"},  // from the right
         {"2*3**2", "18"},
         {"1?2:0?3:4", "2"},
         {"0?2:0?3:4", "4"},
         {" 1 +\t2\n", "3"}});
}

TEST_CASE("signs before a number bind before all operators of two") {
  check({{"-3+5", "2"},
         {"5- -3", "8"},
         {"!0+1", "2"},
         {"!5", "0"},
         {"~0", "-1"},
         {"~5&7", "2"},
         {"- -4", "4"},
         {"--4", "4"},  // two signs, as no name follows
         {"-2**2", "4"}});
}

TEST_CASE("divisions cut towards zero, and remainders have the sign of what is divided") {
  check({{"-7/2", "-3"}, {"7/-2", "-3"}, {"-7%3", "-1"}, {"7%-3", "1"}});
}

TEST_CASE("numbers have the base that they are written in") {
  check({{"010", "8"},
         {"0x1F", "31"},
         {"0XfF", "255"},
         {"2#101", "5"},
         {"16#ff", "255"},
         {"10#08", "8"},
         {"36#z", "35"},
         {"08", "nothing"},
         {"2#2", "nothing"},
         {"1#0", "nothing"},
         {"37#1", "nothing"},
         {"0x", "nothing"},
         {"12ab", "nothing"}});
}

TEST_CASE("a name in a sum stands for its number, a name without one makes the sum unknown") {
  check({{"A", "3"},
         {"A+A*2", "9"},
         {"-A", "-3"},
         {"B", "-8"},
         {"A-B", "11"},
         {"M[1]*2", "10"},
         {"M[2]", "nothing"},
         {"W", "nothing"},
         {"E", "nothing"},
         {"C", "nothing"},
         {"0*C", "nothing"}});
}

TEST_CASE("a sum that a shell refuses, or that does not fit 64 bits, has no value") {
  check({{"", "nothing"},
         {"1+", "nothing"},
         {"(1", "nothing"},
         {"1)", "nothing"},
         {"1 2", "nothing"},
         {"1?2", "nothing"},
         {"4/0", "nothing"},
         {"4%0", "nothing"},
         {"2**-1", "nothing"},
         {"9223372036854775807", "9223372036854775807"},
         {"9223372036854775807+1", "nothing"},
         {"3037000500*3037000500", "nothing"},
         {"2**62", "4611686018427387904"},
         {"2**64", "nothing"},
         {"0**99999999999", "0"},
         {"(-1)**99999999999", "-1"},
         {"1<<63", "nothing"},
         {"-1<<1", "nothing"},
         {"A++", "nothing"},
         {"A=4", "nothing"}});
}

TEST_CASE("a sum of 32 brackets inside of each other is calculated, and one of more is not") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  CHECK(value_of(nested(32)) == "1");
  CHECK(value_of(nested(33)) == "nothing");
  CHECK(value_of(nested(100'000)) == "nothing");
  CHECK(value_of(std::string(100'000, '-') + "1") == "nothing");
}

TEST_CASE("assignments in a sum give names values, in the order in which they stand") {
  const auto after = [](const std::string& text) {
    const auto all = scenarios::calculated_with_assignments(
        text, [](const std::string& name) { return text_of(three_names, name); });
    if (!all) return std::string("nothing");
    std::string shown = std::to_string(all->value);
    for (const auto& [name, value] : all->assigned)
      shown += " " + name + "=" + std::to_string(value);
    return shown;
  };
  const std::vector<Case> cases{
      {"A = 4", "4 A=4"},    {"A += 2", "5 A=5"},        {"A -= B", "11 A=11"},
      {"A *= A", "9 A=9"},   {"A <<= 2", "12 A=12"},     {"A %= 2", "1 A=1"},
      {"A |= 4", "7 A=7"},   {"X = Y = 2", "2 X=2 Y=2"}, {"A++", "3 A=4"},
      {"++A", "4 A=4"},      {"A--", "3 A=2"},           {"--A * 2", "4 A=2"},
      {"A++ + A", "7 A=4"},  {"X = A == 3", "1 X=1"},    {"A == 3 ? (X = 1) : (Y = 2)", "1 X=1"},
      {"0 && (X = 1)", "0"}, {"1 || (X = 1)", "1"},      {"1 && (X = 5)", "1 X=5"},
      {"X += 1", "nothing"},  // X has no value
      {"W++", "nothing"},    {"3 = 4", "nothing"},       {"A + 1", "4"}};
  for (const auto& one : cases) {
    INFO(one.text);
    CHECK(after(one.text) == one.value);
  }
}

TEST_CASE("a word of let or of double brackets is an assignment, or none") {
  const auto read = [](const std::string& word) {
    const auto one = scenarios::arithmetic_assignment(word);
    return one.name + "<-" + one.value;
  };
  const std::vector<Case> cases{{"X=2*Y", "X<-2*Y"},
                                {"X = 2", "X<- 2"},
                                {"((X = 2))", "X<- 2"},
                                {"\"X=3\"", "X<-3"},
                                {"X++", "X<-X + 1"},
                                {"((X--))", "X<-X - 1"},
                                {"X+=2+3", "X<-X + (2+3)"},
                                {"X*=2", "X<-X * (2)"},
                                {"X==2", "<-"},
                                {"X<=2", "<-"},
                                {"2=X", "<-"},
                                {"X", "<-"},
                                {"", "<-"}};
  for (const auto& one : cases) {
    INFO(one.text);
    CHECK(read(one.text) == one.value);
  }
}

TEST_CASE("names that a word assigns in another way are all that it has") {
  const auto names = [](const std::string& word) {
    std::string all;
    for (const auto& name : scenarios::assigned_otherwise(word)) all += name + " ";
    return all;
  };
  const std::vector<Case> cases{
      {"X = Y", ""},       {"X++", ""},       {"X == Y", ""},        {"X <= Y", ""},
      {"X = Y++", "X Y "}, {"X <<= 1", "X "}, {"X = Y = 3", "X Y "}, {"A ? B=1 : C", "A B C "},
      {"--X", "X "}};
  for (const auto& one : cases) {
    INFO(one.text);
    CHECK(names(one.text) == one.value);
  }
}

TEST_CASE("a drawn sum has the value of its parts, with brackets where C needs them") {
  std::mt19937 random(26);
  for (unsigned i = 0; i < 4'000 / tests::fewer; ++i) {
    const auto one = drawn(random, 5);
    INFO(one.text);
    CHECK(value_of(one.text) == std::to_string(one.value));
  }
}

}  // namespace arithmetic_spec
