// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/quantile.hpp"
#include "tests/catch.hpp"

namespace quantile_spec {

using forecast::Vote;

TEST_CASE("a quantile is the nearest rank, of votes instead of values") {
  std::vector<Vote> ten;
  for (int i = 1; i <= 10; ++i) ten.push_back({static_cast<double>(i), 1.0 / 39});
  CHECK(forecast::quantile(ten, 0.9) == 9);  // though nine such votes add up to a little less
  CHECK(forecast::quantile(ten, 0.91) == 10);
  CHECK(forecast::quantile(ten, 0.1) == 1);
  CHECK(forecast::quantile({{3, 1}, {1, 7}, {2, 2}}, 0.7) == 1);
  CHECK(forecast::quantile({{3, 1}, {1, 7}, {2, 2}}, 0.9) == 2);
}

TEST_CASE("the median stands between the two in the middle, where the votes are even") {
  CHECK(forecast::median({{4, 1}, {1, 1}, {2, 1}}) == 2);
  CHECK(forecast::median({{4, 1}, {1, 1}, {2, 1}, {3, 1}}) == 2.5);
  CHECK(forecast::median({{4, 3}, {1, 1}, {2, 2}}) == 3);  // 3 votes lie on either side
}

}  // namespace quantile_spec
