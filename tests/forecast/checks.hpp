// SPDX-License-Identifier: Apache-2.0
// What holds of every forecast, and of two of the same step.
#pragma once
#include "forecast/forecast.hpp"
#include "tests/catch.hpp"

namespace tests {

inline void check_adds_up(const forecast::Forecast& f) {
  const auto& t = f.time;
  units::Seconds sum;
  for (auto part : {t.compute, t.recompute, t.tensor_comm, t.context_comm, t.expert_comm,
                    t.pipeline_comm, t.data_comm, t.offload, t.optimizer, t.bubble, t.other}) {
    CHECK(part.value >= 0);
    sum += part;
  }
  CHECK(sum.value == Approx(f.step.time.value).epsilon(1e-12));
}

inline void check_same(const forecast::Forecast& a, const forecast::Forecast& b) {
  CHECK(a.step.time == b.step.time);
  CHECK(a.time.compute == b.time.compute);
  CHECK(a.time.bubble == b.time.bubble);
  CHECK(a.time.data_comm == b.time.data_comm);
  CHECK(a.time.pipeline_comm == b.time.pipeline_comm);
  CHECK(a.time.tensor_comm == b.time.tensor_comm);
  CHECK(a.time.context_comm == b.time.context_comm);
  CHECK(a.time.recompute == b.time.recompute);
  CHECK(a.time.expert_comm == b.time.expert_comm);
  CHECK(a.time.offload == b.time.offload);
  CHECK(a.time.optimizer == b.time.optimizer);
  CHECK(a.time.other == b.time.other);
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
