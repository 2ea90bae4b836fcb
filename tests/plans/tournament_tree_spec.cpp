// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "plans/schedules/tournament_tree.hpp"
#include "tests/catch.hpp"

namespace tournament_tree_spec {

TEST_CASE("a tournament tree has the least value, and the first position that has it") {
  const auto size = GENERATE(range(std::size_t{1}, std::size_t{10}));
  strategies::TournamentTree tree(size);
  std::vector<std::int64_t> values(size, 0);
  std::mt19937 random(static_cast<unsigned>(size));
  for (int i = 0; i < 400; ++i) {
    const auto at = random() % size;
    values[at] = static_cast<std::int64_t>(random() % 6) - 2;
    tree.set(at, values[at]);
    const auto least = std::ranges::min_element(values);
    CHECK(tree.least() == *least);
    CHECK(tree.first() == static_cast<std::size_t>(least - values.begin()));
    CHECK(tree[at] == values[at]);
  }
}

}  // namespace tournament_tree_spec
