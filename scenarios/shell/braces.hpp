// SPDX-License-Identifier: Apache-2.0
// Words that braces make of one: "x{1,2}", "{1..3}".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace scenarios {

// Returns the raw words that a raw word's braces outside of quotes stand for, in order; the word
// itself if it has none, is longer than 4,096 characters, or stands for more than 1,000 words.
std::vector<std::string> braced(std::string_view raw);

}  // namespace scenarios
