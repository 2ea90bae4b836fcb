// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/sim/fair_share.hpp"

namespace fair_share_spec {

namespace {

using Routes = std::vector<std::vector<std::size_t>>;
using Rates = std::vector<double>;

Rates rates(std::vector<double> capacity, const Routes& routes, std::vector<double> caps = {},
            std::vector<std::int64_t> weights = {}) {
  return oracle::fair_share(capacity, routes, caps, weights);
}

}  // namespace

TEST_CASE("a flow held back elsewhere leaves its share to the others") {
  //   0 --link 0 (10)--> 1 --link 1 (4)--> 2       flow a: 0 to 2, flow b: 0 to 1
  CHECK(rates({10, 4}, {{0, 1}, {0}}) == Rates{4, 6});
}

TEST_CASE("a cap leaves the rest of a link to the others") {
  CHECK(rates({12}, {{0}, {0}, {0}}, {2, 100, 100}) == Rates{2, 5, 5});
  CHECK(rates({12}, {{0}}, {5}) == Rates{5});
}

TEST_CASE("a flow of weight three counts as three flows of the same rate") {
  CHECK(rates({12}, {{0}, {0}}, {}, {3, 1}) == Rates{3, 3});
}

TEST_CASE("a flow that loads a link twice gets half") { CHECK(rates({12}, {{0, 0}}) == Rates{6}); }

TEST_CASE("impossible sharing problems are refused") {
  CHECK_THROWS_WITH(rates({12}, {{}}), "a flow must cross at least one link");
  CHECK_THROWS_WITH(rates({12}, {{1}}), "a flow crosses an unknown link");
  CHECK_THROWS_WITH(rates({0}, {{0}}), "a link must have a capacity above zero");
  CHECK_THROWS_WITH(rates({1}, {{0}}, {0}), "every flow needs a cap above zero, or none has one");
  CHECK_THROWS_WITH(rates({1}, {{0}}, {}, {1, 1}),
                    "every flow needs a weight above zero, or none has one");
}

}  // namespace fair_share_spec
