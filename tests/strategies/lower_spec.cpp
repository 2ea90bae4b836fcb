// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <numeric>

#include "plans/partition.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"
#include "tests/strategies/groups.hpp"

namespace lower_spec {

using namespace strategies;
using counting::lowered, counting::traffic, counting::World;

namespace {

std::map<std::string, int> ops_by_kind(const Lowered& result) {
  std::map<std::string, int> counts;
  for (const auto& op : result.program.ops())
    ++counts[op.kind == sim::Op::Kind::pass         ? "pass"
             : op.kind == sim::Op::Kind::collective ? "collective"
                                                    : "transfer"];
  return counts;
}

}  // namespace

TEST_CASE("traffic per step with m microbatches: 2 plain and ZeRO-1, m+1 ZeRO-2, 3m ZeRO-3") {
  const int m = GENERATE(1, 2, 4);
  const bool overlap = GENERATE(false, true);
  World world;
  world.plan = {.data = 8, .micro_batch = 1};
  world.plan.overlap.data = overlap;
  world.plan.bucket = units::Bytes{1e5};
  world.training.global_batch = 8 * m;
  const auto with_zero = [&](int zero) {
    auto changed = world;
    changed.plan.zero = zero;
    return traffic(changed);
  };
  // Durations are whole ticks, so each collective is rounded by half a byte at most.
  CHECK(with_zero(0) == Approx(2.0).epsilon(1e-4));
  CHECK(with_zero(1) == Approx(2.0).epsilon(1e-4));
  CHECK(with_zero(2) == Approx(m + 1.0).epsilon(1e-4));
  CHECK(with_zero(3) == Approx(3.0 * m).epsilon(1e-4));
  world.plan.reshard_after_forward = false;
  CHECK(with_zero(3) == Approx(2.0 * m).epsilon(1e-4));
}

TEST_CASE("a pipeline sends every microbatch over every edge once each way") {
  World world;
  world.plan = {.pipeline = 4, .data = 2};
  const auto counts = ops_by_kind(lowered(world));
  const int m = 16, stages = 4;
  CHECK(counts.at("transfer") == 2 * m * (stages - 1));
  CHECK(counts.at("pass") >= 2 * m * stages + stages);  // one optimizer pass for each stage
}

TEST_CASE("every activation kept by a forward pass is freed by its backward pass") {
  World world;
  world.plan.recompute.kind = GENERATE(Recompute::Kind::none, Recompute::Kind::selective,
                                       Recompute::Kind::full, Recompute::Kind::full_layers);
  world.plan.recompute.layers = 2;
  world.plan.tensor = 2;
  world.plan.pipeline = 2;
  for (const auto& held : sim::memory_held(lowered(world).program)) CHECK(held.left == 0);
}

TEST_CASE("1F1B holds p - s microbatches of activations on stage s") {
  World world;
  world.plan = {.pipeline = 4};
  world.model.dropout = 0;
  const auto result = lowered(world);
  const auto held = sim::memory_held(result.program);
  // Stages 1 and 2 have two plain layers each and hold 3 and 2 microbatches.
  CHECK(held[1].held_at_peak * 2 == held[2].held_at_peak * 3);
}

TEST_CASE("layers are split as evenly as possible; the last stage gives first, then the first") {
  const Plan four{.pipeline = 4};
  CHECK(layers_per_virtual_stage(four, 8) == std::vector<std::int64_t>{2, 2, 2, 2});
  CHECK(layers_per_virtual_stage(four, 7) == std::vector<std::int64_t>{2, 2, 2, 1});
  CHECK(layers_per_virtual_stage(four, 6) == std::vector<std::int64_t>{1, 2, 2, 1});
  CHECK(layers_per_virtual_stage(four, 5) == std::vector<std::int64_t>{1, 2, 1, 1});
  Plan given{.pipeline = 2, .layers_per_stage = {3, 5}};
  CHECK(layers_per_virtual_stage(given, 8) == std::vector<std::int64_t>{3, 5});
  CHECK_THROWS_WITH(layers_per_virtual_stage(given, 9),
                    "layers_per_stage must sum to the model's layers");
  given.layers_per_stage = {8};
  CHECK_THROWS_WITH(layers_per_virtual_stage(given, 8),
                    "layers_per_stage needs one entry per virtual stage");
}

TEST_CASE("full_layers counts per pipeline rank, over its chunks in order") {
  Plan plan{.pipeline = 2, .schedule = ScheduleKind::interleaved, .virtual_stages = 2};
  plan.recompute = {Recompute::Kind::full_layers, 3};
  const auto blocks = blocks_of(World{}.model, {}, plan);  // 8 layers, 2 in each virtual stage
  const auto dropped = [&](std::size_t v) {
    return std::ranges::count(blocks[v], Drop{Drop::everything}, &Block::drop);
  };
  CHECK(dropped(0) == 2);  // rank 0: two of its first chunk, one of its second
  CHECK(dropped(2) == 1);
  CHECK(dropped(1) == 2);
  CHECK(dropped(3) == 1);
}

TEST_CASE("ranks are placed innermost degree first, and back") {
  Plan plan{.tensor = 4, .pipeline = 3, .data = 2};
  Placement tp_first(plan);
  CHECK(tp_first.rank_of({.tensor = 1, .data = 1, .pipeline = 2}) == 1 + 4 * (1 + 2 * 2));
  CHECK(tests::data_group(tp_first, 1) == std::vector<std::int64_t>{1, 5});
  plan.rank_order = {Degree::tensor, Degree::pipeline, Degree::data};
  Placement pp_before_dp(plan);
  CHECK(pp_before_dp.rank_of({.tensor = 1, .data = 1, .pipeline = 2}) == 1 + 4 * (2 + 3 * 1));
  for (std::int64_t rank = 0; rank < tp_first.ranks(); ++rank) {
    CHECK(tp_first.rank_of(tp_first.at(rank)) == rank);
    CHECK(pp_before_dp.rank_of(pp_before_dp.at(rank)) == rank);
  }
}

TEST_CASE("a global batch that does not divide is refused") {
  CHECK_THROWS_WITH(microbatches_of({.data = 3, .micro_batch = 2}, {.global_batch = 8}),
                    "global_batch must be a multiple of micro_batch x data");
}

TEST_CASE("a tied embedding on one stage is reduced once") {
  World world;
  world.plan = {.data = 4};
  world.model.tied_embeddings = true;
  world.plan.overlap.data = GENERATE(false, true);
  CHECK(traffic(world) == Approx(2.0).epsilon(1e-4));
}

TEST_CASE("fp32 training reduces fp32 gradients") {
  World world;
  world.plan = {.data = 4};
  world.training.precision = units::Precision::fp32;
  CHECK(traffic(world) == Approx(4.0).epsilon(1e-4));  // in units of two bytes a parameter
}

}  // namespace lower_spec
