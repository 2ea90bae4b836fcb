// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a shell's $((…)), without a shell.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace scenarios {

// The value of an expression of whole numbers with + - * / % **, comparisons, && || !, A ? B : C
// and brackets, which bind as in C. `value_of` gives the text of a name. Nothing for other
// operators, names that are no number, division by zero, overflow of 64 bits, and more than 32
// levels; also where the part that goes wrong would not be needed.
std::optional<std::int64_t> calculated(
    std::string_view text,
    const std::function<std::optional<std::string>(const std::string&)>& value_of);

}  // namespace scenarios
