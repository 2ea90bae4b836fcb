// SPDX-License-Identifier: Apache-2.0
#include "report/bubbles.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"

namespace bubbles_spec {

using forecast::IdleCause;

TEST_CASE("remedies name the keys to change, and their values now") {
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
