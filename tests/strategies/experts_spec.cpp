// SPDX-License-Identifier: Apache-2.0
// Layers with experts on several ranks: token copies, bytes, and where they travel in a pass.
#include <bit>
#include <map>

#include "tests/catch.hpp"
#include "tests/strategies/expert_world.hpp"

namespace experts_spec {

using namespace strategies;
using namespace tests;

TEST_CASE("experts lie spread over the ranks, and the copies of all ranks are shared out evenly") {
  ExpertWorld world;
  auto extent = extent_of(world.share());
  CHECK(extent.experts == 2);
  CHECK(extent.expert_ffn == 48);
  CHECK(extent.routed == 32 * 2);
  world.plan.tensor = 2;
  world.plan.sequence_parallel = true;
  world.plan.expert_tensor = 1;  // an expert is whole, so each rank sends half of the copies
  CHECK(extent_of(world.share()).expert_ffn == 48);
  CHECK(extent_of(world.share()).routed == 32);
  world.plan.expert_tensor.reset();  // each half of an expert sees the copies of both ranks
  CHECK(extent_of(world.share()).expert_ffn == 24);
  CHECK(extent_of(world.share()).routed == 64);
}

TEST_CASE("every rank is the fullest one, which drops copies beyond its capacity") {
  ExpertWorld world;
  world.model.moe->imbalance = 1.5;
  CHECK(extent_of(world.share()).routed == 96);
  world.model.moe->capacity_factor = 1.25;
  CHECK(extent_of(world.share()).routed == 80);
  CHECK(world.dispatched() == 80 * 64 * 2);
  world.model.moe->imbalance = 1;  // missing copies are not padded for either
  CHECK(extent_of(world.share()).routed == 64);
  world.model.moe->pad_to_capacity = true;
  CHECK(extent_of(world.share()).routed == 80);
  CHECK(world.dispatched() == 80 * 64 * 2);
  world.model.moe->capacity_factor = 2;
  CHECK(extent_of(world.share()).routed == 128);
}

TEST_CASE("a token has its experts on so many nodes") {
  const model::Moe deepseek{.experts = 256, .top_k = 8};
  CHECK(parts_hit(deepseek, {}, 1) == 1);
  CHECK(parts_hit(deepseek, {}, 4) == Approx(3.6).margin(0.05));
  CHECK(parts_hit(deepseek, {}, 8) == Approx(5.3).margin(0.05));
  CHECK(parts_hit(deepseek, {}, 16) == Approx(6.5).margin(0.05));
  CHECK(parts_hit(deepseek, {}, 256) == Approx(8));
  CHECK(parts_hit({.experts = 4, .top_k = 4}, {}, 2) == 2);
}

TEST_CASE("parts_hit is the mean number of parts that a choice of experts hits") {
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
  CHECK(parts_hit({.experts = experts, .top_k = top_k}, {}, parts) == Approx(hit / choices));
}

TEST_CASE("all-to-all: every copy once, dispatched and combined") {
  ExpertWorld world;
  CHECK(world.dispatched() == 32 * 2 * 64 * 2);
  CHECK(world.combined() == world.dispatched());
  world.plan.expert = 1;
  CHECK(world.dispatched() == 0);
}

TEST_CASE("all-gather: all rows of the group, whatever top_k") {
  ExpertWorld world;
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
  ExpertWorld world;
  world.software.moe_dispatcher = GENERATE(MoeDispatcher::deepep, MoeDispatcher::hybridep);
  const double token = 64 * 2;
  const auto& moe = *world.model.moe;
  // A token hits 4(1 − C(6,2)/C(8,2)) = 13/7 of 4 ranks that hold 2 of 8 experts each.
  CHECK(world.dispatched() == Approx(32 * token * 13 / 7).epsilon(1e-4));
  // Of 2 nodes with 4 of 8 experts each, a token hits 2(1 − C(4,2)/C(8,2)) = 11/7.
  world.experts = {.ranks = 4, .nodes = 2, .least_per_node = 2, .most_per_node = 2};
  CHECK(parts_hit(moe, {}, 2) == Approx(11.0 / 7));
  const auto slow_nics = costs_of(nothing, [](Collective, double size, const auto& group) {
    return group.nodes > 1 ? 10 * size : size;
  });
  CHECK(world.dispatched(slow_nics) == Approx(10 * 32 * token * 11 / 7).epsilon(1e-4));
  const auto slow_nvlink = costs_of(nothing, [](Collective, double size, const auto& group) {
    return group.nodes > 1 ? size : group.ranks == 2 ? 10 * size : 1e9;
  });
  CHECK(world.dispatched(slow_nvlink) == Approx(10 * 32 * token * 13 / 7).epsilon(1e-4));
}

TEST_CASE("every byte that is dispatched is combined, wherever experts lie and however popular") {
  using enum MoeDispatcher;
  ExpertWorld world;
  world.software.moe_dispatcher = GENERATE(all_to_all, all_gather, deepep, hybridep);
  world.experts = {.ranks = 4, .nodes = 2, .least_per_node = 2, .most_per_node = 2};
  const double any = world.dispatched();
  for (const auto& routing :
       {Routing{.locality = Locality::group_limited, .groups = 4, .top_groups = 1},
        Routing{.locality = Locality::neighbours},
        Routing{.skew = Skew::histogram, .shares = {8, 7, 6, 5, 4, 3, 2, 1}},
        Routing{.skew = Skew::power_law, .placement = ExpertPlacement::greedy}}) {
    world.training.routing = routing;
    CHECK(world.dispatched() == world.combined());
    if (routing.skew == Skew::balanced) CHECK(world.dispatched() <= any);
    if (routing.skew != Skew::balanced) CHECK(world.dispatched() >= any);
  }
}

TEST_CASE("tokens of one group of experts go to one node and one rank") {
  ExpertWorld world;
  world.software.moe_dispatcher = MoeDispatcher::deepep;
  world.experts = {.ranks = 4, .nodes = 2, .least_per_node = 2, .most_per_node = 2};
  world.training.routing = {.locality = Locality::group_limited, .groups = 4, .top_groups = 1};
  CHECK(world.dispatched() == Approx(32 * 128));  // rows of 64 values in 16 bit, each once
}

TEST_CASE("DeepEP: only traffic that leaves the node meets other traffic on links") {
  ExpertWorld world;
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
  ExpertWorld world;
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
  ExpertWorld world;
  world.plan.tensor = 2;
  world.plan.sequence_parallel = true;
  const double copies = 16 * 2 * 64 * 2;  // bytes of a rank's copies
  CHECK(world.dispatched() == copies + 2 * copies);
  CHECK(world.combined() == copies + 2 * copies);
  world.plan.expert_tensor = 1;
  CHECK(world.dispatched() == copies);
  world.plan.expert = 1;
  CHECK(world.dispatched() == 0);
  CHECK(expert_exchanges(world.share(), costs_of()).group == FlowKind::expert);
  world.plan.expert_tensor = 2;  // experts are divided as the rest of the layer is
  CHECK(world.dispatched() == 2 * copies);
  CHECK(expert_exchanges(world.share(), costs_of()).group == FlowKind::tensor);
  world.software.moe_dispatcher = MoeDispatcher::all_gather;
  CHECK(world.dispatched() == 2 * 16 * 64 * 2);
}

TEST_CASE("a layer exchanges twice each way, and twice more where it is computed again") {
  ExpertWorld world;
  const sim::Picoseconds once = 32 * 2 * 64 * 2;
  const auto spent = [&](bool forward) {
    const auto writer = world.writer(costs_of());
    return spent_alone(forward ? writer.forward({world.layer()})
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
  CHECK(spent_alone(weights).on[backward_expert_comm] == 0);
}

TEST_CASE("experts compute between dispatch and combine, each way") {
  // Only the products of experts take time: one product of each layout and projection.
  const auto grouped = [](const units::Kernel& kernel) {
    return kernel.kind == units::Kernel::Kind::product && kernel.batch == 2 ? 1000 : 0;
  };
  ExpertWorld world;
  world.model.moe->capacity_factor = 1;  // a capacity, so that no wait for the host cuts the pass
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
  CHECK(sim::spent_alone(forward[0].body).total() == 0);
  CHECK(sim::spent_alone(forward[1].body).on[forward_compute] == 2000);
  CHECK(sim::spent_alone(forward[2].body).total() == 0);
  const auto backward = writer.backward({world.layer()}, Pass::backward);
  REQUIRE(backward.size() == 3);
  CHECK(sim::spent_alone(backward[1].body).on[input_gradient_compute] == 2000);
  CHECK(sim::spent_alone(backward[1].body).on[weight_gradient_compute] == 2000);
}

TEST_CASE("gradients go the ways of their tensors: dispatched first, then combined") {
  ExpertWorld world;
  world.model.moe->capacity_factor = 1;
  world.software.moe_dispatcher = MoeDispatcher::deepep;  // 8 bit on dispatch, 16 bit back
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

TEST_CASE("tokens and gradients travel in 16 bit if a product of the experts reads them so") {
  const auto bytes = [](InBf16 in_bf16, Pass pass, bool wide = false) {
    const Training training{.precision = units::Precision::fp8,
                            .fp8_recipe = Fp8Recipe::blockwise,
                            .in_bf16 = std::move(in_bf16)};
    return dispatched_value_bytes(training, MoeDispatcher::deepep, wide, pass);
  };
  constexpr double narrow = 1 + 4.0 / 128;
  using enum model::LinearGradient;
  CHECK(bytes({}, Pass::forward) == narrow);
  CHECK(bytes({}, Pass::backward) == narrow);
  CHECK(bytes({}, Pass::forward, true) == 2);
  CHECK(bytes({.parts = {model::LinearPart::experts}}, Pass::backward) == 2);
  CHECK(bytes({.parts = {model::LinearPart::mlp}}, Pass::forward) == narrow);
  // The weights' gradient reads tokens and gradients, the inputs' gradients alone.
  CHECK(bytes({.gradients = {weights}}, Pass::forward) == 2);
  CHECK(bytes({.gradients = {weights}}, Pass::backward) == 2);
  CHECK(bytes({.gradients = {inputs}}, Pass::forward) == narrow);
  CHECK(bytes({.gradients = {inputs}}, Pass::backward) == 2);
}

TEST_CASE("experts that are divided as the layer is take a collective inside of the pass") {
  ExpertWorld world;
  world.model.moe->capacity_factor = 1;
  world.plan = {.tensor = 2, .sequence_parallel = true};
  const auto forward = world.writer(costs_of()).forward({world.layer()});
  CHECK(forward.size() == 1);
  CHECK(spent_alone(forward).on[forward_expert_comm] == 2 * (2 * 16 * 2 * 64 * 2));
  CHECK(spent_alone(forward).on[forward_tensor_comm] == 2 * (32 * 64 * 2));
}

TEST_CASE("without a capacity the host waits for the counts of tokens, forward only") {
  ExpertWorld world;
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
  world.software.kernels.expert_products = model::ExpertProducts::fused;
  CHECK(forward() == 1);
  world.training.precision = units::Precision::mxfp8;  // products read the counts themselves
  CHECK(forward() == 0);
  world.training.precision = units::Precision::fp8;
  world.model.moe->capacity_factor = 1;
  CHECK(forward() == 0);
}

TEST_CASE("DeepEP sends rows: no copies are made before they leave, nor summed when back") {
  ExpertWorld world;
  const auto kernels = costs_of([](const units::Kernel& k) { return k.traffic.value; });
  const auto streamed = [&] {
    return spent_alone(world.writer(kernels).forward({world.layer()})).on[forward_compute];
  };
  const auto copies = streamed();
  world.software.moe_dispatcher = GENERATE(MoeDispatcher::deepep, MoeDispatcher::hybridep);
  // DeepEP saves copies written and read once each, their sum, which reads them and writes rows,
  // and the counts.
  const auto copied = 32 * 2 * 64 * 2, rows = 32 * 64 * 2;
  const auto counts = 10 * 8 * world.model.moe->experts;
  CHECK(copies - streamed() == 2 * copied + copied + rows + counts);
}

TEST_CASE("the products of experts after the first, and casts, are issued in a loop of 7.5 us") {
  ExpertWorld world;  // two experts on a rank
  world.software.kernels.expert_products = model::ExpertProducts::one_by_one;
  world.software.launch_forward = units::Seconds{100e-6};
  const auto issued = [&] {
    std::map<sim::Picoseconds, int> count;
    for (const auto& piece : world.writer(costs_of()).forward({world.layer()}))
      for (const auto& step : piece.body.steps) ++count[step.issue];
    return count;
  };
  const auto wide = issued();
  CHECK(wide.at(7'500'000) == 2);  // of the second expert, which has two projections
  world.software.kernels.expert_products = model::ExpertProducts::grouped;
  CHECK(issued().count(7'500'000) == 0);
  world.software.launch_forward = units::Seconds{5e-6};  // a loop is no slower than a call
  world.software.kernels.expert_products = model::ExpertProducts::one_by_one;
  CHECK(issued().count(7'500'000) == 0);
}

TEST_CASE("operations of the routing take the host 20 us each, or a launch where that is less") {
  ExpertWorld world;
  world.software.launch_forward = units::Seconds{100e-6};
  world.software.moe_dispatcher = MoeDispatcher::all_to_all;
  const auto operations = [&](double launch) {
    world.software.launch_forward = units::Seconds{launch};
    int count = 0;
    for (const auto& piece : world.writer(costs_of()).forward({world.layer()}))
      for (const auto& step : piece.body.steps) count += step.issue == 20'000'000;
    return count;
  };
  // Seven of the router over its scores, five of the loss that balances, two of the map, ten for
  // counts and offsets.
  CHECK(operations(100e-6) == 7 + 5 + 2 + 10);
  CHECK(operations(15e-6) == 0);
}

TEST_CASE("where each rank has all experts none is fuller than the mean") {
  ExpertWorld world;
  world.plan.expert = 1;
  world.model.moe->imbalance = 1.5;
  CHECK(extent_of(world.share()).routed == 32 * 2);
  world.model.moe->capacity_factor = 1.25;
  CHECK(extent_of(world.share()).routed == 32 * 2);
  world.model.moe->capacity_factor = 0.5;  // drops half of all copies
  CHECK(extent_of(world.share()).routed == 32);
  world.plan.tensor = 2;  // each expert is divided over two ranks, which exchange
  world.plan.sequence_parallel = true;
  CHECK(world.dispatched() == 2 * 0.5 * 16 * 2 * 64 * 2);
}

}  // namespace experts_spec
