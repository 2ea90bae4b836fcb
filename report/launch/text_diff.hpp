// SPDX-License-Identifier: Apache-2.0
// Private to the room: the difference of two texts.
#pragma once
#include <string>
#include <string_view>

namespace report {

// A unified diff with three lines of context, as `patch` reads it; empty where the texts are equal.
// O(lines of both that differ, squared).
std::string unified_diff(std::string_view before, std::string_view after, std::string_view name);

}  // namespace report
