// SPDX-License-Identifier: Apache-2.0
#include "units/spelling.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "units/text.hpp"

namespace units {
namespace {

// The edit distance from a to b, or any number above `most` if the distance is above `most`.
std::size_t edit_distance_to(std::string_view a, std::string_view b, std::size_t most) {
  // Distances to each start of b: from the part of a read so far, and from that without its last
  // letter, and without its last two.
  std::vector<std::size_t> now(b.size() + 1), before(b.size() + 1), earlier(b.size() + 1);
  std::iota(now.begin(), now.end(), std::size_t{0});
  std::size_t least = 0;  // of what `now` holds
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::swap(earlier, before);
    std::swap(before, now);
    const auto least_before = std::exchange(least, i + 1);
    now[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      now[j + 1] = std::min({before[j] + (a[i] == b[j] ? 0 : 1), before[j + 1] + 1, now[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) now[j + 1] = std::min(now[j + 1], earlier[j - 1] + 1);
      least = std::min(least, now[j + 1]);
    }
    if (least > most && least_before >= most) return least;  // a swap leaps over `now`
  }
  return now[b.size()];
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
    // A word is at least as many edits away as their lengths differ.
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
