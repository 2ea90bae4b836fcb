// SPDX-License-Identifier: Apache-2.0
// Parts of a sequence on several ranks.
#include <algorithm>
#include <cmath>
#include <vector>

#include "strategies/ring.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/groups.hpp"
#include "tests/strategies/small_world.hpp"

namespace context_spec {

using namespace strategies;
using tests::costs_of;

namespace {

// A world in which four ranks share the sequence of each replica.
struct World : tests::World {
  World() {
    plan.context = 4;
    software.kernels.attention = model::AttentionKernel::flash;
  }
};

// The bytes of the buffers that one activity exchanges in a step.
double exchanged(const World& world, Activity activity) {
  const auto result = world.lowered(costs_of());
  double bytes = 0;
  for (const auto& op : result.program.ops())
    if (op.kind == sim::Op::Kind::collective && op.activity == activity)
      bytes += static_cast<double>(op.duration);
  return bytes;
}

}  // namespace

TEST_CASE("keys and values go round a ring, and backward their gradients with them") {
  World world;
  world.plan.context_method = ContextMethod::ring;
  CHECK(exchanged(world, forward_context_comm) == 2 * 32 * 64 * 2);
  CHECK(exchanged(world, backward_context_comm) == 2 * (2 * 32 * 64 * 2));
  world.model.kv_heads = 1;
  CHECK(exchanged(world, forward_context_comm) == 2 * 32 * 16 * 2);
}

TEST_CASE("keys and values are gathered each way, their gradients scattered backward") {
  World world;
  world.plan.context_method = ContextMethod::all_gather;
  CHECK(exchanged(world, forward_context_comm) == 2 * 32 * 64 * 2);
  CHECK(exchanged(world, backward_context_comm) == 2 * (2 * 32 * 64 * 2));
}

// Four ranks pass on fp32 gradients of 8 tokens four times: a gather of 32 tokens moves three
// parts.
TEST_CASE("PyTorch sends gradients of keys and values round in fp32, and once more than a ring") {
  World world;
  world.software.blockwise_context = true;
  world.plan.context_method = GENERATE(ContextMethod::all_gather, ContextMethod::ring);
  world.plan.context = GENERATE(2, 4);
  const double keys = 2 * 32 * 64 * 2, gradients = 2 * keys,
               others = static_cast<double>(world.plan.context - 1);
  CHECK(exchanged(world, forward_context_comm) == keys);
  CHECK(exchanged(world, backward_context_comm) ==
        std::floor(keys + gradients + gradients / others));
  world.model.kv_heads = 1;
  CHECK(exchanged(world, forward_context_comm) == keys / 4);
  world.software.kernels.repeats_kv = true;
  CHECK(exchanged(world, forward_context_comm) == keys);
  world.plan.context_method = ContextMethod::ulysses;
  const auto ulysses = exchanged(world, backward_context_comm);
  world.software.blockwise_context = false;
  CHECK(exchanged(world, backward_context_comm) == ulysses);
}

TEST_CASE("Ulysses exchanges queries, keys, values and output in each direction") {
  World world;
  world.plan.context_method = ContextMethod::ulysses;
  const double one = 2.0 * 32 * 64 / 4;
  CHECK(exchanged(world, forward_context_comm) == 4 * one);
  CHECK(exchanged(world, backward_context_comm) == 4 * one);
  world.model.kv_heads = 2;  // each of four ranks needs one whole head
  CHECK(exchanged(world, forward_context_comm) == 4 * one);
  world.plan.context = 2;
  CHECK(exchanged(world, forward_context_comm) == 2 * (2.0 * 32 * 64 + 2.0 * 32 * 32) / 2);
}

TEST_CASE("tensor-parallel ranks exchange their heads only") {
  World world;
  world.plan.tensor = 2;
  world.plan.context_method = GENERATE(ContextMethod::ring, ContextMethod::all_gather);
  CHECK(exchanged(world, forward_context_comm) == 2 * 32 * 32 * 2);
}

TEST_CASE("layers that run again exchange again") {
  World world;
  world.plan.context_method =
      GENERATE(ContextMethod::ring, ContextMethod::all_gather, ContextMethod::ulysses);
  CHECK(exchanged(world, recompute_context_comm) == 0);
  world.plan.recompute.kind = GENERATE(Recompute::Kind::selective, Recompute::Kind::full);
  CHECK(exchanged(world, recompute_context_comm) == exchanged(world, forward_context_comm));
}

TEST_CASE("a ring hides under all rounds of attention but the last; a gather is waited for") {
  // Attention takes 2·2·4·(32²/2)·16 flops forward on the whole sequence: four rounds of 8192 on
  // each of four ranks.
  const auto attention = [](const units::Kernel& kernel) {
    const bool forward = kernel.layout == units::Kernel::Layout::forward;
    return kernel.kind == units::Kernel::Kind::attention && forward ? 25 * kernel.flops.value / 8192
                                                                    : 0;
  };
  World world;
  const auto exposed = [&](ContextMethod method, double ticks, bool blockwise = false) {
    world.plan.context_method = method;
    world.software.blockwise_context = blockwise;
    const auto result = world.lowered(costs_of(attention, ticks));
    const auto trace = sim::run(result.program);
    const auto spent = sim::measure(result.program, trace).of_actor.front();
    CHECK(spent.on[forward_compute] == 100);
    const auto alone = strategies::spent_alone(result.writer->forward({Block{}}));
    CHECK(alone.on[forward_context_comm] == spent.on[forward_context_comm]);
    return spent.on[forward_context_comm];
  };
  CHECK(exposed(ContextMethod::ring, 60) == 0);
  CHECK(exposed(ContextMethod::ring, 75) == 0);
  CHECK(exposed(ContextMethod::ring, 100) == 25);
  CHECK(exposed(ContextMethod::all_gather, 60) == 60);
  CHECK(exposed(ContextMethod::ulysses, 60) == 4 * 60);
  // PyTorch's gather runs beside the rank's own part, a quarter.
  CHECK(exposed(ContextMethod::all_gather, 60, true) == 60 - 25);
  CHECK(exposed(ContextMethod::all_gather, 20, true) == 0);
  CHECK(exposed(ContextMethod::ring, 100, true) == 25);
}

TEST_CASE("PyTorch's gradients of keys and values hide under the part that follows, but the last") {
  // Backward attention takes 5/2 of the forward pass: four rounds of 50 ticks in the same unit.
  const auto attention = [](const units::Kernel& kernel) {
    const bool backward = kernel.layout == units::Kernel::Layout::input_gradient;
    return kernel.kind == units::Kernel::Kind::attention && backward ? kernel.flops.value / 409.6
                                                                     : 0;
  };
  World world;
  world.software.blockwise_context = true;
  world.plan.context_method = ContextMethod::all_gather;
  // Each exchange takes `ticks`, whatever it moves: the gather beside 50 ticks, three sends beside
  // 150, and a third of that behind them.
  const auto exposed = [&](double ticks) {
    const auto writer = world.lowered(costs_of(attention, ticks)).writer;
    const auto spent = spent_alone(writer->backward({Block{}}, Pass::backward_input));
    CHECK(spent.on[input_gradient_compute] == 200);
    return spent.on[backward_context_comm];
  };
  CHECK(exposed(30) == 10);
  CHECK(exposed(60) == 10 + 20);
  CHECK(exposed(180) == 130 + 30 + 60);
}

TEST_CASE("a ring attends to one block after the other and merges their outputs") {
  World world;
  const auto masked = GENERATE(true, false);
  world.model.causal = masked;
  std::vector<units::Kernel> calls;
  const auto see = [&](const units::Kernel& kernel) {
    if (kernel.kind == units::Kernel::Kind::attention &&
        kernel.layout == units::Kernel::Layout::forward && kernel.m < 32)
      calls.push_back(kernel);
    return 0.0;
  };
  world.lowered(costs_of(see, 0));
  // A round has 8 tokens: their own keys, then half of another rank's where those behind are
  // masked. That round is priced once for all three.
  REQUIRE(calls.size() == 2);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CHECK(calls[i].m == 8);
    CHECK(calls[i].n == (i > 0 && masked ? 4 : 8));
    CHECK(calls[i].causal == (masked && i == 0));
    CHECK(calls[i].flops == calls.front().flops);
  }
  const auto share = world.share();
  const units::Kernel whole{.kind = units::Kernel::Kind::attention,
                            .causal = masked,
                            .batch = 4,
                            .m = 32,
                            .n = 32,
                            .k = 16,
                            .flops = {160}};
  const auto merge_bytes = [&](bool forward) {
    const auto rounds = rounds_of(whole, forward, share);
    REQUIRE(rounds);
    CHECK(rounds->others == 3);
    REQUIRE(rounds->each.size() == 2);
    CHECK(rounds->each.front().flops.value == 10);
    return rounds->each.back().traffic.value;
  };
  // A merge touches outputs of 8 tokens, gradients of their queries, and gradients of keys and
  // values of 4 or 8 tokens.
  CHECK(merge_bytes(true) == 10 * 8 * 64);
  CHECK(merge_bytes(false) == 10 * (8 * 64 + (masked ? 4 : 8) * 2 * 64));
  // PyTorch's eager kernels: to fp32, difference, weighted, difference; sums of gradients, and 8
  // bytes for all gradients of keys and values of 8 tokens, in one buffer.
  auto eager = world;
  eager.software.blockwise_context = true;
  const auto traffic = [&](bool forward) {
    const auto rounds = rounds_of(whole, forward, eager.share());
    REQUIRE(rounds);
    std::vector<double> bytes;
    for (std::size_t i = 1; i < rounds->each.size(); ++i)
      bytes.push_back(rounds->each[i].traffic.value);
    return bytes;
  };
  CHECK(traffic(true) == std::vector<double>{6 * 512, 12 * 512, 8 * 512, 12 * 512});
  CHECK(traffic(false) ==
        std::vector<double>{10 * 512, 10 * (masked ? 4 : 8) * 128.0, 8 * 8 * 128.0});
  eager.software.compile = true;
  CHECK(traffic(true) == std::vector<double>{merge_bytes(true)});
  CHECK(traffic(false) == std::vector<double>{merge_bytes(false)});
  auto window = whole;
  window.n = 16;
  CHECK_FALSE(rounds_of(window, true, share));
}

TEST_CASE("a ring's exchanges slow the rounds that they run beside") {
  World world;
  world.software.interference = 1;
  const auto attention = [](const units::Kernel& kernel) {
    return kernel.kind == units::Kernel::Kind::attention ? 25 * kernel.flops.value / 8192 : 0;
  };
  const auto result = world.lowered(costs_of(attention, 30));
  // Rounds of 75 ticks beside 30 ticks of exchange take 105; the last round has the network to
  // itself.
  CHECK(spent_alone(result.writer->forward({Block{}})).total() == 105 + 25);
}

TEST_CASE("the parts of a sequence compute, and keep, as much as the whole does") {
  World world;
  world.plan.context_method =
      GENERATE(ContextMethod::ring, ContextMethod::all_gather, ContextMethod::ulysses);
  world.software.kernels.attention =
      GENERATE(model::AttentionKernel::flash, model::AttentionKernel::unfused);
  world.model.dropout = GENERATE(0.0, 0.1);
  const auto costs = costs_of(tests::flops_of, 0);
  const Block layer;
  const auto part = world.lowered(costs);
  auto undivided = world;
  undivided.plan.context = 1;
  const auto whole = undivided.lowered(costs);
  for (const auto pass : {Pass::backward_input, Pass::backward_weight})
    CHECK(4 * spent_alone(part.writer->backward({layer}, pass)).total() ==
          spent_alone(whole.writer->backward({layer}, pass)).total());
  CHECK(4 * spent_alone(part.writer->forward({layer})).total() ==
        spent_alone(whole.writer->forward({layer})).total());
  CHECK(4 * part.writer->cost(layer).kept == whole.writer->cost(layer).kept);
  CHECK(part.writer->cost(layer).parameters.all() == whole.writer->cost(layer).parameters.all());
}

// With Ulysses each of four ranks attends with one of four heads of queries, for which nothing is
// repeated; outside the core every rank copies the keys and values of all heads.
TEST_CASE("ranks with one head of queries attend as long whether keys are repeated or not") {
  World world;
  world.model.kv_heads = 1;
  world.plan.context_method = ContextMethod::ulysses;
  const auto costs = costs_of(tests::flops_of, 0);
  const auto once = world.lowered(costs);
  world.software.kernels.repeats_kv = true;
  const auto repeated = world.lowered(costs);
  const auto core_of = [](const PassWriter& writer) {
    const auto& operators = writer.cost(Block{}).operators;
    return *std::ranges::find_if(operators, &OperatorCost::core);
  };
  const auto one = core_of(*once.writer), other = core_of(*repeated.writer);
  REQUIRE(one.forward.size() == 1);
  REQUIRE(other.forward.size() == 1);
  CHECK(one.forward.front().duration == 2 * 2 * (32 * 32 / 2) * 16);
  CHECK(other.forward.front().duration == one.forward.front().duration);
  CHECK(repeated.writer->cost(Block{}).operators.size() ==
        once.writer->cost(Block{}).operators.size() + 1);
}

TEST_CASE("parts of a sequence sum gradients and share states as replicas do") {
  World world;
  world.plan.data = 2;
  world.training.global_batch = 2;
  world.plan.zero = 1;
  const auto result = world.lowered(costs_of());
  CHECK(result.shards.with_layer == 8);
  CHECK(result.microbatches == 1);  // each replica takes one sequence, whatever its parts
  CHECK(result.actors.size() == 1);
  CHECK(result.actors.front().multiplicity == 8);
}

TEST_CASE("the context-parallel rank is placed where the order says") {
  Plan plan{.tensor = 2, .pipeline = 3, .data = 5, .context = 4};
  const Placement inner(plan);
  CHECK(inner.rank_of({.tensor = 1, .data = 2, .pipeline = 1, .context = 3}) ==
        1 + 2 * (3 + 4 * (2 + 5 * 1)));
  CHECK(context_group(inner, 1) == std::vector<std::int64_t>{1, 3, 5, 7});
  plan.rank_order = {Degree::tensor, Degree::data, Degree::context, Degree::pipeline};
  const Placement outer(plan);
  CHECK(context_group(outer, 1) == std::vector<std::int64_t>{1, 11, 21, 31});
  for (const auto* placement : {&inner, &outer}) {
    CHECK(tests::data_group(*placement, 1).size() == 20);
    CHECK(std::ranges::is_sorted(tests::data_group(*placement, 1)));
    for (std::int64_t rank = 0; rank < placement->ranks(); ++rank) {
      const auto where = placement->at(rank);
      CHECK(placement->rank_of(where) == rank);
      CHECK(placement->rank_of_sharer(placement->index_of_sharer(where), where) == rank);
    }
  }
}

}  // namespace context_spec
