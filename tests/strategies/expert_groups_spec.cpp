// SPDX-License-Identifier: Apache-2.0
// The ranks of a stage arranged for experts: which ranks exchange tokens, which links they share,
// and which sum the gradients of an expert.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "sim/contention.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/expert_world.hpp"
#include "tests/strategies/groups.hpp"

namespace expert_groups_spec {

using namespace strategies;
using tests::cluster_of, tests::one_copy;

namespace {

using tests::Members;

// The links that a rank's flow crosses, by name: "3*nic0.0:out" is crossed by three flows.
std::set<std::string> crossed(const Folding& folding, FlowKind kind, std::int64_t rank) {
  std::set<std::string> names;
  for (const auto& [link, times] : folding.uses(kind, rank))
    names.insert(std::to_string(times) + "*" +
                 folding.ports().name(folding.links()[static_cast<std::size_t>(link)].port));
  return names;
}

// A world of two layers with experts.
tests::ExpertWorld under(const Plan& plan) {
  tests::ExpertWorld world;
  world.model.layers = 2;
  world.plan = plan;
  world.training.global_batch = plan.data;
  return world;
}

// The bytes that a step reduces and gathers, by number of ranks. A collective takes a tick for each
// byte of its buffer, a kernel nothing.
struct Step {
  std::map<int, double> reduced, gathered;
  Lowered lowered;
};

Step step_of(const Plan& plan) {
  std::map<sim::Picoseconds, int> ranks_of;
  const auto costs = tests::costs_of(
      tests::nothing, [&](topology::Collective, double bytes, const topology::GroupShape& group) {
        ranks_of[static_cast<sim::Picoseconds>(bytes + 0.5)] = group.ranks;
        return bytes;
      });
  const auto ranks = plan.tensor * plan.context * plan.data * plan.pipeline;
  Step step;
  step.lowered = under(plan).lowered(costs, cluster_of(ranks, 4, 4));
  const auto& program = step.lowered.program;
  for (std::size_t i = 0; i < program.ops().size(); ++i) {
    const auto& op = program.ops()[i];
    const auto kind = program.labels()[i].kind;
    if (kind == label_reduce_gradients)
      step.reduced[ranks_of.at(op.duration)] += static_cast<double>(op.duration);
    if (kind == label_gather_parameters)
      step.gathered[ranks_of.at(op.duration)] += static_cast<double>(op.duration);
  }
  return step;
}

}  // namespace

TEST_CASE("the ranks of a stage are arranged anew for the experts") {
  // Two stages have 2 x 4 ranks each; an expert is divided as layers are, or not at all.
  Plan plan{.tensor = 2, .pipeline = 2, .data = 4, .expert = 2};
  const Placement divided(plan);
  CHECK(apart_tensor_group(divided, 3) == Members{2, 3});
  CHECK(expert_group(divided, 3) == Members{1, 3});
  CHECK(tests::expert_data_group(divided, 3) == Members{3, 7});
  CHECK(expert_group(divided, 13) == Members{13, 15});
  plan.expert_tensor = 1;
  const Placement whole(plan);
  CHECK(apart_tensor_group(whole, 3) == Members{3});
  CHECK(expert_group(whole, 3) == Members{2, 3});
  CHECK(tests::expert_data_group(whole, 3) == Members{1, 3, 5, 7});
}

TEST_CASE("experts are spread outside the replicas, or stages inside them, where the order says") {
  Plan plan{.tensor = 2, .pipeline = 2, .data = 4, .expert = 2};
  plan.rank_order = {Degree::tensor, Degree::context, Degree::data, Degree::expert,
                     Degree::pipeline};
  const Placement outside(plan);
  CHECK(expert_group(outside, 3) == Members{3, 7});
  CHECK(tests::expert_data_group(outside, 3) == Members{1, 3});
  CHECK(outside.apart_replicas() == 4);
  plan.rank_order = {Degree::tensor, Degree::pipeline, Degree::context, Degree::expert,
                     Degree::data};
  const Placement stages(plan);  // ranks 0, 1, 4, 5, 8, 9, 12, 13 are of the first stage
  CHECK(expert_group(stages, 5) == Members{1, 5});
  CHECK(tests::expert_data_group(stages, 5) == Members{5, 13});
  CHECK(stages.apart_replicas() == 2);
}

TEST_CASE("a rank has one place among experts, and each group holds it once") {
  const Plan plan{
      .tensor = 4, .pipeline = 2, .data = 6, .context = 2, .expert = 6, .expert_tensor = 2};
  const Placement placement(plan);
  CHECK(placement.apart_sharers() == 4);
  for (std::int64_t rank = 0; rank < placement.ranks(); ++rank) {
    CHECK(placement.rank_of(placement.expert_at(rank), placement.at(rank).pipeline) == rank);
    for (const auto& group : {expert_group(placement, rank), apart_tensor_group(placement, rank),
                              tests::expert_data_group(placement, rank)}) {
      CHECK(std::ranges::is_sorted(group));
      CHECK(std::ranges::count(group, rank) == 1);
      for (const auto member : group)
        CHECK(placement.at(member).pipeline == placement.at(rank).pipeline);
    }
  }
}

TEST_CASE("experts beyond the ranks of a stage are refused") {
  CHECK_THROWS_WITH(Placement({.tensor = 2, .data = 2, .expert = 4}),
                    "expert x expert_tensor must divide tensor x context x data");
}

TEST_CASE("an all-to-all loads a NIC with a share for every other node") {
  const auto cluster = cluster_of(64, 8, 8);
  const Plan plan{.data = 64, .expert = 32};
  const Folding full(Placement(plan), cluster, one_copy, Ranks::full);
  const auto uses = crossed(full, FlowKind::expert, 5);
  CHECK(uses.contains("3*nic0.0:out"));
  CHECK(uses.contains("3*nic3.7:in"));
  CHECK_FALSE(uses.contains("3*nic4.0:in"));
  CHECK(full.fan_out(FlowKind::expert, 5) == 3);
  // A node has one of the ranks that hold an expert, and every second node has one: a ring of two,
  // on one NIC each.
  CHECK(crossed(full, FlowKind::expert_ring, 5) ==
        std::set<std::string>{"1*nic0.5:in", "1*nic0.5:out", "1*nic4.5:in", "1*nic4.5:out"});
  const Folding folded(Placement(plan), cluster, one_copy, Ranks::folded);
  CHECK(folded.representative().size() == 1);
  CHECK(folded.multiplicity().front() == 64);
}

TEST_CASE("replicas are folded by whole expert-parallel groups") {
  auto cluster = cluster_of(8 * 1024, 8, 8);
  cluster.stragglers = {{{3000}, 1.5}};
  const Plan plan{.data = 8 * 1024, .expert = 64};
  const Folding folding(Placement(plan), cluster, one_copy, Ranks::folded);
  CHECK(folding.ranks().size() == 2 * 64);
  // The actors are the straggler, ranks that exchange tokens with it on its node and elsewhere,
  // ranks that hold the same experts, and the rest.
  CHECK(folding.actor_of(3000) != folding.actor_of(3001));
  CHECK(folding.actor_of(3001) == folding.actor_of(3002));
  CHECK(folding.actor_of(3000 % 64) != folding.actor_of(3000 % 64 + 1));
  CHECK(folding.actor_of(1) == folding.actor_of(64 + 1));
}

TEST_CASE("an expert-parallel group alone on its ports takes the time of its collective alone") {
  std::mt19937 random(GENERATE(range(0u, 60u)));
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const int per_node = 1 << pick(0, 3), nics = 1 << pick(0, 3);
  const auto nodes = pick(1, 9);
  auto cluster = cluster_of(nodes * per_node, per_node, nics);
  using Kind = topology::Fabric::Kind;
  cluster.fabric.kind = pick(0, 1) == 0 ? Kind::fat_tree : Kind::rail_fat_tree;
  if (cluster.gpus == 1) return;
  const Plan plan{.data = cluster.gpus, .expert = cluster.gpus};
  const Placement placement(plan);
  const Folding folding(placement, cluster, one_copy, Ranks::folded);
  const auto sending = topology::collective_sending(
      topology::Collective::all_to_all, units::Bytes{1e9},
      topology::shape_of(expert_group(placement, 0), cluster), cluster);
  const double fan_out = folding.fan_out(FlowKind::expert, 0);
  sim::Program program;
  for (const auto& link : folding.links()) program.add_link(link.capacity);
  const sim::Traffic traffic{folding.uses(FlowKind::expert, 0), sending.bytes.value / fan_out,
                             sending.rate.value / fan_out};
  CHECK(traffic.bytes / sim::idle_rate(program, traffic) ==
        Approx((sending.bytes / sending.rate).value).epsilon(1e-12));
}

TEST_CASE("the ranks that hold an expert sum its gradients, all ranks sum the others") {
  // A layer has attention of 4 x 64 x 64 values, a router of 64 x 8, and norms; each of its experts
  // has 2 x 64 x 48. Gradients are fp32, parameters are gathered in 16 bit.
  const double expert = 2 * 64 * 48;
  Plan plan{.data = 8, .expert = 4};
  const auto some = step_of(plan);
  CHECK(some.reduced.at(2) == 4 * 2 * (8 / 4 * expert));
  const auto& facts = some.lowered.actors.front();
  CHECK(facts.held.parameters.apart == 2 * (8 / 4 * expert));
  CHECK(some.reduced.at(8) == 4 * (facts.held.parameters.all() - facts.held.parameters.apart));
  CHECK(some.gathered.empty());

  plan.zero = 1;
  const auto sharded = step_of(plan);
  CHECK(sharded.gathered.at(2) == 2 * facts.held.parameters.apart);
  CHECK(sharded.gathered.at(8) == 2 * (facts.held.parameters.all() - facts.held.parameters.apart));
  CHECK(sharded.lowered.shards.with_layer == 8);
  CHECK(sharded.lowered.shards.apart == 2);

  // Each rank has experts of its own, which no other rank sums.
  plan.expert = 8;
  CHECK(step_of(plan).reduced.size() == 1);
  CHECK(step_of(plan).reduced.contains(8));
  // Tensor-parallel ranks with whole experts share these, and nothing else.
  const auto tensor =
      step_of({.tensor = 4, .expert = 2, .expert_tensor = 1, .sequence_parallel = true});
  CHECK(tensor.reduced.size() == 1);
  CHECK(tensor.reduced.at(2) == 4 * 2 * (8 / 2 * expert));
}

TEST_CASE("without experts apart all parameters are reduced at once, as in a dense model") {
  const auto step = step_of({.data = 8});
  CHECK(step.reduced.size() == 1);
  CHECK(step.reduced.at(8) == 4 * step.lowered.actors.front().held.parameters.all());
  CHECK(step.lowered.actors.front().held.parameters.apart == 0);
}

TEST_CASE("between leaves an exchange is as slow as its members' messages across") {
  // Six nodes have one GPU and one NIC each. Three are under each leaf, whose single uplink is as
  // fast as a NIC. Nine of the fifteen messages that leave the nodes of a leaf cross it, and five
  // pass each NIC. An exchange takes 5 ms alone, so 9 ms here; with as many uplinks as NICs 5 ms.
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  auto world = under({.data = 6, .expert = 6});
  world.model.moe->experts = 6;
  auto costs = tests::costs_of();
  costs.collective = [](topology::Collective kind, units::Bytes, const topology::GroupShape&) {
    return topology::Sending{{0}, {kind == topology::Collective::all_to_all ? 125e6 : 0}, {25e9}};
  };
  const auto longest = [&](double oversubscription) {
    auto cluster = cluster_of(6, 1, 1);
    cluster.fabric.kind = topology::Fabric::Kind::fat_tree;
    cluster.fabric.radix = 4;
    cluster.fabric.oversubscription = {oversubscription};
    const auto lowered = world.lowered(costs, cluster, ranks);
    const auto trace = sim::run(lowered.program);
    sim::Picoseconds most = 0;
    for (std::size_t i = 0; i < lowered.program.ops().size(); ++i) {
      const auto event = lowered.program.ops()[i].first;
      if (lowered.program.labels()[i].kind == label_expert_exchange)
        most = std::max(most, trace.end[event] - trace.start[event]);
    }
    return static_cast<double>(most) * 1e-9;
  };
  CHECK(longest(1) == Approx(5).epsilon(1e-9));
  CHECK(longest(3) == Approx(9).epsilon(1e-9));
}

}  // namespace expert_groups_spec
