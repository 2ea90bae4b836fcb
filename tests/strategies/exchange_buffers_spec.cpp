// SPDX-License-Identifier: Apache-2.0
// Memory of tensors that other ranks send: keys and values of other parts, rows of other ranks'
// tokens.
#include "strategies/context.hpp"
#include "strategies/experts.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/counting.hpp"

namespace exchange_buffers_spec {

using namespace strategies;
using counting::World;

namespace {

Share share(const World& world) {
  return {world.model, world.plan, world.training, world.software};
}

// The most bytes that a layer needs beside those that it keeps. Its MLP keeps next to nothing, so
// the attention needs the most.
std::int64_t largest(const World& world) {
  const auto blocks = blocks_of(world.model, world.training, world.plan);
  const PassWriter writer(share(world), counting::costs(), blocks);
  return writer.cost(blocks.front()[1]).largest_growing;
}

}  // namespace

// Keys and values of 32 tokens, four heads of 16 and 2 bytes take 8192 bytes for the whole
// sequence.
TEST_CASE("gathered keys and values are held while the core runs; a ring holds two parts") {
  World world;
  world.plan.context = 4;
  const auto buffer = [&](ContextMethod method) {
    world.plan.context_method = method;
    return context_buffer(share(world)).value;
  };
  CHECK(buffer(ContextMethod::all_gather) == 8192);
  CHECK(buffer(ContextMethod::ring) == 8192 / 2);
  CHECK(buffer(ContextMethod::ulysses) == 0);
  world.model.ffn = 16;
  world.plan.context_method = ContextMethod::all_gather;
  const auto whole = largest(world);
  world.plan.context_method = ContextMethod::ring;
  CHECK(whole - largest(world) == 4096);
  world.plan.context = 1;
  CHECK(buffer(ContextMethod::all_gather) == 0);
}

// Each of four ranks sends 32 rows of 64 values of 2 bytes. Two copies of each row of one rank take
// 8192 bytes.
TEST_CASE("the all-gather dispatcher holds the rows of all ranks while it chooses and sums up") {
  World world;
  world.model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 48};
  world.plan.data = world.plan.expert = 4;
  const auto dispatchers = {MoeDispatcher::all_to_all, MoeDispatcher::deepep,
                            MoeDispatcher::hybridep};
  for (const auto dispatcher : dispatchers) {
    world.software.moe_dispatcher = dispatcher;
    CHECK(gathered_rows(share(world)).value == 0);
  }
  const auto without = largest(world);
  world.software.moe_dispatcher = MoeDispatcher::all_gather;
  CHECK(gathered_rows(share(world)).value == 4 * 32 * 64 * 2);
  CHECK(largest(world) - without == 4 * 32 * 64 * 2);
  world.plan.expert = 1;
  CHECK(gathered_rows(share(world)).value == 0);
}

}  // namespace exchange_buffers_spec
