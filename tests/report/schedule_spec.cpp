// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "report/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace schedule_spec {

using golden::contains;

namespace {

// 1F1B of two stages and two microbatches, F 1, B 2: each stage works 6 of 9 units.
report::ScheduleReport example() {
  report::ScheduleReport schedule;
  schedule.name = "1f1b";
  schedule.makespan = schedule.span = 9;
  schedule.bubble_fraction = schedule.bubble_fraction_max_stage = 1.0 / 3;
  schedule.stages = {{6, 3, 2, {{2}}}, {6, 3, 1, {{1}}}};
  schedule.operations = {{0, 0, 0, "F", 0, 1},  {0, 0, 1, "F", 1, 2}, {0, 0, 0, "BW", 4, 6},
                         {0, 0, 1, "BW", 7, 9}, {1, 0, 0, "F", 1, 2}, {1, 0, 0, "BW", 2, 4},
                         {1, 0, 1, "F", 4, 5},  {1, 0, 1, "BW", 5, 7}};
  return schedule;
}

}  // namespace

TEST_CASE("the schedule of the example is the golden one, as text and as JSON") {
  report::TextOptions options;
  options.width = 80;
  golden::check("schedule.txt", report::schedule_text(example(), options));
  golden::check("schedule.json", report::schedule_json(example()));
}

TEST_CASE("the JSON of a schedule parses and holds every operation") {
  const auto json = nlohmann::json::parse(report::schedule_json(example()));
  CHECK(json["makespan"] == 9.0);
  CHECK(json["bubble_fraction"] == 1.0 / 3);
  CHECK(json["stages"][0]["in_flight_vectors"][0] == std::vector<int>{2});
  REQUIRE(json["operations"].size() == 8);
  CHECK(json["operations"][7]["pass"] == "BW");
  CHECK(json["operations"][7]["end"] == 7.0);
  CHECK(nlohmann::json::parse(report::schedule_json({}))["operations"].empty());
}

TEST_CASE("chunks are told apart in the picture by a letter") {
  auto schedule = example();
  schedule.operations[6].chunk = 1;
  CHECK(contains(report::schedule_text(schedule), "F1b"));
  CHECK(contains(report::schedule_text(schedule), "F0a"));
}

TEST_CASE("weight passes have a letter, and passes that run together share their time") {
  report::ScheduleReport schedule;
  schedule.makespan = 60;
  schedule.stages.resize(1);
  schedule.operations = {
      {0, 0, 1, "F", 0, 40, true}, {0, 0, 0, "BW", 0, 40}, {0, 0, 2, "W", 40, 60}};
  const auto text = report::schedule_text(schedule, {.width = 71, .unicode = false});
  CHECK(contains(text, "F1------------------B0==================W2++++++++++++++++++"));
}

TEST_CASE("passes too short for labels are shaded") {
  auto schedule = example();
  schedule.operations[0].end = 0.01;
  CHECK(contains(report::schedule_text(schedule), "█ forward   ▒ backward"));
}

TEST_CASE("the timeline of a schedule starts at zero, a unit a second") {
  auto schedule = example();
  for (auto& operation : schedule.operations) {
    operation.start += 5;
    operation.end += 5;
  }
  const auto timeline = report::schedule_timeline(schedule);
  CHECK(timeline.slices[0].start_ps == 0);
  CHECK(timeline.slices[3].end_ps == 9'000'000'000'000);
  CHECK(timeline.slices[2].kind == "backward");
}

TEST_CASE("a schedule given in nanoseconds still has a timeline") {
  report::ScheduleReport schedule;
  schedule.stages.resize(1);
  schedule.operations = {{0, 0, 0, "F", 0, 5e9}};
  CHECK(report::schedule_timeline(schedule).slices[0].end_ps == 5'000'000'000'000'000'000 / 1000);
}

}  // namespace schedule_spec
