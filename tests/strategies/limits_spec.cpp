// SPDX-License-Identifier: Apache-2.0
// Pipelines that are too large to be played are refused before anything is built.
#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/limits.hpp"
#include "plans/schedules/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace limits_spec {

using namespace strategies;
using Kind = ScheduleKind;

TEST_CASE("a pipeline has a forward and a backward of each chunk, stage and microbatch") {
  CHECK(passes_of({Kind::one_f_one_b, 4, 1, 8}) == 64);
  CHECK(passes_of({Kind::interleaved, 4, 3, 8}) == 192);
  CHECK(passes_of({Kind::zb_v, 4, 2, 8}) == 128);
  CHECK(passes_of({Kind::dualpipe, 4, 1, 8}) == 64);  // each direction has half of the microbatches
  CHECK(passes_of({Kind::dualpipe_v, 4, 1, 8}) == 128);
}

// Each chunk of a stage has two passes a microbatch: 2 · 1000 · 3333 and 2 · 1000 · 3 · 1111.
TEST_CASE("a fixed order has at most a third of 20 million passes") {
  CHECK(most_microbatches({Kind::one_f_one_b, 1000, 1}) == 3333);
  CHECK(most_microbatches({Kind::interleaved, 1000, 3}) == 1111);
  CHECK(most_microbatches({Kind::gpipe, 1, 1}) == 3'333'333);
}

// 256 stages with 1024 microbatches have 2 · 256 · 1024 passes, which times 256 are 2^27.
TEST_CASE("an order is searched for as long as passes times stages are at most 2^27") {
  CHECK(most_microbatches({Kind::zb_h2, 256, 1}) == 1024);
  CHECK(most_microbatches({Kind::zb_v, 128, 2}) == 2048);
  CHECK(most_microbatches({Kind::zb_h1, 1000, 1}) == 67);
  CHECK(most_microbatches({Kind::v_min, 8, 2}) == 65'536);  // 2^21 passes
  CHECK(most_microbatches({Kind::zb_v, 322, 2}) == 323);    // orders are tried with stages + 2
  CHECK(most_microbatches({Kind::zb_v, 323, 2}) == 0);
}

TEST_CASE("at the limit a pipeline is played, and with one microbatch more it is not") {
  for (const auto schedule :
       {Kind::gpipe, Kind::one_f_one_b, Kind::interleaved, Kind::zb_h1, Kind::zb_h2, Kind::zb_v,
        Kind::v_half, Kind::v_min, Kind::dualpipe, Kind::dualpipe_v})
    for (const std::int64_t stages : {1, 2, 7, 64, 300, 1000, 5000}) {
      const auto most = most_microbatches({schedule, stages, 2});
      INFO(static_cast<int>(schedule) << " on " << stages << " stages, " << most);
      if (most > 0) CHECK_FALSE(too_large({schedule, stages, 2, most}));
      CHECK(too_large({schedule, stages, 2, most + 1}));
    }
}

TEST_CASE("an order beyond its limit is refused in words, without being tried") {
  CHECK_THROWS_WITH(order_of(Kind::zb_v, 1000, 2, 16'000),
                    "the order of zb-v is searched for, which is not done on 1000 stages; write a "
                    "schedule of fixed order, such as 1f1b, or fewer stages");
  CHECK_THROWS_WITH(order_of(Kind::zb_h2, 256, 1, 4096),
                    "the order of zb-h2 is searched for, on 256 stages with at most 1024 "
                    "microbatches, not 4096; write a schedule of fixed order, such as 1f1b, or "
                    "fewer and larger microbatches");
  CHECK_THROWS_WITH(order_of(Kind::one_f_one_b, 1000, 1, 16'000),
                    "16000 microbatches on 1000 stages are 32000000 forwards and backwards; at "
                    "most 6666666 are simulated: raise micro_batch, or lower global_batch, "
                    "pipeline or virtual_stages");
  CHECK_THROWS_WITH(order_of(Kind::one_f_one_b, 100'000, 1, 8),
                    "100000 stages are more than the 10000 that are simulated; write fewer");
}

TEST_CASE("a refusal names the keys that have most to do with it") {
  const auto keys = [](const PipelineSize& size) { return too_large(size)->keys; };
  CHECK(keys({Kind::gpipe, 10'001, 1, 1}) == std::vector<std::string>{"plan.pipeline"});
  CHECK(keys({Kind::zb_v, 1000, 2, 16}) ==
        std::vector<std::string>{"plan.schedule", "search.schedule"});
  CHECK(keys({Kind::gpipe, 10, 1, 1'000'000}) == std::vector<std::string>{"training.global_batch"});
}

namespace {

// A step whose kernels all take so many seconds.
Lowered step_of(ScheduleKind schedule, double seconds) {
  tests::World world;
  world.model.layers = 4;
  world.plan.schedule = schedule;
  world.plan.pipeline = 2;
  world.plan.virtual_stages = schedule == Kind::zb_v ? 2 : 1;
  world.training.global_batch = 8;
  return world.lowered(
      tests::costs_of([seconds](const units::Kernel&) { return seconds * 1e12; }, 0));
}

}  // namespace

TEST_CASE("an order is found for a step of weeks; one beyond 26 days is too long") {
  const auto schedule = GENERATE(Kind::zb_h1, Kind::zb_v);
  CHECK(peak_in_flight(step_of(schedule, 3000).order.front(), schedule == Kind::zb_v ? 2 : 1) <= 2);
  CHECK_THROWS_WITH(step_of(schedule, 100'000),
                    "the step would take longer than 26 days, which is not simulated; lower "
                    "global_batch or sequence_length");
}

}  // namespace limits_spec
