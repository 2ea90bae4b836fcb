// SPDX-License-Identifier: Apache-2.0
#include "units/spelling.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace units {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (auto& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// Or more than `most`, where it is.
std::size_t edit_distance_to(std::string_view a, std::string_view b, std::size_t most) {
  std::vector<std::size_t> row(b.size() + 1);  // from the a read so far to each start of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0], least = i + 1;
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      const auto edits = std::min({replaced, row[j] + 1, diagonal + 1});
      row[j + 1] = edits;
      least = std::min(least, edits);
    }
    if (least > most) return least;
  }
  return row[b.size()];
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  return edit_distance_to(a, b, a.size() + b.size());
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t longest = 256;  // a word beyond this is no misspelling, and costs time
  if (word.size() > longest) return {};
  const auto lower = lower_case(word);
  std::string_view best;
  std::pair fewest{std::min<std::size_t>(3, word.size()), std::size_t{0}};
  for (const auto candidate : known) {
    // No fewer edits than letters too many or too few.
    const auto letters_apart = word.size() > candidate.size() ? word.size() - candidate.size()
                                                              : candidate.size() - word.size();
    if (letters_apart > fewest.first) continue;
    const auto apart = edit_distance_to(lower, lower_case(candidate), fewest.first);
    if (apart > fewest.first) continue;
    const std::pair edits{apart, edit_distance(word, candidate)};
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

}  // namespace units
