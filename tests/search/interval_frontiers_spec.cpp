// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "search/solvers/interval_frontiers.hpp"
#include "tests/catch.hpp"

namespace interval_frontiers_spec {

using namespace search;

namespace {

const Price keep{10, 2, 4, 1, 1}, recompute{3, 2, 6, 1, 5};

std::vector<Price> points(IntervalFrontiers& frontiers, int first, int last) {
  const auto list = frontiers.pool().points(frontiers.of(first, last));
  return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE("rows of layers that look alike share one frontier") {
  const Layer ends{5, {keep}}, middle{1, {keep, recompute}};
  Chain chain{{ends, middle, middle, middle, middle, ends}, {}};
  IntervalFrontiers frontiers(chain);
  CHECK(frontiers.of(1, 3) == frontiers.of(2, 4));
  CHECK(frontiers.of(1, 4) == frontiers.of(2, 5));
  CHECK(frontiers.of(0, 3) != frontiers.of(1, 4));
  CHECK(frontiers.fixed(0, 3) == 7);
  CHECK(points(frontiers, 1, 3) ==
        std::vector<Price>{{6, 4, 12, 2, 5}, {13, 4, 10, 2, 5}, {20, 4, 8, 2, 1}});
}

TEST_CASE("a row may end with a segment, or with its layers one by one") {
  // The segment of two layers keeps 2 bytes: both layers run forward once more, and are whole while
  // they run backward.
  const Price together{2, 2 + 2, 6 + 6, 1 + 1, 10 + 10 + 1};
  Chain chain{{{0, {keep}}, {0, {keep}}, {0, {keep}}}, {{1, 2, {together}}}};
  IntervalFrontiers frontiers(chain);
  CHECK(points(frontiers, 0, 3) == std::vector<Price>{{12, 6, 16, 3, 21}, {30, 6, 12, 3, 1}});
  CHECK(points(frontiers, 2, 3) == std::vector<Price>{keep});  // half of a segment is no option
  CHECK(frontiers.of(0, 2) != frontiers.of(1, 3));
}

TEST_CASE("the last layer of a row has prices of its own, and the layers before it have not") {
  Layer end{0, {keep, recompute}}, inside = end;
  end.options_as_last = {keep, {3, 2, 5, 1, 9}};
  IntervalFrontiers frontiers(Chain{{end, end, inside}, {}});
  CHECK(points(frontiers, 0, 1) == std::vector<Price>{{3, 2, 5, 1, 9}, keep});
  CHECK(
      points(frontiers, 0, 2) ==
      std::vector<Price>{{6, 4, 11, 2, 9}, {13, 4, 9, 2, 9}, {13, 4, 10, 2, 5}, {20, 4, 8, 2, 1}});
  CHECK(points(frontiers, 2, 3) == std::vector<Price>{recompute, keep});
}

}  // namespace interval_frontiers_spec
