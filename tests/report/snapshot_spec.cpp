// SPDX-License-Identifier: Apache-2.0
// The text and the JSON about a real run's snapshot of memory.
#include <nlohmann/json.hpp>
#include <string>

#include "report/snapshot.hpp"
#include "tests/catch.hpp"

namespace snapshot_spec {

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

forecast::MemorySnapshot of_two_devices() {
  forecast::MemorySnapshot snapshot;
  snapshot.settings = "expandable_segments:True";
  snapshot.segments.resize(3);
  snapshot.devices = {{.reserved = 8 * gib,
                       .allocated = 6 * gib,
                       .requested = 5 * gib,
                       .most_reserved = 10 * gib,
                       .most_requested = 9 * gib,
                       .events = 12},
                      {.reserved = 2 * gib, .most_reserved = 4 * gib, .out_of_memory = 1}};
  return snapshot;
}

}  // namespace

TEST_CASE("a snapshot is told device by device") {
  const auto snapshot = of_two_devices();
  CHECK(report::snapshot_text({.file = "run.pickle", .snapshot = snapshot},
                              {.width = 80, .unicode = false}) ==
        "run.pickle\n"
        "  3 segments, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
        "\nDevice 0\n"
        "                  at its end       at most\n"
        "  asked for         5.00 GiB      9.00 GiB\n"
        "  reserved          8.00 GiB      10.0 GiB\n"
        "  12 events\n"
        "\nDevice 1\n"
        "                  at its end       at most\n"
        "  asked for              0 B           0 B\n"
        "  reserved          2.00 GiB      4.00 GiB\n"
        "  0 events, out of memory: 1\n");
}

TEST_CASE("the device that reserves most stands beside the forecast") {
  const auto snapshot = of_two_devices();
  forecast::Scenario scenario;
  forecast::Forecast forecast;
  forecast.memory.peak_allocated = {9.9 * static_cast<double>(gib)};
  forecast.memory.peak_reserved = {9 * static_cast<double>(gib)};
  const auto text = report::snapshot_text(
      {.file = "run.pickle", .snapshot = snapshot, .scenario = &scenario, .forecast = &forecast},
      {.width = 80, .unicode = false});
  CHECK_THAT(text, STEPCAST_HOLDS("The fullest device beside the forecast\n"
                                  "                        real      forecast     off by\n"
                                  "  asked for         9.00 GiB      9.90 GiB    +10.0 %\n"
                                  "  reserved          10.0 GiB      9.00 GiB    -10.0 %\n"));
}

TEST_CASE("a run that died is a lower bound on the memory that it needs") {
  auto snapshot = of_two_devices();
  snapshot.devices.front().out_of_memory = 1;
  snapshot.devices.front().refused = 2 * gib;
  snapshot.devices.front().wanted = 11 * gib;
  forecast::Scenario scenario;
  forecast::Forecast forecast;
  forecast.memory.peak_allocated = {12 * static_cast<double>(gib)};
  forecast.memory.peak_reserved = {9 * static_cast<double>(gib)};
  const auto text = report::snapshot_text(
      {.file = "run.pickle", .snapshot = snapshot, .scenario = &scenario, .forecast = &forecast},
      {.width = 80, .unicode = false});
  CHECK_THAT(text, STEPCAST_HOLDS("  it ends out of memory: 2.00 GiB more were asked for and "
                                  "refused, 11.0 GiB with all before\n"));
  CHECK_THAT(text, STEPCAST_HOLDS("The run ended out of memory, before the peak of its step"));
  CHECK_THAT(text, STEPCAST_HOLDS("  asked for      >= 11.0 GiB      12.0 GiB           \n"
                                  "  reserved       >= 10.0 GiB      9.00 GiB    -10.0 %\n"));
  const auto document = nlohmann::json::parse(
      report::snapshot_json({.file = "run.pickle", .snapshot = snapshot}, "1"));
  CHECK(document["devices"][0]["wanted_bytes"] == 11 * gib);
}

TEST_CASE("a snapshot as JSON has bytes as whole numbers") {
  const auto snapshot = of_two_devices();
  const auto document = nlohmann::json::parse(
      report::snapshot_json({.file = "run.pickle", .snapshot = snapshot}, "1"));
  CHECK(document["segments"] == 3);
  CHECK(document["settings"] == "expandable_segments:True");
  CHECK(document["devices"][0]["most_requested_bytes"] == 9 * gib);
  CHECK(document["devices"][1]["out_of_memory"] == 1);
  CHECK(document["against"].is_null());
}

}  // namespace snapshot_spec
