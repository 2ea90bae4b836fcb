// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "units/spelling.hpp"

namespace spelling_spec {

using namespace units;

TEST_CASE("the edit distance counts insertions, deletions and replacements") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("tensor", "tensr") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("abc", "xyz") == 3);
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
  CHECK(nearest("ABCDE", {"abcdx", "ABCxy"}) == "abcdx");  // one letter off, and two
}

TEST_CASE("a word of 256 letters may be a misspelling, a longer one is none") {
  const std::string known(256, 'z');
  std::string word = known;
  word.back() = 'y';
  CHECK(nearest_word(word, std::vector<std::string_view>{known}) == known);
  CHECK(nearest_word(word + "z", std::vector<std::string_view>{known}).empty());
}

}  // namespace spelling_spec
