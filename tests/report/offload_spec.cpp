// SPDX-License-Identifier: Apache-2.0
// The bytes that a node keeps off its devices, which may be too many.
#include "report/json.hpp"
#include "report/text.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"

namespace offload_spec {

using namespace units::literals;

namespace {

forecast::Forecast overflowing() {
  auto forecast = examples::forecast();
  forecast.memory.host = 300.0_GiB;
  forecast.memory.host_capacity = 200.0_GiB;
  forecast.memory.nvme = 1000.0_GB;
  forecast.memory.nvme_capacity = 2000.0_GB;
  forecast.memory.host_fits = false;
  forecast.warnings = {
      "a node keeps 300 GiB in host memory of 200 GiB; offload to nvme, shard more (zero), or use "
      "more nodes"};
  return forecast;
}

}  // namespace

TEST_CASE("a host that overflows stands under the devices' memory, beside drives that do not") {
  auto scenario = examples::scenario();
  using Tier = strategies::Offload::Tier;
  scenario.plan.zero = 2;
  scenario.plan.offload = {.optimizer = Tier::nvme, .gradients = true};
  golden::check("simulate_offload.txt", report::simulate_text(scenario, overflowing(), {}));
}

TEST_CASE("JSON says which share of their capacity hosts and drives hold") {
  const auto text = report::simulate_json(examples::scenario(), overflowing(), "0");
  CHECK_THAT(text, STEPCAST_HOLDS("\"host_fits\": false"));
  CHECK_THAT(text, STEPCAST_HOLDS("\"host_bytes\": 322122547200"));
  CHECK_THAT(text, STEPCAST_HOLDS("\"host_capacity_bytes\": 214748364800"));
  CHECK_THAT(text, STEPCAST_HOLDS("\"nvme_bytes\": 1000000000000"));
  CHECK_THAT(text, STEPCAST_HOLDS("\"nvme_capacity_bytes\": 2000000000000"));
}

}  // namespace offload_spec
