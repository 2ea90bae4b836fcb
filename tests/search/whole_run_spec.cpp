// SPDX-License-Identifier: Apache-2.0
// A whole training with one plan, by pencil.
#include "search/purchase/whole_run.hpp"
#include "tests/catch.hpp"
#include "tests/search/purchases.hpp"

namespace whole_run_spec {

using namespace tests;

namespace {

// A scenario of ten nodes of eight GPUs that draw 10 kW each; a step of 100,000 tokens takes 10 s.
forecast::Scenario scenario() {
  auto scenario = question(10).scenario;
  scenario.cluster.node.power = {10e3};
  scenario.training.tokens = 10'000 * 100 * day;
  return scenario;
}
forecast::Forecast forecast_of(const forecast::Scenario& scenario) {
  return plan_of(Question{.scenario = scenario}).forecast;
}

}  // namespace

TEST_CASE("a whole training is tokens over throughput, at the prices of a purchase") {
  const auto asked = scenario();
  const QuotedPrice price{.node = {90e3}, .network_per_node = {10e3}};
  const auto run = *whole_run(asked, forecast_of(asked), price);
  CHECK(run.tokens == 10'000 * 100 * day);
  CHECK(run.steps == Approx(864'000));
  CHECK(days(run.calm.time) == Approx(100));
  CHECK(run.gpu_hours == Approx(80 * 24 * 100));
  CHECK(run.calm.capital_full.value == 1e6);
  CHECK(run.calm.costs.capital.value == Approx(1e6 * 100 / 1460));
  CHECK(run.power_known);
  CHECK(run.calm.energy.value == Approx(100e3 * 100 * day));
  CHECK(run.calm.costs.energy.value == 0);  // nobody gave a price for energy
  CHECK(run.calm.goodput == 1);
}

TEST_CASE("with failures a training takes longer, by the goodput of a purchase") {
  const auto asked = scenario();
  const auto run = *whole_run(asked, forecast_of(asked), {});
  const auto goodput = goodput_of(asked, published_failures()).share;
  CHECK(goodput < 1);
  CHECK(run.failing.goodput == Approx(goodput));
  CHECK(days(run.failing.time) == Approx(100 / goodput));
  CHECK(run.gpu_hours_failing == Approx(run.gpu_hours / goodput));
  CHECK_FALSE(run.price);
  CHECK(run.calm.capital_full.value == 0);
}

TEST_CASE("Llama 3's failures are one of a GPU's in 50,700 hours") {
  // 16,384 GPUs ran for 54 · 24 hours with 419 failures.
  CHECK(published_failures().gpu_mtbf->value / 3600 == Approx(50'677).margin(1));
  CHECK(has_failures(published_failures()));
  CHECK_FALSE(has_failures({}));
}

TEST_CASE("nothing is said of a whole training whose tokens nobody gave") {
  auto asked = scenario();
  asked.training.tokens.reset();
  CHECK_FALSE(whole_run(asked, forecast_of(asked), {}));
}

}  // namespace whole_run_spec
