// SPDX-License-Identifier: Apache-2.0
// Names that somebody may have meant.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace scenarios {

// The name closest to `wanted`: one that begins with it, one of the same meaning in a training
// framework, one that is spelt alike, or one that holds it; of equals the first. Empty when none is
// close enough to be meant.
std::string nearest(std::string_view wanted, std::span<const std::string_view> names);

// "; did you mean 'X'?", or nothing.
std::string suggestion(std::string_view wanted, std::span<const std::string_view> names);

// The same of up to `most` names, nearest first: "; did you mean 'X', 'Y' or 'Z'?".
std::string suggestion(std::string_view wanted, std::span<const std::string_view> names,
                       std::size_t most);

// "a, b, c".
std::string listed(std::span<const std::string_view> names);

}  // namespace scenarios
