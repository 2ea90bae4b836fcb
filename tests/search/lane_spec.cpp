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

// 1F1B of two stages and two microbatches; a pass takes 2 forward and 3 backward. The first stage
// runs 0–2, 2–4, 7–10 and 12–15, the second 2–4, 4–7, 7–9 and 9–12.
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

TEST_CASE("reductions that are not beside passes come after them") {
  const StageTimes more{.reduction = 10, .first_unit = 1, .last_unit = 4};
  CHECK(makespan({.reduces = When::once, .beside = false}, more) == 15 + 10);
}

// With reductions of 4, the first stage's, 10–14, is over before its last pass. The second stage's,
// 7–11, delays its passes to 11–13 and 13–16, so that the first stage's last pass runs 16–19.
TEST_CASE("reductions of every pass that are not beside passes hide in idle time only") {
  const DataLane lane{.reduces = When::always, .beside = false};
  CHECK(makespan(lane, {.reduction = 4}) == 19 + 4);
  CHECK(makespan(lane, {.reduction = 10}) == 25 + 10);
}

// On both stages the pass before the first backward pass ends at 4, so reductions run 4–14 and
// 14–24.
TEST_CASE("reductions start when the pass before theirs has ended, one after the other") {
  CHECK(makespan({.reduces = When::always}, {.reduction = 10}) == 4 + 10 + 10);
}

// Both stages have their parameters at 5: the second runs 5–7, 7–10, 10–12 and 12–15, and the first
// one's last pass takes 15–18.
TEST_CASE("no forward pass ends before its parameters are there") {
  CHECK(makespan({.gathers = When::once}, {.gathering = 5}) == 15 + 3);
  CHECK(makespan({.gathers = When::always}, {.gathering = 5}) == 15 + 3);
}

// The second stage gathers for four passes one after the other, so its last pass ends at 20 at the
// earliest, and the first stage's 3 later.
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

// The second stage alternates passes, so its backward passes take 4: 2–4, 4–8, 8–10 and 10–14. The
// first one's gradients come later than its messages leave: 0–2, 2–4, 8–11 and 14–17.
TEST_CASE("a backward pass takes longer right behind a forward pass, not where it waits") {
  CHECK(makespan({.message_contends = true}, {.message_contention = 1}) == 17);
  CHECK(makespan({.message_contends = false}, {.message_contention = 1}) == 15);
  auto stages = times({});
  stages[0].message_contention =
      5;  // 4–9, so passes run 9–12 and, with gradients that come at 12, 12–15
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
