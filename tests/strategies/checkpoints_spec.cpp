// SPDX-License-Identifier: Apache-2.0
// Rows of layers that keep the first layer's input alone: which layers run again, how long they
// take, and the bytes that are held.
#include <string>

#include "strategies/checkpoints.hpp"
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"
#include "tests/strategies/small_world.hpp"

namespace checkpoints_spec {

using namespace strategies;

namespace {

constexpr auto inside = Block::inside;
using Levels = std::vector<int>;
using Stages = std::vector<Levels>;

Recompute rows_of(std::vector<std::int64_t> every) {
  return {Recompute::Kind::full, 0, {}, std::move(every)};
}

// The levels of checkpoints of the layers of each virtual stage.
Stages checkpoints(const Plan& plan, std::int64_t layers) {
  auto model = small_models::llama();
  model.layers = layers;
  Stages all;
  for (const auto& blocks : blocks_of(model, {}, plan)) {
    auto& levels = all.emplace_back();
    for (const auto& block : blocks)
      if (block.kind == Block::Kind::layer) levels.push_back(block.checkpoint);
  }
  return all;
}

// The way back in words: "3-5 again, 4-7" says that layers 3 to 5 run forward once more, then 4 to
// 7 do, and run back.
struct Said {
  std::string text;
  void say(std::size_t first, std::size_t last, const char* what) {
    text +=
        (text.empty() ? "" : ", ") + std::to_string(first) + '-' + std::to_string(last - 1) + what;
  }
  void again(std::size_t first, std::size_t last, std::uint8_t) { say(first, last, " again"); }
  void back(std::size_t first, std::size_t last) { say(first, last, ""); }
};

std::vector<Block> layers_of(const std::vector<std::int64_t>& every, std::int64_t layers) {
  std::vector<Block> blocks;
  for (std::int64_t i = 0; i < layers; ++i)
    blocks.push_back({.drop = {Drop::everything}, .checkpoint = checkpoint_of(every, i)});
  return blocks;
}

std::string way_back(const std::vector<std::int64_t>& every, std::int64_t layers) {
  Said said;
  const auto blocks = layers_of(every, layers);
  walk_back(blocks, 0, blocks.size(), said);
  return said.text;
}

// A world in which a kernel takes a tick.
struct World : tests::World {
  explicit World(std::vector<std::int64_t> every, std::int64_t layers = 8) {
    model = small_models::llama();
    model.layers = layers;
    plan.recompute = rows_of(std::move(every));
  }
  std::vector<Block> blocks() const { return blocks_of(model, {}, plan).front(); }
  PassWriter writer() const {
    return {share(), tests::costs_of([](const units::Kernel&) { return 1.0; }), {blocks()}};
  }
};

sim::Picoseconds recomputed(const sim::Spent& spent) { return spent.on[recompute_compute]; }

}  // namespace

TEST_CASE("in a row of layers the first alone keeps its input") {
  CHECK(checkpoints({.recompute = rows_of({3})}, 8) ==
        Stages{Levels{0, inside, inside, 0, inside, inside, 0, inside}});
  CHECK(checkpoints({.recompute = rows_of({4, 2})}, 7) ==
        Stages{Levels{0, inside, 1, inside, 0, inside, 1}});
  CHECK(checkpoints({.recompute = {Recompute::Kind::full}}, 3) == Stages{Levels{0, 0, 0}});
}

TEST_CASE("rows begin anew on every virtual stage, and behind layers that run otherwise") {
  CHECK(checkpoints({.pipeline = 2, .recompute = rows_of({2})}, 6) ==
        Stages{Levels{0, inside, 0}, Levels{0, inside, 0}});
  Plan plan{.recompute = rows_of({4})};
  plan.layers = {{1, 1, Recompute{}}, {4, 5, rows_of({2})}};
  CHECK(checkpoints(plan, 8) == Stages{Levels{0, 0, 0, inside, 0, inside, 0, inside}});
}

TEST_CASE("full_layers are rows too, and layers kept whole are in none") {
  CHECK(checkpoints({.recompute = {Recompute::Kind::full_layers, 3, {}, {2}}}, 5) ==
        Stages{Levels{0, inside, 0, 0, 0}});
}

TEST_CASE("rows run again one after the other, the last first; nested ones inside of theirs") {
  CHECK(way_back({}, 3) == "2-2, 1-1, 0-0");
  CHECK(way_back({3}, 8) == "6-7, 3-5, 0-2");
  CHECK(way_back({4, 2}, 8) == "4-5 again, 6-7, 4-5, 0-1 again, 2-3, 0-1");
  CHECK(way_back({4, 2}, 7) == "4-5 again, 6-6, 4-5, 0-1 again, 2-3, 0-1");
  CHECK(way_back({8, 4, 2}, 8) == "0-3 again, 4-5 again, 6-7, 4-5, 0-1 again, 2-3, 0-1");
  CHECK(runs_again(layers_of({4, 2}, 8)) == std::vector<std::int64_t>{2, 2, 1, 1, 2, 2, 1, 1});
}

TEST_CASE("a row runs again once, however long; nested ones once more but for the last") {
  const auto time = [](std::vector<std::int64_t> every) {
    const World world(std::move(every));
    return recomputed(spent_alone(world.writer().backward(world.blocks(), Pass::backward)));
  };
  const auto each = time({});
  CHECK(each > 0);
  CHECK(time({2}) == each);
  CHECK(time({8}) == each);
  CHECK(2 * time({4, 2}) == 3 * each);
  CHECK(8 * time({8, 1}) == 15 * each);
}

TEST_CASE("a row keeps one input, and makes all that its layers drop while it runs back") {
  const World none({}), rows({4}), nested({4, 2});
  const auto layer = none.writer().cost(none.blocks()[1]);
  const auto embedding = none.writer().cost(none.blocks().front()).kept;
  const auto head = none.writer().cost(none.blocks().back()).kept;
  const auto kept = [&](const World& world) {
    return world.writer().forward(world.blocks()).front().body.held - embedding - head;
  };
  const auto input = layer.kept, made = layer.recomputed;
  CHECK(input == 32 * 64 * 2);
  CHECK(layer.input == input);
  CHECK(kept(none) == 8 * input);
  CHECK(kept(rows) == 2 * input);
  CHECK(kept(nested) == 2 * input);

  // The peak of layers alone, before anything is freed, counts beside the kept inputs.
  const auto peak = [](const World& world) {
    auto blocks = world.blocks();
    blocks.erase(blocks.begin()), blocks.pop_back();
    return world.writer().backward(blocks, Pass::backward).front().body.peak;
  };
  const auto gradients = layer.gradients_freeing;
  CHECK(peak(none) == made + gradients);
  CHECK(peak(rows) == 4 * made + 3 * input + gradients);
  CHECK(peak(nested) == 2 * made + 1 * input + 1 * input + gradients);
}

TEST_CASE(
    "tensors that rows hold between split backward passes are freed with the gradients of "
    "weights") {
  for (const auto& every : {std::vector<std::int64_t>{2}, {4, 2}, {8}}) {
    const World world(every);
    const auto blocks = world.blocks();
    const auto writer = world.writer();
    const auto held = [&](const Pieces& pieces) { return pieces.front().body.held; };
    CHECK(held(writer.forward(blocks)) + held(writer.backward(blocks, Pass::backward_input)) +
              held(writer.backward(blocks, Pass::backward_weight)) ==
          0);
    CHECK(held(writer.forward(blocks)) + held(writer.backward(blocks, Pass::backward)) == 0);
  }
}

}  // namespace checkpoints_spec
