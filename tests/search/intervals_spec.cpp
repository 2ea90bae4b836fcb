// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "search/solvers/intervals.hpp"
#include "tests/catch.hpp"

namespace intervals_spec {

using namespace search;

namespace {

const Price keep{10, 2, 4, 1, 1}, recompute{3, 2, 6, 1, 5};

std::vector<Price> points(Intervals& intervals, int first, int last) {
  const auto list = intervals.pool().points(intervals.of(first, last));
  return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE("rows of layers that look alike share one frontier") {
  const Layer ends{5, {keep}}, middle{1, {keep, recompute}};
  Chain chain{{ends, middle, middle, middle, middle, ends}, {}};
  Intervals intervals(chain);
  CHECK(intervals.of(1, 3) == intervals.of(2, 4));
  CHECK(intervals.of(1, 4) == intervals.of(2, 5));
  CHECK(intervals.of(0, 3) != intervals.of(1, 4));
  CHECK(intervals.fixed(0, 3) == 7);
  CHECK(points(intervals, 1, 3) ==
        std::vector<Price>{{6, 4, 12, 2, 5}, {13, 4, 10, 2, 5}, {20, 4, 8, 2, 1}});
}

TEST_CASE("a row may end with a segment, or with its layers one by one") {
  // Of which 2 bytes are kept: both run forward once more, and are whole while they run backward.
  const Price together{2, 2 + 2, 6 + 6, 1 + 1, 10 + 10 + 1};
  Chain chain{{{0, {keep}}, {0, {keep}}, {0, {keep}}}, {{1, 2, {together}}}};
  Intervals intervals(chain);
  CHECK(points(intervals, 0, 3) == std::vector<Price>{{12, 6, 16, 3, 21}, {30, 6, 12, 3, 1}});
  CHECK(points(intervals, 2, 3) == std::vector<Price>{keep});  // not the half of a segment
  CHECK(intervals.of(0, 2) != intervals.of(1, 3));
}

TEST_CASE("the last layer of a row has prices of its own, and those before it have not") {
  Layer end{0, {keep, recompute}}, inside = end;
  end.options_as_last = {keep, {3, 2, 5, 1, 9}};
  Intervals intervals(Chain{{end, end, inside}, {}});
  CHECK(points(intervals, 0, 1) == std::vector<Price>{{3, 2, 5, 1, 9}, keep});
  CHECK(
      points(intervals, 0, 2) ==
      std::vector<Price>{{6, 4, 11, 2, 9}, {13, 4, 9, 2, 9}, {13, 4, 10, 2, 5}, {20, 4, 8, 2, 1}});
  CHECK(points(intervals, 2, 3) == std::vector<Price>{recompute, keep});
}

}  // namespace intervals_spec
