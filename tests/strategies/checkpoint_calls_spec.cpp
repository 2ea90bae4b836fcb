// SPDX-License-Identifier: Apache-2.0
// The host's time for recomputation: launches as in the forward pass, and a call for each
// checkpoint.
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"
#include "tests/strategies/small_world.hpp"

namespace checkpoint_calls_spec {

using namespace strategies;

namespace {

constexpr sim::Picoseconds forward_call = 100, backward_call = 10;

// A world in which a kernel takes a tick, and the host a hundred for a launch, or ten backward.
struct World : tests::World {
  World() {
    model = small_models::llama();
    software.launch_forward = units::Seconds{forward_call * 1e-12};
    software.launch_backward = units::Seconds{backward_call * 1e-12};
  }
  PassWriter writer(const std::vector<Block>& blocks) const {
    return {share(), tests::costs_of([](const units::Kernel&) { return 1.0; }), {blocks}};
  }
  sim::Picoseconds forward(const std::vector<Block>& blocks) const {
    return issued(writer(blocks).forward(blocks));
  }
  sim::Picoseconds backward(const std::vector<Block>& blocks, Pass pass = Pass::backward) const {
    return issued(writer(blocks).backward(blocks, pass));
  }
  // The launches of what runs again in a block.
  sim::Picoseconds launches_again(const Block& block) const {
    const auto writer = this->writer({block});
    std::size_t kernels = 0;
    for (const auto& replay : writer.cost(block).replays)
      for (const auto& op : replay.operators) kernels += op.forward.size();
    return static_cast<sim::Picoseconds>(kernels);
  }
  static sim::Picoseconds issued(const Pieces& pieces) {
    sim::Picoseconds sum = 0;
    for (const auto& piece : pieces)
      for (const auto& step : piece.body.steps) sum += step.issue;
    return sum;
  }
};

Block dropping(const std::vector<Module>& modules) {
  return {.kind = Block::Kind::layer, .drop = {Drop::modules, ModuleSet::of(modules)}};
}

Block whole(std::uint8_t checkpoint = 0) {
  return {.kind = Block::Kind::layer, .drop = {Drop::everything}, .checkpoint = checkpoint};
}

}  // namespace

TEST_CASE("a recomputed module costs the host its launches once more and a checkpoint each way") {
  const World world;
  const auto kept = Block{}, dropped = dropping({Module::core_attn});
  CHECK(world.launches_again(dropped) == 1);  // flash attention
  CHECK(world.forward({dropped}) == world.forward({kept}) + forward_call);
  CHECK(world.backward({dropped}) == world.backward({kept}) + backward_call + 1 * forward_call);
}

TEST_CASE("the norms of both halves of a layer are a checkpoint each") {
  const World world;
  const auto kept = Block{}, dropped = dropping({Module::layernorm});
  CHECK(world.forward({dropped}) == world.forward({kept}) + 2 * forward_call);
  CHECK(world.backward({dropped}) ==
        world.backward({kept}) + 2 * backward_call + world.launches_again(dropped) * forward_call);
}

TEST_CASE("gradients of weights alone run nothing again and call no checkpoint") {
  const World world;
  CHECK(world.backward({dropping({Module::core_attn})}, Pass::backward_weight) ==
        world.backward({Block{}}, Pass::backward_weight));
}

TEST_CASE("a row of layers is one checkpoint, a layer of its own another") {
  const World world;
  const std::vector<Block> row{whole(0), whole(Block::inside), whole(Block::inside)};
  const std::vector<Block> apart{whole(0), whole(0), whole(0)};
  const std::vector<Block> kept(3);
  CHECK(world.forward(row) == world.forward(kept) + forward_call);
  CHECK(world.forward(apart) == world.forward(kept) + 3 * forward_call);
  CHECK(world.backward(apart) == world.backward(row) + 2 * backward_call);
}

TEST_CASE("a compiler leaves no call of a checkpoint, and recomputes in the backward pass") {
  World world;
  world.software.compile = true;
  const auto kept = Block{}, dropped = dropping({Module::core_attn});
  CHECK(world.forward({dropped}) == world.forward({kept}));
  CHECK(world.backward({dropped}) == world.backward({kept}) + backward_call);
}

TEST_CASE("a CUDA graph leaves no call of the checkpoints inside of it") {
  World world;
  world.software.graphed_parts = {GraphedPart::attn};
  const auto kept = Block{};
  CHECK(world.forward({dropping({Module::core_attn})}) == world.forward({kept}));
  CHECK(world.forward({dropping({Module::mlp})}) == world.forward({kept}) + forward_call);
}

TEST_CASE("a graph of a whole backward pass is launched once, whatever its first kernel is") {
  World world;
  world.software.cuda_graphs = true;
  CHECK(world.backward({Block{}}) == backward_call);
  CHECK(world.backward({whole()}) == backward_call);
}

// Backward, the attention of the second layer is behind its MLP, and the first layer runs again
// from its attention on.
TEST_CASE("a layer that runs again is launched with no graph of the layer behind it") {
  World world;
  world.software.graphed_parts = {GraphedPart::attn};
  const auto one = world.backward({whole()});
  CHECK(world.backward({whole(), whole()}) == 2 * one);
}

}  // namespace checkpoint_calls_spec
