// SPDX-License-Identifier: Apache-2.0
// Steps that learn from preferences and rewards, which no scenario describes.
#pragma once
#include <string>
#include <string_view>

namespace scenarios {

// Returns the method that a part of the program's name says: "grpo" of "run_grpo.py"; empty: none.
std::string preference_method(std::string_view program);

// Returns the reason for which a step of that method is refused.
std::string refusal_of_method(std::string_view method);

}  // namespace scenarios
