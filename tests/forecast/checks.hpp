// SPDX-License-Identifier: Apache-2.0
// Checks that hold for every forecast, and for two of the same step.
#pragma once
#include "forecast/forecast.hpp"
#include "tests/catch.hpp"

namespace tests {

inline void check_adds_up(const forecast::Forecast& f) {
  units::Seconds sum;
  for (const auto& facts : forecast::step_parts) {
    CHECK(f.time[facts.part].value >= 0);
    sum += f.time[facts.part];
  }
  CHECK(sum.value == Approx(f.step.time.value).epsilon(1e-12));
}

inline void check_same(const forecast::Forecast& a, const forecast::Forecast& b) {
  CHECK(a.step.time == b.step.time);
  for (const auto& facts : forecast::step_parts) {
    INFO(facts.words);
    CHECK(a.time[facts.part] == b.time[facts.part]);
  }
  CHECK(a.memory.host == b.memory.host);
  CHECK(a.memory.nvme == b.memory.nvme);
  CHECK(a.memory.host_fits == b.memory.host_fits);
  CHECK(a.memory.peak == b.memory.peak);
  CHECK(a.memory.peak_stage == b.memory.peak_stage);
  REQUIRE(a.pipeline.stages.size() == b.pipeline.stages.size());
  for (std::size_t s = 0; s < a.pipeline.stages.size(); ++s) {
    CHECK(a.pipeline.stages[s].busy == b.pipeline.stages[s].busy);
    CHECK(a.pipeline.stages[s].bubble == b.pipeline.stages[s].bubble);
  }
  CHECK(a.pipeline.bubble_fraction == b.pipeline.bubble_fraction);
}

}  // namespace tests
