// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a shell's $((…)), without a shell.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace scenarios {

// A sum of whole numbers with + - * / % and brackets. `value_of` gives the text of a name. Nothing
// for other operators, names that are no number, division by zero, and overflow of 64 bits.
std::optional<std::int64_t> calculated(
    std::string_view sum,
    const std::function<std::optional<std::string>(const std::string&)>& value_of);

}  // namespace scenarios
