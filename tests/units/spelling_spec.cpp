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

}  // namespace spelling_spec
