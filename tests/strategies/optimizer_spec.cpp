// SPDX-License-Identifier: Apache-2.0
// The costs of optimizers beside their states: device memory traffic, flops, and bytes on wires.
#include <algorithm>
#include <set>

#include "plans/memory.hpp"
#include "sim/engine.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"

namespace optimizer_spec {

using namespace strategies;
using counting::World;

TEST_CASE("device memory traffic of an update, bytes a parameter") {
  const auto [optimizer, bytes] = GENERATE(table<Optimizer, double>({{Optimizer::adamw, 46},
                                                                     {Optimizer::adam, 46},
                                                                     {Optimizer::sophia, 46},
                                                                     {Optimizer::lamb, 46 + 12},
                                                                     {Optimizer::onebit_adam, 42},
                                                                     {Optimizer::sgd, 38},
                                                                     {Optimizer::muon, 38},
                                                                     {Optimizer::adafactor, 42}}));
  const Training training{.sequence_length = 1, .global_batch = 1, .optimizer = optimizer};
  CHECK(optimizer_traffic({}, training, {.optimizer_traffic = 46}) == bytes);
}

TEST_CASE("fp32 has no 16-bit copy to write") {
  const auto precision = GENERATE(units::Precision::fp32, units::Precision::tf32);
  CHECK(optimizer_traffic({}, {.precision = precision}, {.optimizer_traffic = 46}) == 44);
}

TEST_CASE("Muon's Newton-Schulz takes 5 (4n²m + 2n³) flops a matrix, shared by ZeRO") {
  World world;
  world.training.optimizer = Optimizer::muon;
  world.plan = {.data = 4, .zero = GENERATE(0, 1)};
  const auto result = counting::lowered(world, counting::costs(tests::flops_of));
  // Each of eight layers has matrices of 64 x 192, 64 x 64 and twice 64 x 256.
  const auto flops = [](double n, double m) { return 5 * (4 * n * n * m + 2 * n * n * n); };
  const double all = 8 * (flops(64, 192) + flops(64, 64) + 2 * flops(64, 256));
  for (std::size_t i = 0; i < result.program.ops().size(); ++i)
    if (result.program.labels()[i].kind == label_optimizer) {
      const auto& body = result.program.templates()[result.program.ops()[i].body];
      REQUIRE(body.steps.size() == 2);
      CHECK(static_cast<double>(body.steps[1].duration) ==
            Approx(all / (world.plan.zero == 0 ? 1 : 4)));
    }
  CHECK(result.actors[0].held.matrices.all() == 8 * (64 * 192 + 64 * 64 + 2 * 64 * 256));
}

TEST_CASE("ZeRO cuts Muon's matrices: they are gathered once more, in 16 bit") {
  World world;
  world.plan = {.data = 4, .zero = 1};
  const auto gathered = [&](Optimizer optimizer) {
    world.training.optimizer = optimizer;
    const auto result = counting::lowered(world);
    return counting::per_parameter(result, {label_gather_parameters}) *
           result.actors[0].held.parameters.all();
  };
  CHECK(gathered(Optimizer::muon) - gathered(Optimizer::adamw) ==
        2 * 8 * (64 * 192 + 64 * 64 + 2 * 64 * 256));
}

TEST_CASE("gradients travel as a bit or a byte each") {
  World world;
  world.plan = {.data = 4, .zero = GENERATE(0, 1)};
  const double passes = world.plan.zero == 0 ? 2 : 1;
  const auto reduced = [&] {
    return counting::per_parameter(counting::lowered(world), {label_reduce_gradients});
  };
  CHECK(reduced() == Approx(2 * passes).epsilon(1e-3));
  world.plan.gradient_compression = GradientCompression::fp8;
  CHECK(reduced() == Approx(passes).epsilon(1e-3));
  world.plan.gradient_compression = GradientCompression::onebit;
  CHECK(reduced() == Approx(passes / 8).epsilon(1e-3));
  world.plan.gradient_compression = GradientCompression::none;
  world.training.optimizer = Optimizer::onebit_adam;
  CHECK(reduced() == Approx(passes / 8).epsilon(1e-3));
}

TEST_CASE("packing signs reads gradient and error and writes error and sign, fp8 reads twice") {
  const Training training;
  Plan plan;
  CHECK(packing_traffic(plan, training, 2) == 0);
  plan.gradient_compression = GradientCompression::onebit;
  CHECK(packing_traffic(plan, training, 2) == 2 + 4 + 4 + 0.125);
  CHECK(unpacking_traffic(plan, training, 2) == 0.125 + 2);
  plan.gradient_compression = GradientCompression::fp8;
  CHECK(packing_traffic(plan, training, 2) == 2 + 2 + 1);
  CHECK(unpacking_traffic(plan, training, 2) == 1 + 2);
}

TEST_CASE("1-bit Adam sends its momentum after the last gradient, in one piece") {
  World world;
  world.plan = {.data = 4, .bucket = units::Bytes{1}};
  world.plan.overlap.data = true;
  const auto reductions = [&](Optimizer optimizer) {
    world.training.optimizer = optimizer;
    const auto result = counting::lowered(world);
    int count = 0;
    for (std::size_t i = 0; i < result.program.ops().size(); ++i)
      count += result.program.labels()[i].kind == label_reduce_gradients &&
               result.program.ops()[i].kind == sim::Op::Kind::collective;
    return count;
  };
  CHECK(reductions(Optimizer::adam) == 10);
  CHECK(reductions(Optimizer::onebit_adam) == 1);
}

TEST_CASE("no stage updates before the norm of all gradients is known, whatever Muon gathers") {
  World world;
  world.training.optimizer = GENERATE(Optimizer::adamw, Optimizer::muon);
  const int data = GENERATE(1, 2);
  world.plan = {.pipeline = 4, .data = data, .zero = GENERATE(1, 2)};
  world.plan.overlap.data = GENERATE(false, true);
  world.training.global_batch = 4 * data;
  world.software.step_overhead = {0};
  const auto result = counting::lowered(world);
  const auto trace = sim::run(result.program);
  std::int64_t known = 0, first = trace.finish;
  for (std::size_t i = 0; i < result.program.ops().size(); ++i) {
    const auto& op = result.program.ops()[i];
    const auto kind = result.program.labels()[i].kind;
    for (auto event = op.first; event < op.first + op.count; ++event) {
      if (kind == label_gradient_norm) known = std::max(known, trace.end[event]);
      if (kind == label_optimizer) first = std::min(first, trace.start[event]);
    }
  }
  CHECK(known > 0);
  CHECK(first >= known);
}

TEST_CASE("the host takes its time for each tensor of weights whose states a rank keeps") {
  World world;  // each of eight layers has two norms, the joined projection, its output, and an
                // MLP's two
  world.software.step_overhead = units::Seconds{1e-3};
  const auto before_update = [&] {
    const auto result = counting::lowered(world);
    for (const auto& body : result.program.templates())
      for (const auto& step : body.steps)
        if (step.activity == optimizer_compute) return step.issue;
    return sim::Picoseconds{-1};
  };
  const auto alone = before_update();
  CHECK(alone == 1'000'000'000);
  world.software.step_overhead_per_tensor = units::Seconds{10e-6};
  const auto tensors = (before_update() - alone) / 10'000'000;
  CHECK(tensors == 8 * 6 + 4);  // and the embeddings of words and places, the last norm, the head
  world.plan = {.data = 2, .zero = 1};
  world.training.global_batch = 2;
  CHECK(before_update() - alone == tensors * 10'000'000 / 2);
}

TEST_CASE("Muon's products have the precision of the training, 16 bit where that is narrow") {
  using enum units::Precision;
  const auto [training, expected] = GENERATE(table<units::Precision, units::Precision>(
      {{fp16, fp16}, {bf16, bf16}, {fp8, bf16}, {fp32, fp32}}));
  World world;
  world.training.optimizer = Optimizer::muon;
  world.training.precision = training;
  const auto result = counting::lowered(world);
  const auto& products = result.writer->cost(Block{}).newton_schulz;
  REQUIRE_FALSE(products.empty());
  for (const auto& product : products) CHECK(product.precision == expected);
  // The product of 64 x 192 with its transpose reads both and writes 64 x 64.
  CHECK(products.front().traffic.value ==
        units::element_bytes(expected) * (2 * 64 * 192 + 64 * 64));
}

// Tensor-parallel groups have three ranks and nodes eight, so the third group lies on two nodes.
TEST_CASE("Sophia's estimate takes a share of the passes that the rank itself runs") {
  World world;
  world.model.heads = world.model.kv_heads = 3;
  world.model.head_dim = 16;
  world.model.ffn = 255;
  world.model.hidden = 48;
  world.training.optimizer = Optimizer::sophia;
  world.plan = {.tensor = 3, .data = 3};
  world.training.global_batch = 3;
  auto costs = counting::costs();
  costs.collective = [](topology::Collective, units::Bytes, const topology::GroupShape& group) {
    return topology::Sending{{group.nodes > 1 ? 1e-6 : 1e-9}, {0}, {1}};
  };
  const auto result = counting::lowered(world, costs);
  std::set<std::int64_t> estimates;
  for (std::size_t i = 0; i < result.program.ops().size(); ++i)
    if (result.program.labels()[i].kind == label_optimizer) {
      const auto& op = result.program.ops()[i];
      for (std::uint32_t who = 0; who < op.count; ++who)
        estimates.insert(result.program.body(result.program.body_of(op, who)).steps[1].duration);
    }
  REQUIRE(estimates.size() == 2);
  // The estimate takes a share of a forward and a backward pass: two exchanges in each of eight
  // layers, one each for the embedding and the head, and three in the loss. An exchange takes a
  // millionth of a second between nodes, a billionth inside of one.
  CHECK(*estimates.rbegin() - *estimates.begin() ==
        Approx(0.05 * (4 * 8 + 2 + 3) * (1e6 - 1e3)).epsilon(1e-3));
}

}  // namespace optimizer_spec
