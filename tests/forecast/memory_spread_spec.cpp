// SPDX-License-Identifier: Apache-2.0
// The chance that a plan fits.
#include "forecast/accuracy/memory_spread.hpp"
#include "tests/catch.hpp"

namespace memory_spread_spec {

using forecast::fit_chance_of;
using forecast::share_measured_below;
using units::Bytes;

TEST_CASE("more runs measured below a larger multiple of their forecast") {
  CHECK(share_measured_below(0.5) == 0);
  CHECK(share_measured_below(2.0) == 1);
  CHECK(share_measured_below(1.304) == Approx(0.99));
  double before = 0;
  for (int percent = 50; percent <= 200; ++percent) {
    const double share = share_measured_below(percent / 100.0);
    CHECK(share >= before);
    before = share;
  }
}

TEST_CASE("the chance is that of the stage whose tensors have least room to grow") {
  forecast::Memory memory;
  forecast::StageMemory stage;
  stage.capacity = Bytes{100};
  stage.communication = Bytes{3};
  stage.framework = Bytes{2};  // leaves 95 bytes for tensors
  stage.peak_allocated = Bytes{50};
  memory.stages = {stage};
  CHECK(fit_chance_of(memory) == 1);  // 95 / 50 is beyond all runs
  stage.peak_allocated = Bytes{95 / 1.1};
  memory.stages.push_back(stage);
  CHECK(fit_chance_of(memory) == Approx(share_measured_below(1.1)));
  CHECK(share_measured_below(1.1) > 0.8);
  memory.stages.back().peak_allocated = Bytes{200};
  CHECK(fit_chance_of(memory) == 0);
  memory.stages.back().capacity = Bytes{500};  // a device of another kind
  CHECK(fit_chance_of(memory) == 1);
}

TEST_CASE("the chance of a stage whose replay lacks pieces counts the room in which it has them") {
  forecast::Memory memory;
  memory.stages.resize(1);
  memory.stages[0].capacity = Bytes{100};
  memory.stages[0].communication = Bytes{5};
  memory.stages[0].peak_allocated = Bytes{80};
  memory.allocator.emplace();
  CHECK(fit_chance_of(memory) == Approx(share_measured_below(95.0 / 80)));
  memory.allocator->least_room = Bytes{100};
  CHECK(fit_chance_of(memory) == Approx(share_measured_below(95.0 / 100)));
  CHECK(fit_chance_of(memory) < 0.3);
}

}  // namespace memory_spread_spec
