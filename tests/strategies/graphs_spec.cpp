// SPDX-License-Identifier: Apache-2.0
// Kernels that are launched together.
#include <algorithm>
#include <set>
#include <string_view>

#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace graphs_spec {

using namespace strategies;

namespace {

// A kernel takes 100 ticks, of which 20 are the gap before it, and the host needs 7 for a launch.
double kernels(const units::Kernel& kernel) { return kernel == units::Kernel{} ? 20 : 100; }

tests::World world_with(Software software) {
  tests::World world;
  world.software = std::move(software);
  world.software.launch_forward = world.software.launch_backward = units::Seconds{7e-12};
  return world;
}

struct Launched {
  int kernels = 0, launches = 0;
  sim::Picoseconds computing = 0;
};

Launched launched(const Pieces& pieces) {
  Launched sum;
  for (const auto& piece : pieces)
    for (const auto& step : piece.body.steps) {
      ++sum.kernels;
      sum.launches += step.issue == 7 ? 1 : 0;
      CHECK((step.issue == 7 || step.issue == 0));
      sum.computing += step.duration;
    }
  return sum;
}

std::set<std::string_view> operators_in(Graph graph, const Software& software) {
  tests::World world;
  world.model.moe =
      model::Moe{.experts = 4, .top_k = 2, .expert_ffn = 32, .shared_experts = 1, .shared_ffn = 32};
  std::set<std::string_view> names;
  auto extent = model::whole(world.model, 1, 32);
  for (const auto& op : model::layer(world.model, extent, software.kernels, units::Precision::bf16,
                                     0, model::Mlp::experts))
    if (graph_of(op, true, software) == graph) names.insert(op.name);
  return names;
}

}  // namespace

TEST_CASE("where launches block, each lasts before its own kernel and hides behind no other") {
  const auto world = world_with({.launch_blocking = true});
  const auto result = world.lowered(tests::costs_of(kernels, 0));
  for (const auto& pieces : {result.writer->forward({Block{}, Block{}}),
                             result.writer->backward({Block{}, Block{}}, Pass::backward)}) {
    const auto blocked = launched(pieces);
    CHECK(blocked.launches == 0);
    CHECK(blocked.computing == (7 + 100) * blocked.kernels);
  }
}

TEST_CASE("a graph of a whole pass is launched once, and half of the gaps goes") {
  const auto plain_world = world_with({}), graphed_world = world_with({.cuda_graphs = true});
  const auto plain = plain_world.lowered(tests::costs_of(kernels, 0));
  const auto graphed = graphed_world.lowered(tests::costs_of(kernels, 0));
  const auto pass = GENERATE(Pass::backward, Pass::backward_input, Pass::backward_weight);
  const auto both = [&](const Pieces& one, const Pieces& other) {
    const auto apart = launched(one), together = launched(other);
    CHECK(apart.launches == apart.kernels);
    CHECK(together.launches == 1);
    CHECK(together.kernels == apart.kernels);
    CHECK(apart.computing == 100 * apart.kernels);
    CHECK(together.computing == (100 - 9) * apart.kernels);
  };
  both(plain.writer->forward({Block{}, Block{}}), graphed.writer->forward({Block{}, Block{}}));
  both(plain.writer->backward({Block{}, Block{}}, pass),
       graphed.writer->backward({Block{}, Block{}}, pass));
}

TEST_CASE("a graph of attention is launched once in each layer, the rest kernel by kernel") {
  const auto plain_world = world_with({});
  const auto graphed_world = world_with({.graphed_parts = {GraphedPart::attn}});
  const auto plain = plain_world.lowered(tests::costs_of(kernels, 0));
  const auto graphed = graphed_world.lowered(tests::costs_of(kernels, 0));
  const auto attention = launched(plain.writer->forward_part(Block{}, model::Part::attention));
  const auto all = launched(plain.writer->forward({Block{}, Block{}}));
  const auto some = launched(graphed.writer->forward({Block{}, Block{}}));
  CHECK(some.launches == 2 + all.kernels - 2 * attention.kernels);
  CHECK(some.computing == 100 * all.kernels - 9 * 2 * attention.kernels);
  CHECK(launched(graphed.writer->backward({Block{}, Block{}}, Pass::backward)).launches ==
        2 + 2 * launched(plain.writer->backward_part(Block{}, model::Part::mlp)).kernels);
}

TEST_CASE("the scopes of a layer with experts are Megatron's") {
  using enum GraphedPart;
  const std::set<std::string_view> router{"MLP norm", "router", "shared expert up projection",
                                          "shared expert activation",
                                          "shared expert down projection"};
  CHECK(operators_in(Graph::experts, {.graphed_parts = {moe_router}}) == router);
  CHECK(operators_in(Graph::experts, {.graphed_parts = {moe_preprocess}}) ==
        std::set<std::string_view>{"permute"});
  CHECK(operators_in(Graph::experts, {.graphed_parts = {moe_router, moe_preprocess}}).size() == 6);
  CHECK(operators_in(Graph::attention, {.graphed_parts = {attn}}).contains("attention"));
  CHECK_FALSE(operators_in(Graph::attention, {.graphed_parts = {attn}}).contains("MLP norm"));
  CHECK(operators_in(Graph::none, {.cuda_graphs = true}).empty());
}

TEST_CASE("a graph holds the communication inside its pass: it is launched once all the same") {
  auto world = world_with({.cuda_graphs = true});
  world.plan.context = 2;
  world.plan.context_method = GENERATE(ContextMethod::ring, ContextMethod::ulysses);
  const auto result = world.lowered(tests::costs_of(kernels, 0));
  for (const auto& pieces : {result.writer->forward({Block{}, Block{}}),
                             result.writer->backward({Block{}, Block{}}, Pass::backward)}) {
    CHECK(pieces.size() > 2);
    CHECK(launched(pieces).launches == 1);
  }
}

TEST_CASE("no graph holds a wait of the host: the kernels behind it are another launch") {
  auto world =
      world_with({.graphed_parts = {GraphedPart::moe_router, GraphedPart::moe_preprocess}});
  world.model.moe = model::Moe{.experts = 4, .top_k = 2, .expert_ffn = 32};
  const auto result = world.lowered(tests::costs_of(kernels, 0));
  const Block layer{.experts = true};
  int waits = 0;
  for (const auto& piece : result.writer->forward({layer, layer}))
    if (piece.body.drains) {
      ++waits;
      CHECK(piece.body.steps.front().issue == 7);
    }
  CHECK(waits == 2);
}

}  // namespace graphs_spec
