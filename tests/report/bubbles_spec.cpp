// SPDX-License-Identifier: Apache-2.0
#include "report/bubbles.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"

namespace bubbles_spec {

using forecast::Awaited, forecast::IdleCause;

namespace {

Awaited link(int stage, const char* name) {
  return {
      .stage = stage, .rank = stage, .lane = "compute", .name = name, .start_ps = 0, .end_ps = 0};
}

}  // namespace

TEST_CASE("a chain reads as who waits for whom, and what is left out is counted") {
  forecast::Idle idle;
  idle.chain = {link(1, "send gradients m7"), link(1, "backward m7"), link(1, "backward m7"),
                link(2, "send gradients m7")};
  idle.chain.push_back({.stage = 2, .lane = "host"});
  CHECK(
      report::waits_for(idle, 2) ==
      "waits for send gradients m7 of stage 1, which waits for backward m7 of stage 1, and 2 more "
      "before it");
  CHECK(report::waits_for(idle) ==
        "waits for send gradients m7 of stage 1, which waits for backward m7 of stage 1, which "
        "waits for send gradients m7 of stage 2, which waits for a host of stage 2");
}

TEST_CASE("where steps follow each other a stage waits for its turn") {
  CHECK(report::waits_for({}).find("waits for its turn") == 0);
}

TEST_CASE("remedies name the keys to change, and what they are now") {
  const auto scenario = examples::scenario();
  const auto forecast = examples::forecast();
  CHECK(report::remedy(scenario, forecast, IdleCause::drain) ==
        "more microbatches (2 now), fewer stages (2), `schedule: interleaved` or `zb-h1` shorten "
        "it");
  auto uneven = forecast;
  uneven.pipeline.stages[1].busy = {8.0};
  CHECK(report::remedy(scenario, uneven, IdleCause::imbalance) ==
        "stage 1 computes for 8.00 s, the mean for 7.50 s: `layers_per_stage` can give it "
        "less to do");
  CHECK(report::remedy(scenario, forecast, IdleCause::communication) ==
        "`overlap`, another `rank_order` or faster links shorten it; the busiest link is "
        "nic0.0:out at 12.5 %");
}

TEST_CASE("causes that show are said with their share, and a remedy for the greatest") {
  const auto text =
      report::bubbles_text(examples::scenario(), examples::forecast(), {.unicode = false});
  CHECK(text.find("  by cause: warm-up 15.0 %, drain 15.0 %\n  warm-up: more microbatches") == 0);
  auto unknown = examples::forecast();
  unknown.pipeline.stages[1].bubble_by_cause.reset();
  CHECK(report::bubbles_text(examples::scenario(), unknown, {}).empty());
}

}  // namespace bubbles_spec
