// SPDX-License-Identifier: Apache-2.0
// Conditions over paths: their meaning, and the mistakes of conditions that have none.
#include <random>

#include "scenarios/sweeps/condition.hpp"
#include "tests/catch.hpp"

namespace condition_spec {

namespace {

using scenarios::Condition;
using scenarios::ConditionError;
using scenarios::Operand;

bool holds(const std::string& text, const std::vector<Operand>& values = {}) {
  return Condition(text).holds(values);
}

// The mistake in a condition, as "at 5: unknown path", or "none".
std::string mistake(const std::string& text, const std::vector<Operand>& values = {}) {
  try {
    holds(text, values);
  } catch (const ConditionError& wrong) {
    return "at " + std::to_string(wrong.at) + ": " + wrong.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("arithmetic binds as in school, comparisons weaker, then not, and, or") {
  CHECK(holds("1 + 2 * 3 == 7"));
  CHECK(holds("(1 + 2) * 3 == 9"));
  CHECK(holds("7 - 2 - 1 == 4"));
  CHECK(holds("8 / 4 / 2 == 1"));
  CHECK(holds("7 % 4 == 3"));
  CHECK(holds("-2 * -3 == 6"));
  CHECK(holds("1 == 2 or 1 < 2 and 2 < 3"));
  CHECK_FALSE(holds("(1 == 2 or 1 < 2) and 3 < 2"));
  CHECK(holds("not 1 > 2 and not false"));
  CHECK(holds("not (1 < 2 and 2 < 1)"));
  CHECK(holds("1e-3 < 0.0011"));
  CHECK(holds("'zb-v' == \"zb-v\" and 'a' != 'b'"));
}

TEST_CASE("paths stand for values, each asked for once, in order of appearance") {
  const Condition condition("plan.tensor * plan.pipeline <= 64 and plan.tensor > 1");
  REQUIRE(condition.paths().size() == 2);
  CHECK(condition.paths()[0].name == "plan.tensor");
  CHECK(condition.paths()[1].name == "plan.pipeline");
  CHECK(condition.paths()[1].at == 14);
  CHECK(condition.holds(std::vector<Operand>{8.0, 8.0}));
  CHECK_FALSE(condition.holds(std::vector<Operand>{8.0, 9.0}));
  CHECK_FALSE(condition.holds(std::vector<Operand>{1.0, 9.0}));
  CHECK(holds("plan.schedule != 'gpipe' and plan.sequence_parallel",
              {Operand(std::string("1f1b")), Operand(true)}));
}

TEST_CASE("an empty condition holds everywhere") { CHECK(Condition().holds({})); }

TEST_CASE("the operand after `and` or `or` is not evaluated where it changes nothing") {
  CHECK_FALSE(holds("false and 1 / 0 > 1"));
  CHECK(holds("true or 1 / 0 > 1"));
}

TEST_CASE("a text that is no condition is refused where it goes wrong") {
  CHECK(mistake("") == "at 0: expected a path, a number or '(', but the condition ends");
  CHECK(mistake("1 <") == "at 3: expected a path, a number or '(', but the condition ends");
  CHECK(mistake("(1 < 2") == "at 6: expected ')', but the condition ends");
  CHECK(mistake("1 < 2)") == "at 5: expected an operator or the end here: ')'");
  CHECK(mistake("1 < 2 < 3") == "at 6: two comparisons in a row; write a < b and b < c: '< 3'");
  CHECK(mistake("plan.tensor = 8") == "at 12: write == to compare: '= 8'");
  CHECK(mistake("tensor <= 8") ==
        "at 0: unknown name; a path has its section too (plan.tensor), a word stands in quotes: "
        "'tensor <= 8'");
  CHECK(mistake("plan.schedule == 1f1b") == "at 17: not a number; put words in quotes: '1f1b'");
  CHECK(mistake("plan.schedule == 'gpipe") == "at 17: a quote that never ends: ''gpipe'");
  CHECK(mistake("1 & 2") == "at 2: expected an operator or the end here: '& 2'");
  CHECK(mistake(std::string(200, '(')).find("nested too deeply") != std::string::npos);
  CHECK(mistake(std::string(20'000, '1')) == "at 0: longer than any condition");
}

TEST_CASE("operations refuse operands of another kind") {
  CHECK(mistake("1") == "at 0: 1 is neither true nor false; compare it");
  CHECK(mistake("not 1") == "at 0: 1 is neither true nor false; compare it");
  CHECK(mistake("1 + 'a' > 2") == "at 2: 'a' is no number to calculate with");
  CHECK(mistake("1 < true") == "at 2: 1 and true cannot be compared: they are of different kinds");
  CHECK(mistake("'a' < 'b'") == "at 4: 'a' is no number to calculate with");
  CHECK(mistake("1 / 0 > 1") == "at 2: division by zero");
  CHECK(mistake("1 % (2 - 2) > 1") == "at 2: division by zero");
}

TEST_CASE("sums and products of random numbers have the values worked out by hand") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    double sum = 0;
    const auto terms = 1 + random() % 5;
    for (unsigned term = 0; term < terms; ++term) {
      double product = 1;
      const auto factors = 1 + random() % 4;
      const bool minus = term > 0 && random() % 2 == 0;
      text += term == 0 ? "" : minus ? " - " : "+";
      for (unsigned factor = 0; factor < factors; ++factor) {
        const auto number = static_cast<int>(random() % 10);
        text += (factor == 0 ? "" : "*") + std::to_string(number);
        product *= static_cast<double>(number);
      }
      sum += minus ? -product : product;
    }
    INFO(text << " is " << sum);
    CHECK(holds(text + " == " + (sum < 0 ? "-" : "") + std::to_string(std::abs(sum))));
  }
}

}  // namespace condition_spec
