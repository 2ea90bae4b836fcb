// SPDX-License-Identifier: Apache-2.0
// The steps inside of passes.
#include <algorithm>
#include <random>

#include "forecast/timeline.hpp"
#include "strategies/activity.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace pass_steps_spec {

using namespace forecast;

namespace {

sim::Step step(sim::Lane lane, sim::Activity activity, sim::Picoseconds duration, int joins = -1) {
  return {.lane = lane, .activity = activity, .joins = joins, .duration = duration};
}

}  // namespace

TEST_CASE("steps follow each other on their lane, and after the steps that they join") {
  // A product of 5 has its reduction of 4 on the other lane, and beside it element-wise work of 2
  // and 1.
  sim::Template body{.steps = {step(sim::Lane::compute, strategies::forward_compute, 5),
                               step(sim::Lane::tensor, strategies::forward_tensor_comm, 4, 0),
                               step(sim::Lane::compute, strategies::forward_compute, 2),
                               step(sim::Lane::compute, strategies::forward_compute, 1),
                               step(sim::Lane::compute, strategies::forward_compute, 0),
                               step(sim::Lane::compute, strategies::recompute_compute, 3, 1)}};
  body.asked = {1};
  strategies::CostQueries questions;
  questions.add({.kernel = units::Kernel{.m = 7}});
  sim::Program program;
  const sim::Participant alone{sim::ActorId{0}};
  program.add_pass(program.add_template(body), {&alone, 1});
  sim::EnteredPass entered{{sim::lanes_from(0)}, {0}};
  const auto steps_of = [&] {
    return pass_steps(program, program.ops().front(), 0, entered, questions);
  };
  const auto steps = steps_of();
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].asked->kernel->m == 7);
  CHECK(std::pair(steps[0].start_ps, steps[0].end_ps) ==
        std::pair<std::int64_t, std::int64_t>{0, 5});
  CHECK(steps[1].part == "tensor comm");
  CHECK(std::pair(steps[1].start_ps, steps[1].end_ps) ==
        std::pair<std::int64_t, std::int64_t>{5, 9});
  CHECK_FALSE(steps[2].asked);  // two element-wise kernels at once
  CHECK(std::pair(steps[2].start_ps, steps[2].end_ps) ==
        std::pair<std::int64_t, std::int64_t>{5, 8});
  CHECK(steps[3].part == "recompute");
  CHECK(steps[3].start_ps == 9);
  // A tensor lane that is free at 8 holds its reduction back, and the step that joins that.
  entered.lanes[0][static_cast<std::size_t>(sim::Lane::tensor)] = 8;
  CHECK(steps_of()[1].start_ps == 8);
  CHECK(steps_of()[3].start_ps == 12);
}

TEST_CASE("over random plans no pass is shorter than any of its steps") {
  std::mt19937 random(GENERATE(range(0u, 20u)));
  const auto scenario =
      random() % 2 == 0 ? tests::random_scenario(random) : tests::sharded_scenario(random);
  const auto forecast = simulate(scenario, {.timeline = true});
  const auto& timeline = forecast.timeline;
  for (const auto& slice : timeline.slices) {
    if (slice.lane != "compute") {
      CHECK(slice.steps == -1);
      continue;
    }
    REQUIRE(slice.steps >= 0);
    std::int64_t computing = 0;
    for (const auto& one : timeline.passes.at(static_cast<std::size_t>(slice.steps)))
      if (!one.part.ends_with("comm")) computing += one.end_ps - one.start_ps;
    CHECK(computing <= slice.end_ps - slice.start_ps);
  }
}

}  // namespace pass_steps_spec
