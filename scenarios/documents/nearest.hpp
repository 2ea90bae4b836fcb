// SPDX-License-Identifier: Apache-2.0
// Names that somebody may have meant.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace scenarios {

// The name closest to `wanted`: one of the same meaning in a training framework, one that begins
// with it, one with which it begins, one that is spelt alike, or one that holds it; of equals the
// first. Empty when none is close enough to be meant.
std::string nearest(std::string_view wanted, std::span<const std::string_view> names);

// "; did you mean 'X'?", or nothing.
std::string suggestion(std::string_view wanted, std::span<const std::string_view> names);

// The same of up to `most` names, nearest first: "; did you mean 'X', 'Y' or 'Z'?".
std::string suggestion(std::string_view wanted, std::span<const std::string_view> names,
                       std::size_t most);

// The same of up to three names that are equally close: "; did you mean 'dgx-a100-40gb' or
// 'dgx-a100-80gb'?" for "a100".
std::string equal_suggestions(std::string_view wanted, std::span<const std::string_view> names);

// "a, b, c".
std::string listed(std::span<const std::string_view> names);

}  // namespace scenarios
