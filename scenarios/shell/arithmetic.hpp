// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a shell's $((…)), without a shell.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scenarios {

// Returns a whole number in digits, below a thousand million either way; nothing for other texts.
std::optional<std::int64_t> whole_number(std::string_view text);

// Returns the value of an expression of whole numbers with + - * / % **, comparisons, && || !, A ?
// B : C and brackets, which bind as in C. `value_of` returns the text of a name. Returns nothing
// for other operators, names whose text is no number, division by zero, overflow of 64 bits, and
// more than 32 levels, even in a part whose value is not needed.
std::optional<std::int64_t> calculated(
    std::string_view text,
    const std::function<std::optional<std::string>(const std::string&)>& value_of);

// A sum with assignments: its value, and the variables that it gives other ones.
struct Calculation {
  std::int64_t value = 0;
  std::map<std::string, std::int64_t> assigned{};
};
// Returns the value of an expression as calculated() does, in which names may also be assigned,
// "X = 2 * Y", "X += 2", and counted, "X++", "--X".
std::optional<Calculation> calculated_with_assignments(
    std::string_view text,
    const std::function<std::optional<std::string>(const std::string&)>& value_of);

// The variable that "X = 2 * Y", "X += 2" or "X++" assigns, and the expression of its new value.
struct ArithmeticAssignment {
  std::string name, value;
};
// Returns the assignment that a word of "let" or "((…))" is, quotes and brackets around it or not;
// no name: it is none.
ArithmeticAssignment arithmetic_assignment(std::string_view word);
// The names in an expression that assigns some of them in a way that arithmetic_assignment does not
// take: "X = Y++", "X <<= 1"; none if it assigns nothing else.
std::vector<std::string> assigned_otherwise(std::string_view word);

}  // namespace scenarios
