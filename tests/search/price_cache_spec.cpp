// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "forecast/costs.hpp"
#include "search/price_cache.hpp"
#include "tests/catch.hpp"
#include "tests/search/whole_problem.hpp"

namespace price_cache_spec {

using namespace search;

namespace {

bool costs_alike(const LayerPrices& a, const LayerPrices& b) {
  if (a.elements != b.elements || a.least_costs.size() != b.least_costs.size()) return false;
  for (std::size_t k = 0; k < a.least_costs.size(); ++k) {
    const auto &x = a.least_costs[k].front(), &y = b.least_costs[k].front();
    if (x.forward != y.forward || x.backward != y.backward ||
        x.backward_input != y.backward_input || x.backward_weight != y.backward_weight ||
        x.kept != y.kept || x.forward_peak != y.forward_peak ||
        x.backward_peak != y.backward_peak || x.parameters.with_layer != y.parameters.with_layer ||
        x.parameters.apart != y.parameters.apart)
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("divisions cost the same priced together as each alone") {
  whole::Draw draw(11);
  int with_experts = 0, compared = 0;
  for (int round = 0; round < 40; ++round) {
    forecast::Scenario scenario{.model = whole::draw_model(draw),
                                .cluster = whole::draw_cluster(draw),
                                .training = {.sequence_length = 512, .global_batch = 8},
                                .software = whole::draw_software(draw)};
    const auto costs = forecast::costs_on(scenario.cluster);
    PriceCache together(scenario, {}, costs), alone(scenario, {}, costs);
    std::vector<std::size_t> all(together.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    together.price(all);
    for (const auto i : all) {
      alone.price(std::span(&i, 1));
      REQUIRE(together.fits(i) == alone.fits(i));
      if (!together.fits(i)) continue;
      CHECK(costs_alike(together.fastest(i), alone.fastest(i)));
      ++compared;
      with_experts += scenario.model.moe.has_value();
    }
  }
  CHECK(compared > 500);
  CHECK(with_experts > 100);
}

}  // namespace price_cache_spec
