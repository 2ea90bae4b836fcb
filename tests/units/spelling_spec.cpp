// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"
#include "units/spelling.hpp"

namespace spelling_spec {

using namespace units;

namespace {

// The distance by its definition, recursively: the least that any edit of the last letters leaves.
std::size_t slow_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto shorter = [](std::string_view text, std::size_t by = 1) {
    return text.substr(0, text.size() - by);
  };
  auto least = std::min({slow_distance(shorter(a), b) + 1, slow_distance(a, shorter(b)) + 1,
                         slow_distance(shorter(a), shorter(b)) + (a.back() == b.back() ? 0 : 1)});
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && b.back() == a[a.size() - 2])
    least = std::min(least, slow_distance(shorter(a, 2), shorter(b, 2)) + 1);
  return least;
}

}  // namespace

TEST_CASE("the edit distance counts insertions, deletions, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("tensor", "tensr") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("abc", "xyz") == 3);
  CHECK(edit_distance("fp61", "fp16") == 1);
  CHECK(edit_distance("tesnor", "tensor") == 1);
  // Two swapped letters stay neighbours: "ca" does not become "ac" and then "abc".
  CHECK(edit_distance("ca", "abc") == 3);
}

TEST_CASE("the edit distance of random words is that of its definition") {
  std::mt19937 random(1);
  const auto word = [&] {
    std::string letters(random() % 7, 'a');
    for (auto& letter : letters) letter = static_cast<char>('a' + random() % 3);
    return letters;
  };
  for (int i = 0; i < 500; ++i) {
    const auto a = word(), b = word();
    INFO(a << " and " << b);
    CHECK(edit_distance(a, b) == slow_distance(a, b));
  }
}

TEST_CASE("the nearest word is the one a person meant") {
  const std::vector<std::string_view> keys{"tensor", "pipeline", "context", "Zero", "zero"};
  CHECK(nearest_word("tensr", keys) == "tensor");
  CHECK(nearest_word("PIPELINE", keys) == "pipeline");
  CHECK(nearest_word("zero_", keys) == "zero");
  CHECK(nearest_word("ero", keys) == "Zero");
  CHECK(nearest_word("bananas", keys).empty());
  CHECK(nearest_word("", keys).empty());
  CHECK(nearest_word("x", keys).empty());
  CHECK(nearest_word(std::string(100'000, 'z'), keys).empty());
}

TEST_CASE(
    "at most two letters are mended, and capitals count only between words that are as near") {
  const auto nearest = [](std::string_view word, std::vector<std::string_view> known) {
    return nearest_word(word, known);
  };
  CHECK(nearest("abcdxy", {"abcdef"}) == "abcdef");
  CHECK(nearest("abcxyz", {"abcdef"}).empty());
  CHECK(nearest("A", {"a"}) == "a");
  CHECK(nearest("Z", {"z"}) == "z");
  CHECK(nearest("ABCDE", {"abcdx", "ABCxy"}) == "abcdx");    // one letter off beside two
  CHECK(nearest("fp61", {"fp32", "fp16"}) == "fp16");        // one swap of neighbours beside more
  CHECK(nearest("zzbadc", {"abcd", "zzabcd"}) == "zzabcd");  // two swaps
}

TEST_CASE("a word of 256 letters may be a misspelling, a longer one is none") {
  const std::string known(256, 'z');
  std::string word = known;
  word.back() = 'y';
  CHECK(nearest_word(word, std::vector<std::string_view>{known}) == known);
  CHECK(nearest_word(word + "z", std::vector<std::string_view>{known}).empty());
}

}  // namespace spelling_spec
