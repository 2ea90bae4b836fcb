// SPDX-License-Identifier: Apache-2.0
// Timetables of passes that communicate with replicas.
#include "plans/schedules/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/search/exhaustive.hpp"

namespace lane_spec {

using namespace search;
using namespace pipelines;
using When = DataLane::When;

namespace {

// 1F1B of two stages and two microbatches, 2 forward and 3 back. The first stage runs 0–2, 2–4,
// 7–10 and 12–15, the second 2–4, 4–7, 7–9 and 9–12.
Timetable two_stages(const DataLane& lane) {
  return {strategies::order_of(ScheduleKind::one_f_one_b, 2, 1, 2),
          {Layout::Kind::loop, 2, 1},
          2,
          0,
          lane};
}
std::vector<StageTimes> times(StageTimes more) {
  more.forward = 2;
  more.backward = 3;
  return {more, more};
}
Picoseconds makespan(const DataLane& lane, const StageTimes& more) {
  return two_stages(lane).makespan(times(more));
}

std::vector<StageTimes> random_exchanges(Draw& draw, int stages) {
  std::vector<StageTimes> all;
  for (int i = 0; i < stages; ++i) {
    auto& times = all.emplace_back();
    for (const auto part : StageTimes::all()) times.*part = draw(0, 9);
    times.messages = 0;
  }
  return all;
}

}  // namespace

TEST_CASE("without exchanges two stages take 15") { CHECK(makespan({}, {}) == 15); }

TEST_CASE("gradients leave beside the last pass after their first unit") {
  const DataLane lane{.reduces = When::once};
  CHECK(makespan(lane, {.reduction = 10, .first_unit = 1}) == 12 + 1 + 10);
}

TEST_CASE("the last unit's gradients leave after the pass") {
  const DataLane lane{.reduces = When::once};
  CHECK(makespan(lane, {.reduction = 2, .first_unit = 1, .last_unit = 4}) == 15 + 4);
}

TEST_CASE("what is not beside passes comes after them") {
  const StageTimes more{.reduction = 10, .first_unit = 1, .last_unit = 4};
  CHECK(makespan({.reduces = When::once, .beside = false}, more) == 15 + 10);
}

// 4 long: the first stage's 10–14 is over before the second's 7–11, 11–13, 13–16 lets its last pass
// run, 16–19.
TEST_CASE("reductions of every pass that are not beside passes hide in idle time only") {
  const DataLane lane{.reduces = When::always, .beside = false};
  CHECK(makespan(lane, {.reduction = 4}) == 19 + 4);
  CHECK(makespan(lane, {.reduction = 10}) == 25 + 10);
}

// On the first stage from 4 on, on the second too.
TEST_CASE("every pass reduces from its start at the earliest, one after the other") {
  CHECK(makespan({.reduces = When::always}, {.reduction = 10}) == 4 + 10 + 10);
}

// Both stages have their parameters at 5: the second runs 5–7, 7–10, 10–12 and 12–15.
TEST_CASE("no forward pass ends before its parameters are there") {
  CHECK(makespan({.gathers = When::once}, {.gathering = 5}) == 15 + 3);
  CHECK(makespan({.gathers = When::always}, {.gathering = 5}) == 15 + 3);
}

// Gathered again for each backward pass: the second stage's last at 20.
TEST_CASE("parameters may be gathered again before backward passes") {
  const DataLane lane{.gathers = When::always, .gathers_again = true};
  CHECK(makespan(lane, {.gathering = 5}) == 20 + 3);
}

TEST_CASE("passes beside communication take longer") {
  const DataLane lane{.reduces = When::once};
  CHECK(makespan(lane, {.reduction = 10, .first_unit = 1, .slowed_backward = 1}) == 13 + 1 + 10);
  const DataLane gathers{.gathers = When::once};
  CHECK(makespan(gathers, {.slowed_forward = 1}) == 15 + 2);
}

// The second stage alternates: 2–4, 5–8, 8–10 and 11–14. The first one's gradients come later than
// its messages leave: 0–2, 2–4, 8–11 and 14–17.
TEST_CASE("a backward pass takes longer right behind a forward pass, not where it waits") {
  CHECK(makespan({.message_contends = true}, {.message_contention = 1}) == 17);
  CHECK(makespan({.message_contends = false}, {.message_contention = 1}) == 15);
  auto stages = times({});
  stages[0].message_contention =
      5;  // 4–9: two after the first gradients came, and the second come at 12
  CHECK(two_stages({.message_contends = true}).makespan(stages) == 15);
  stages[0].message_contention = 6;
  CHECK(two_stages({.message_contends = true}).makespan(stages) == 16);
}

TEST_CASE("the device that updates longest does so last") {
  auto stages = times({});
  stages[0].update = 4;
  stages[1].update = 6;
  CHECK(two_stages({}).makespan(stages) == 15 + 6);
}

TEST_CASE("critical paths are as long as the step, others no longer, whatever is exchanged") {
  Draw draw{std::mt19937(51)};
  for (int trial = 0; trial < 1500; ++trial) {
    INFO("trial " << trial);
    const auto schedule = random_schedule(draw);
    const auto layout = strategies::layout_of(schedule.schedule, schedule.stages, schedule.chunks);
    const auto latency = draw(0, 3);
    const Timetable table(strategies::order_of(schedule), layout, schedule.microbatches, latency,
                          random_lane(draw));
    const auto stages = random_exchanges(draw, layout.virtual_stages());
    const auto path = table.critical_path(stages);
    REQUIRE(length(path, stages, latency) == table.makespan(stages));
    const auto others = random_exchanges(draw, layout.virtual_stages());
    REQUIRE(length(path, others, latency) <= table.makespan(others));
    for (const auto& through : table.device_paths(stages)) {
      REQUIRE(length(through, stages, latency) <= table.makespan(stages));
      REQUIRE(length(through, others, latency) <= table.makespan(others));
    }
  }
}

TEST_CASE("exchanges never make a step shorter") {
  Draw draw{std::mt19937(52)};
  for (int trial = 0; trial < 300; ++trial) {
    INFO("trial " << trial);
    const auto schedule = random_schedule(draw);
    const auto layout = strategies::layout_of(schedule.schedule, schedule.stages, schedule.chunks);
    const auto order = strategies::order_of(schedule);
    const Timetable with(order, layout, schedule.microbatches, 1, random_lane(draw));
    const Timetable without(order, layout, schedule.microbatches, 1);
    const auto stages = random_exchanges(draw, layout.virtual_stages());
    CHECK(with.makespan(stages) >= without.makespan(stages));
  }
}

}  // namespace lane_spec
