// SPDX-License-Identifier: Apache-2.0
// Steps of which only some microbatches are played, beside the same steps with all of them played.
#include <algorithm>

#include "plans/schedules/periods.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/checks.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace jump_spec {

using forecast::Forecast, forecast::Scenario, forecast::simulate;

namespace {

// Checks every figure but the count of played events.
void check_equal(const Forecast& a, const Forecast& b) {
  tests::check_same(a, b);
  CHECK(a.step.hfu == b.step.hfu);
  CHECK(a.gpus.computing == b.gpus.computing);
  CHECK(a.gpus.longest_wait == b.gpus.longest_wait);
  for (std::size_t s = 0; s < b.pipeline.stages.size(); ++s) {
    const auto &x = a.pipeline.stages[s], &y = b.pipeline.stages[s];
    CHECK(x.peak_in_flight == y.peak_in_flight);
    CHECK(x.forward == y.forward);
    CHECK(x.backward_input == y.backward_input);
    CHECK(x.backward_weight == y.backward_weight);
    CHECK(x.recompute == y.recompute);
    const auto &held = a.memory.stages[s], &also = b.memory.stages[s];
    CHECK(held.activations == also.activations);
    CHECK(held.peak_allocated == also.peak_allocated);
    CHECK(held.peak == also.peak);
  }
  CHECK(a.memory.fits == b.memory.fits);
  REQUIRE(a.critical_path.size() == b.critical_path.size());
  for (std::size_t i = 0; i < b.critical_path.size(); ++i) {
    CHECK(a.critical_path[i].part == b.critical_path[i].part);
    CHECK(a.critical_path[i].time == b.critical_path[i].time);
  }
  REQUIRE(a.links.size() == b.links.size());
  for (std::size_t i = 0; i < b.links.size(); ++i) {
    CHECK(a.links[i].name == b.links[i].name);
    CHECK(a.links[i].utilisation == b.links[i].utilisation);
  }
  REQUIRE(a.slowed.size() == b.slowed.size());
  for (std::size_t i = 0; i < b.slowed.size(); ++i) {
    CHECK(a.slowed[i].what == b.slowed[i].what);
    CHECK(a.slowed[i].by == b.slowed[i].by);
    CHECK(a.slowed[i].link == b.slowed[i].link);
    CHECK(a.slowed[i].lost == b.slowed[i].lost);
  }
  CHECK(a.warnings == b.warnings);
}

}  // namespace

TEST_CASE("a step of which microbatches are left out is the step with all of them played") {
  int jumped = 0, periodic = 0;
  for (unsigned seed = 0; seed < 600 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 7000);
    auto scenario = tests::random_scenario(random);
    const auto& plan = scenario.plan;
    scenario.training.global_batch = 20 * plan.pipeline * plan.data * plan.micro_batch;
    const auto quick = simulate(scenario);
    const auto all = simulate(scenario, {.jump = false});
    CHECK(all.simulation.microbatches_played == all.step.microbatches);
    CHECK(quick.simulation.microbatches_played <= all.step.microbatches);
    check_equal(quick, all);
    if (strategies::period_of(plan.schedule, plan.pipeline) == 0 || plan.pipeline == 1) continue;
    ++periodic;
    jumped += quick.simulation.microbatches_played < all.step.microbatches ? 1 : 0;
  }
  INFO(jumped << " of " << periodic << " plans");
  CHECK(jumped > periodic * 2 / 3);
}

TEST_CASE("a step of a thousand microbatches costs hardly more events than one of a hundred") {
  strategies::Plan plan;
  plan.pipeline = 8;
  const auto few = simulate(tests::scenario_under(plan, 100));
  const auto many = simulate(tests::scenario_under(plan, 1000));
  CHECK(few.simulation.microbatches_played == many.simulation.microbatches_played);
  CHECK(few.simulation.events == many.simulation.events);
}

TEST_CASE("for a caller that looks at single events all microbatches are played") {
  strategies::Plan plan;
  plan.pipeline = 2;
  const auto scenario = tests::scenario_under(plan, 100);
  CHECK(simulate(scenario).simulation.microbatches_played < 100);
  for (const forecast::Options& options :
       {forecast::Options{.timeline = true}, forecast::Options{.pictured = {0}},
        forecast::Options{.causes = true}, forecast::Options{.basis = true}})
    CHECK(simulate(scenario, options).simulation.microbatches_played == 100);
}

}  // namespace jump_spec
