// SPDX-License-Identifier: Apache-2.0
// Layers with experts on several ranks: token copies, bytes, and where they travel in a pass.
#include <bit>
#include <functional>
#include <vector>

#include "sim/measures.hpp"
#include "strategies/activity.hpp"
#include "strategies/experts.hpp"
#include "strategies/lower.hpp"
#include "tests/catch.hpp"

using namespace strategies;
using topology::Collective;

namespace {

using KernelTicks = std::function<double(const units::Kernel&)>;
using CollectiveTicks = std::function<double(Collective, double, const topology::GroupShape&)>;

double nothing(const units::Kernel&) { return 0; }
double bytes_of(Collective, double size, const topology::GroupShape&) { return size; }

// A tick for each byte of a buffer, unless told otherwise.
Costs costs_of(const KernelTicks& kernel = nothing, const CollectiveTicks& collective = bytes_of) {
  return {.kernel = [=](const units::Kernel& k,
                        const Gpu&) { return units::Seconds{kernel(k) * 1e-12}; },
          .collective =
              [=](Collective kind, units::Bytes size, const topology::GroupShape& group) {
                return topology::Sending{{collective(kind, size.value, group) * 1e-12}, {0}, {1}};
              },
          .transfer =
              [](units::Bytes, std::int64_t, std::int64_t) {
                return topology::Sending{{1e-12}, {0}, {1}};
              }};
}

// 32 tokens of 64 values, each to 2 of 8 experts of width 48.
struct World {
  model::Transformer model{.layers = 1,
                           .hidden = 64,
                           .heads = 4,
                           .kv_heads = 4,
                           .head_dim = 16,
                           .ffn = 256,
                           .vocab = 512,
                           .max_sequence = 32,
                           .tied_embeddings = false,
                           .biases = false,
                           .qkv_biases = false,
                           .dropout = 0,
                           .moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 48}};
  Training training{.sequence_length = 32, .global_batch = 1};
  Plan plan{.data = 4, .expert = 4};
  Software software{.launch_forward{0}, .launch_backward{0}, .step_overhead{0}};
  topology::GroupShape experts{.ranks = 4, .least_per_node = 4, .most_per_node = 4};

  World() { software.kernels.attention = model::AttentionKernel::flash; }
  Share share() const {
    Share share{model, plan, training, software};
    share.tensor_shape.ranks = static_cast<int>(plan.tensor);
    share.expert_shape = experts;
    share.expert_tensor_shape.ranks = static_cast<int>(expert_tensor(plan));
    return share;
  }
  PassWriter writer(const Costs& costs) const { return {share(), costs, blocks_of(model, plan)}; }
  Block layer() const { return blocks_of(model, plan).front()[1]; }
  // Ticks of what is exchanged once: with bytes_of, bytes.
  double dispatched(const Costs& costs = costs_of()) const { return ticks(true, costs); }
  double combined(const Costs& costs = costs_of()) const { return ticks(false, costs); }

 private:
  double ticks(bool dispatch, const Costs& costs) const {
    const auto exchanges = expert_exchanges(share(), costs);
    const auto& sending = dispatch ? exchanges.dispatch : exchanges.combine;
    return sending ? static_cast<double>(to_ticks(sending->time())) : 0;
  }
};

}  // namespace

TEST_CASE("experts lie spread over the ranks, and the copies of all ranks are shared out evenly") {
  World world;
  auto extent = extent_of(world.share());
  CHECK(extent.experts == 2);
  CHECK(extent.expert_ffn == 48);
  CHECK(extent.routed == 32 * 2);
  world.plan.tensor = 2;
  world.plan.sequence_parallel = true;
  world.plan.expert_tensor = 1;  // whole experts: each rank has sent half of the copies
  CHECK(extent_of(world.share()).expert_ffn == 48);
  CHECK(extent_of(world.share()).routed == 32);
  world.plan.expert_tensor.reset();  // each half of an expert sees the copies of both ranks
  CHECK(extent_of(world.share()).expert_ffn == 24);
  CHECK(extent_of(world.share()).routed == 64);
}

TEST_CASE("every rank is the fullest one, which drops what is beyond its capacity") {
  World world;
  world.model.moe->imbalance = 1.5;
  CHECK(extent_of(world.share()).routed == 96);
  world.model.moe->capacity_factor = 1.25;
  CHECK(extent_of(world.share()).routed == 80);
  CHECK(world.dispatched() == 80 * 64 * 2);
  world.model.moe->imbalance = 1;  // what is not there is not padded either
  CHECK(extent_of(world.share()).routed == 64);
}

TEST_CASE("a token has its experts on so many nodes") {
  const model::Moe deepseek{.experts = 256, .top_k = 8};
  CHECK(parts_hit(deepseek, 1) == 1);
  CHECK(parts_hit(deepseek, 4) == Approx(3.6).margin(0.05));
  CHECK(parts_hit(deepseek, 8) == Approx(5.3).margin(0.05));
  CHECK(parts_hit(deepseek, 16) == Approx(6.5).margin(0.05));
  CHECK(parts_hit(deepseek, 256) == Approx(8));
  CHECK(parts_hit({.experts = 4, .top_k = 4}, 2) == 2);
}

TEST_CASE("of all choices of experts, so many parts are hit on the average") {
  const auto experts = GENERATE(4u, 6u, 12u), top_k = GENERATE(1u, 2u, 3u, 4u);
  const auto parts = GENERATE(2u, 3u, 4u);
  if (experts % parts != 0) return;
  double hit = 0, choices = 0;
  for (unsigned choice = 0; choice < 1u << experts; ++choice) {
    if (std::popcount(choice) != static_cast<int>(top_k)) continue;
    const unsigned size = experts / parts;
    for (unsigned part = 0; part < parts; ++part)
      hit += (choice >> (part * size) & ((1u << size) - 1)) != 0;
    ++choices;
  }
  CHECK(parts_hit({.experts = experts, .top_k = top_k}, parts) == Approx(hit / choices));
}

TEST_CASE("all-to-all: every copy once, dispatched and combined") {
  World world;
  CHECK(world.dispatched() == 32 * 2 * 64 * 2);
  CHECK(world.combined() == world.dispatched());
  const auto layer = model::layer(world.model, extent_of(world.share()), world.software.kernels,
                                  units::Precision::bf16, 0, model::Mlp::experts);
  for (const auto& op : layer)
    if (op.seam == model::Seam::dispatch || op.seam == model::Seam::combine)
      CHECK(op.exchanged.value == world.dispatched());
  world.plan.expert = 1;
  CHECK(world.dispatched() == 0);
}

TEST_CASE("all-gather: all rows of the group, whatever top_k") {
  World world;
  world.software.moe_dispatcher = MoeDispatcher::all_gather;
  world.model.moe->top_k = GENERATE(1, 2, 4);
  const auto only = [](Collective wanted) {
    return costs_of(nothing, [=](Collective kind, double size, const topology::GroupShape&) {
      return kind == wanted ? size : 0;
    });
  };
  CHECK(world.dispatched(only(Collective::all_gather)) == 4 * 32 * 64 * 2);
  CHECK(world.combined(only(Collective::reduce_scatter)) == 4 * 32 * 64 * 2);
}

TEST_CASE("DeepEP: once per node over the NICs, once per rank inside, both at once") {
  World world;
  world.software.moe_dispatcher = GENERATE(MoeDispatcher::deepep, MoeDispatcher::hybridep);
  const double token = 64 * 2;
  const auto& moe = *world.model.moe;
  // 2 of 8 experts: on four ranks a token hits 4(1 − C(6,2)/C(8,2)) = 13/7 of them.
  CHECK(world.dispatched() == Approx(32 * token * 13 / 7).epsilon(1e-4));
  // On two nodes 2(1 − C(4,2)/C(8,2)) = 11/7.
  world.experts = {.ranks = 4, .nodes = 2, .least_per_node = 2, .most_per_node = 2};
  CHECK(parts_hit(moe, 2) == Approx(11.0 / 7));
  const auto slow_nics = costs_of(nothing, [](Collective, double size, const auto& group) {
    return group.nodes > 1 ? 10 * size : size;
  });
  CHECK(world.dispatched(slow_nics) == Approx(10 * 32 * token * 11 / 7).epsilon(1e-4));
  const auto slow_nvlink = costs_of(nothing, [](Collective, double size, const auto& group) {
    return group.nodes > 1 ? size : group.ranks == 2 ? 10 * size : 1e9;
  });
  CHECK(world.dispatched(slow_nvlink) == Approx(10 * 32 * token * 13 / 7).epsilon(1e-4));
}

TEST_CASE("DeepEP: what meets others on links is what leaves the node") {
  World world;
  world.software.moe_dispatcher = MoeDispatcher::deepep;
  world.experts = {.ranks = 4, .nodes = 2, .least_per_node = 2, .most_per_node = 2};
  auto costs = costs_of();
  costs.collective = [](Collective, units::Bytes size, const topology::GroupShape& group) {
    return topology::Sending{{group.nodes > 1 ? 1.0 : 100.0}, size, {1e3}};
  };
  const auto dispatch = *expert_exchanges(world.share(), costs).dispatch;
  CHECK(dispatch.bytes.value == Approx(32.0 * 128 * 11 / 7));
  CHECK(dispatch.time().value == Approx(100 + 32.0 * 128 * 13 / 7 / 1e3));
}

TEST_CASE("in fp8 with scales by blocks DeepEP sends 8 bit there and 16 bit back") {
  World world;
  world.software.moe_dispatcher = MoeDispatcher::deepep;
  const double wide = world.dispatched();
  world.training.precision = units::Precision::fp8;
  CHECK(world.dispatched() == wide);
  world.training.fp8_recipe = Fp8Recipe::blockwise;
  CHECK(world.dispatched() == Approx(wide / 2 * (1 + 4.0 / 128)).epsilon(1e-3));
  CHECK(world.combined() == wide);
  world.software.moe_dispatcher = MoeDispatcher::all_to_all;
  CHECK(world.dispatched() == world.combined());
}

TEST_CASE("ranks that divide experts gather all their copies and scatter the results") {
  World world;
  world.plan.tensor = 2;
  world.plan.sequence_parallel = true;
  const double copies = 16 * 2 * 64 * 2;  // of a rank
  CHECK(world.dispatched() == copies + 2 * copies);
  CHECK(world.combined() == copies + 2 * copies);
  world.plan.expert_tensor = 1;
  CHECK(world.dispatched() == copies);
  world.plan.expert = 1;
  CHECK(world.dispatched() == 0);
  CHECK(expert_exchanges(world.share(), costs_of()).group == FlowKind::expert);
  world.plan.expert_tensor = 2;  // only divided, as the rest of the layer is
  CHECK(world.dispatched() == 2 * copies);
  CHECK(expert_exchanges(world.share(), costs_of()).group == FlowKind::tensor);
  world.software.moe_dispatcher = MoeDispatcher::all_gather;
  CHECK(world.dispatched() == 2 * 16 * 64 * 2);
}

TEST_CASE("a layer exchanges twice each way, and twice more where it is computed again") {
  World world;
  const sim::Picoseconds once = 32 * 2 * 64 * 2;
  const auto spent = [&](bool forward) {
    const auto writer = world.writer(costs_of());
    return alone(forward ? writer.forward({world.layer()})
                         : writer.backward({world.layer()}, Pass::backward));
  };
  CHECK(spent(true).on[forward_expert_comm] == 2 * once);
  CHECK(spent(false).on[backward_expert_comm] == 2 * once);
  CHECK(spent(false).on[recompute_expert_comm] == 0);
  world.plan.recompute.kind = Recompute::Kind::selective;  // the attention core
  CHECK(spent(false).on[recompute_expert_comm] == 0);
  world.plan.recompute.kind = Recompute::Kind::full;
  CHECK(spent(false).on[recompute_expert_comm] == 2 * once);
  CHECK(spent(false).on[backward_expert_comm] == 2 * once);
  const auto weights = world.writer(costs_of()).backward({world.layer()}, Pass::backward_weight);
  CHECK(alone(weights).on[backward_expert_comm] == 0);
}

TEST_CASE("experts compute between dispatch and combine, each way") {
  // Only products of experts take time: one of each layout and projection.
  const auto grouped = [](const units::Kernel& kernel) {
    return kernel.kind == units::Kernel::Kind::product && kernel.batch == 2 ? 1000 : 0;
  };
  World world;
  world.model.moe->capacity_factor = 1;  // so that no host cuts the pass
  world.model.activation = model::Activation::swiglu;
  const auto writer = world.writer(costs_of(grouped));
  const auto forward = writer.forward({world.layer()});
  REQUIRE(forward.size() == 3);
  for (int i = 0; i < 2; ++i) {
    const auto& piece = forward[static_cast<std::size_t>(i)];
    REQUIRE(piece.then);
    CHECK(piece.then->group == FlowKind::expert);
    CHECK(piece.then->activity == forward_expert_comm);
    CHECK(forward[static_cast<std::size_t>(i) + 1].waits_for == i);
  }
  CHECK(sim::alone(forward[0].body).total() == 0);
  CHECK(sim::alone(forward[1].body).on[forward_compute] == 2000);
  CHECK(sim::alone(forward[2].body).total() == 0);
  const auto backward = writer.backward({world.layer()}, Pass::backward);
  REQUIRE(backward.size() == 3);
  CHECK(sim::alone(backward[1].body).on[input_gradient_compute] == 2000);
  CHECK(sim::alone(backward[1].body).on[weight_gradient_compute] == 2000);
}

TEST_CASE("gradients go the ways of what they belong to: dispatched first, then combined") {
  World world;
  world.model.moe->capacity_factor = 1;
  world.software.moe_dispatcher = MoeDispatcher::deepep;  // 8 bit there, 16 bit back
  world.training.precision = units::Precision::fp8;
  world.training.fp8_recipe = Fp8Recipe::blockwise;
  const auto exchanges = expert_exchanges(world.share(), costs_of());
  REQUIRE(exchanges.dispatch->time() < exchanges.combine->time());
  const auto writer = world.writer(costs_of());
  for (const auto& pieces :
       {writer.forward({world.layer()}), writer.backward({world.layer()}, Pass::backward)}) {
    CHECK(pieces.at(0).then->sending == *exchanges.dispatch);
    CHECK(pieces.at(1).then->sending == *exchanges.combine);
  }
}

TEST_CASE("experts that are divided as the layer is take a collective inside of the pass") {
  World world;
  world.model.moe->capacity_factor = 1;
  world.plan = {.tensor = 2, .sequence_parallel = true};
  const auto forward = world.writer(costs_of()).forward({world.layer()});
  CHECK(forward.size() == 1);
  CHECK(alone(forward).on[forward_expert_comm] == 2 * (2 * 16 * 2 * 64 * 2));
  CHECK(alone(forward).on[forward_tensor_comm] == 2 * (32 * 64 * 2));
}

TEST_CASE("without a capacity the host waits for the counts of tokens, forward only") {
  World world;
  const auto drains = [&](const Pieces& pieces) {
    int count = 0;
    for (const auto& piece : pieces) count += piece.body.drains ? 1 : 0;
    return count;
  };
  const auto forward = [&] { return drains(world.writer(costs_of()).forward({world.layer()})); };
  const auto backward = [&] {
    return drains(world.writer(costs_of()).backward({world.layer()}, Pass::backward));
  };
  world.plan.expert = GENERATE(1, 4);
  CHECK(forward() == 1);
  CHECK(backward() == 0);
  world.plan.recompute.kind = Recompute::Kind::full;
  CHECK(backward() == 1);
  world.software.cuda_graphs = true;
  CHECK(forward() == 0);
  world.software.cuda_graphs = false;
  world.model.moe->capacity_factor = 1;
  CHECK(forward() == 0);
}

TEST_CASE("layers are dense or have experts, as the model says") {
  World world;
  world.model.layers = 6;
  world.model.moe->first_dense_layers = 1;
  world.model.moe->every = 2;
  world.model.multi_token_prediction = 2;
  world.plan.pipeline = 2;
  const auto stages = blocks_of(world.model, world.plan);
  std::vector<bool> experts;
  for (const auto& blocks : stages)
    for (const auto& block : blocks) experts.push_back(block.experts);
  // The embedding; layers 1, 3 and 5; the head; and modules after it, which are as a layer 6 is.
  CHECK(experts ==
        std::vector<bool>{false, false, true, false, true, false, true, false, false, false});
  CHECK(stages.back().size() == 3 + 1 + 2);
  CHECK(stages.back().back().kind == Block::Kind::prediction);
}

TEST_CASE("with prediction modules the last stage has a copy of the embedding") {
  World world;
  world.model.layers = 2;
  world.model.multi_token_prediction = GENERATE(0, 1, 3);
  world.plan = {.pipeline = 2};
  world.software.vocab_multiple = 1;
  topology::Cluster cluster;
  cluster.gpus = cluster.node.gpus = 2;
  cluster.node.nvlink.bandwidth = cluster.node.nics.bandwidth =
      cluster.fabric.link_bandwidth = {25e9};
  const auto costs = costs_of();
  const auto step = [&] {
    return lower({world.model, world.training, world.plan, world.software, cluster}, costs,
                 Ranks::folded);
  };
  const auto held = [&] {
    double sum = 0;
    for (const auto& actor : step().actors) sum += actor.parameters;
    return sum;
  };
  const auto summed = [&] {
    const auto lowered = step();
    return std::ranges::count(lowered.program.labels(), label_tied_embedding,
                              [](const sim::Label& label) { return LabelKind{label.kind}; });
  };
  const auto one = static_cast<double>(model::parameters(world.model) +
                                       model::prediction_parameters(world.model));
  const auto words = 512.0 * 64;
  const bool predicts = world.model.multi_token_prediction > 0;
  CHECK(held() == one + (predicts ? words : 0));
  CHECK(summed() == (predicts ? 1 : 0));
  world.model.tied_embeddings = true;  // then its head is that copy
  CHECK(held() == one);
  CHECK(summed() == 1);
}

TEST_CASE("full recomputation of a prediction module leaves its head alone") {
  World world;
  world.model.moe.reset();
  world.model.multi_token_prediction = 1;
  world.plan = {};
  const auto flops = costs_of([](const units::Kernel& kernel) { return kernel.flops.value; });
  const Block module{.kind = Block::Kind::prediction};
  const auto kept = world.writer(flops).cost(module);
  world.plan.recompute.kind = Recompute::Kind::full;
  Block dropped = module;
  dropped.drop = Drop::everything;
  const auto writer = world.writer(flops);
  CHECK(alone(writer.backward({dropped}, Pass::backward)).on[recompute_compute] ==
        alone(writer.forward({world.layer()})).on[forward_compute]);
  CHECK(writer.cost(dropped).recomputed == writer.cost(world.layer()).recomputed);
  CHECK(writer.cost(dropped).kept + writer.cost(dropped).recomputed == kept.kept);
}

TEST_CASE("latent attention gathers what it projects up, not whole rows") {
  World world;
  world.model.moe.reset();
  world.model.latent = model::LatentAttention{.q_lora_rank = 24,
                                              .kv_lora_rank = 12,
                                              .qk_nope_head_dim = 10,
                                              .qk_rope_head_dim = 6,
                                              .v_head_dim = 14};
  world.plan = {.tensor = 2, .sequence_parallel = true};
  const auto writer = world.writer(costs_of());
  const sim::Picoseconds row = 32 * 2;
  CHECK(alone(writer.forward_part(world.layer(), model::Part::attention)).on[forward_tensor_comm] ==
        row * (24 + 12 + 6 + 64));
  // Backward: the output's gradient gathered, the inputs gathered again, their gradients scattered.
  CHECK(
      alone(writer.backward_part(world.layer(), model::Part::attention)).on[backward_tensor_comm] ==
      row * (64 + 2 * (24 + 12 + 6)));
}
