// SPDX-License-Identifier: Apache-2.0
// The known word that a person may have meant by an unknown one.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace units {

// Optimal string alignment distance in bytes: the fewest insertions, deletions, replacements and
// swaps of neighbours from a to b, where nothing is edited twice. O(|a| |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word with the fewest edits, letter case aside; then with the fewest in all; then the
// first. Empty if none is near: more than two edits away, or as many as the word has letters.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace units
