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
        "more microbatches (2 now), fewer stages (2), `schedule: interleaved` with 2 "
        "`virtual_stages` or `schedule: zb-h1` shorten it");
  auto uneven = forecast;
  uneven.pipeline.stages[1].busy = {8.0};
  CHECK(report::remedy(scenario, uneven, IdleCause::imbalance) ==
        "stage 1 computes for 8.00 s, the mean for 7.50 s: `layers_per_stage` can give it "
        "less to do");
  CHECK(report::remedy(scenario, forecast, IdleCause::communication) ==
        "`overlap`, another `rank_order` or faster links shorten it; the busiest link is "
        "nic0.0:out at 12.5 %");
}

// Four layers make four virtual stages: two ranks of two chunks, or four ranks of one.
TEST_CASE("only schedules and chunks that the model has layers for are advised") {
  auto scenario = examples::scenario();
  const auto advice = [&](strategies::ScheduleKind schedule, std::int64_t ranks,
                          std::int64_t chunks) {
    scenario.plan.schedule = schedule;
    scenario.plan.pipeline = ranks;
    scenario.plan.virtual_stages = chunks;
    return report::remedy(scenario, examples::forecast(), IdleCause::warm_up);
  };
  using enum strategies::ScheduleKind;
  CHECK(advice(one_f_one_b, 4, 1) ==
        "more microbatches (2 now), fewer stages (4) or `schedule: zb-h1` shorten it");
  CHECK(advice(interleaved, 2, 2) == "more microbatches (2 now) or fewer stages (2) shorten it");
  scenario.model.layers = 6;
  CHECK(advice(interleaved, 2, 2) ==
        "more microbatches (2 now), fewer stages (2) or more `virtual_stages` (2) shorten it");
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
