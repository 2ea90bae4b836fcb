// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "report/runs/profile.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"

namespace profile_spec {

using forecast::GpuWork;
using nlohmann::json;

namespace {

constexpr std::int64_t second = 1'000'000'000;

// A profile of two steps of 11 s and one of 12: seven of computation, one of exposed
// tensor-parallel communication, half a second of copies.
forecast::Profile profile() {
  forecast::Profile found{.rank = 8, .world_size = 16, .work = {}, .steps = {}};
  std::int64_t start = 0;
  for (const int length : {11, 12, 11}) {
    found.steps.push_back(
        {"ProfilerStep#" + std::to_string(found.steps.size()), start, start + length * second});
    found.work.push_back({GpuWork::compute, 7, start, start + 7 * second});
    found.work.push_back({GpuWork::tensor_comm, 20, start + 6 * second, start + 8 * second});
    found.work.push_back({GpuWork::copy, 21, start + 8 * second, start + 8 * second + second / 2});
    start += length * second;
  }
  return found;
}

}  // namespace

TEST_CASE("a profile reads as a forecast does, and beside it") {
  const auto real = profile();
  const auto breakdown = forecast::break_down(real);
  const auto scenario = examples::scenario();
  const auto forecast = examples::forecast();
  golden::check("profile.txt",
                report::profile_text({"rank8.json", real, breakdown, &scenario, &forecast},
                                     {.width = 90, .unicode = false}));
}

TEST_CASE("the JSON of a profile has the median step, all steps, streams, and the forecast") {
  const auto real = profile();
  const auto breakdown = forecast::break_down(real);
  const auto scenario = examples::scenario();
  const auto forecast = examples::forecast();
  const auto document = json::parse(
      report::profile_json({"rank8.json", real, breakdown, &scenario, &forecast}, "1.2.3"));
  CHECK(document["rank"] == 8);
  CHECK(document["step"]["time_s"] == 11.0);
  CHECK(document["time"]["compute_s"] == 7.0);
  CHECK(document["time"]["tensor_comm_s"] == 1.0);
  CHECK(document["time"]["all_reduce_s"] == 0.0);
  CHECK(document["time"]["offload_s"] == 0.5);
  CHECK(document["time"]["bubble_s"] == 2.5);
  CHECK(document["communication_s"] == 2.0);
  CHECK(document["hidden_s"] == 1.0);
  CHECK(document["steps"].size() == 3);
  CHECK(document["streams"][0]["mostly"] == "compute");
  CHECK(document["against"]["step"]["time_s"] == 10.0);
  CHECK(document["expected"].is_null());
  const auto alone = json::parse(report::profile_json({"rank8.json", real, breakdown}, "1.2.3"));
  CHECK(alone["against"].is_null());
}

TEST_CASE("a trace that names its rank is held against the forecast of that rank") {
  const auto real = profile();
  const auto breakdown = forecast::break_down(real);
  const auto scenario = examples::scenario();
  const auto forecast = examples::forecast();
  forecast::RankTimes ours{.stage = 1, .rank = 8};
  ours.exposed[forecast::StepPart::compute] = units::Seconds{7.5};
  const report::ProfileReport report{"rank8.json", real, breakdown, &scenario, &forecast, &ours};
  const auto text = report::profile_text(report, {.width = 90, .unicode = false});
  CHECK_THAT(text, STEPCAST_HOLDS("beside the forecast of this rank, of stage 1 (exposed times)"));
  CHECK_THAT(text, STEPCAST_HOLDS("7.50 s"));
  const auto expected = json::parse(report::profile_json(report, "1.2.3"))["expected"];
  CHECK(expected["rank"] == 8);
  CHECK(expected["stage"] == 1);
  CHECK(expected["time"].size() == forecast::step_parts.size());
}

}  // namespace profile_spec
