// SPDX-License-Identifier: Apache-2.0
// Contention that can be checked by pencil: the times of a step's ops that share links.
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/strategies/small_world.hpp"

namespace contention_steps_spec {

using namespace strategies;

namespace {

constexpr double nic = 10e9;            // bytes/s of every NIC
constexpr double instant = 1e-12;       // one tick
constexpr double message_bytes = 20e6;  // 2 ms over a NIC
constexpr double bucket_bytes = 50e6;   // 5 ms over a NIC

// Costs with which a kernel takes a tick, the gradients one collective of 5 ms, and a message to a
// neighbour 2 ms, each alone on its NICs. Everything else takes no time.
Costs costs_of(double kernel = instant) {
  return {.kernel = [=](const units::Kernel&,
                        const Gpu& gpu) { return units::Seconds{kernel * gpu.slowdown}; },
          .collective =
              [](topology::Collective, units::Bytes size, const topology::GroupShape& group) {
                const bool data = group.nodes > 1 && size.value > 1e4;
                return topology::Sending{{0}, {data ? bucket_bytes : 0}, {nic}};
              },
          .transfer =
              [](units::Bytes, std::int64_t, std::int64_t) {
                return topology::Sending{{0}, {message_bytes}, {nic}};
              }};
}

topology::Cluster cluster_of(std::int64_t gpus, int per_node, int nics) {
  auto cluster = tests::cluster_of(gpus, per_node, nics);
  cluster.node.nvlink.bandwidth = {1e15};
  cluster.node.nics.bandwidth = cluster.fabric.link_bandwidth = {nic};
  cluster.fabric.kind = topology::Fabric::Kind::fat_tree;
  return cluster;
}

struct Step {
  Lowered lowered;
  sim::Trace trace;
  // Durations of the ops of a kind, in milliseconds.
  std::vector<double> durations(LabelKind kind) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < lowered.program.ops().size(); ++i) {
      const auto event = lowered.program.ops()[i].first;
      if (lowered.program.labels()[i].kind == kind)
        all.push_back(static_cast<double>(trace.end[event] - trace.start[event]) * 1e-9);
    }
    return all;
  }
  double longest(LabelKind kind) const { return std::ranges::max(durations(kind)); }
  double shortest(LabelKind kind) const { return std::ranges::min(durations(kind)); }
};

Step step_of(const Plan& plan, const topology::Cluster& cluster, Ranks ranks,
             std::int64_t microbatches, const Costs& costs) {
  tests::World world;
  world.model.layers = 4;
  world.model.heads = world.model.kv_heads = 8;
  world.model.head_dim = 8;
  world.plan = plan;
  world.training.global_batch = plan.data * microbatches;
  Step step{world.lowered(costs, cluster, ranks), {}};
  step.trace = sim::run(step.lowered.program);
  return step;
}

Step step_of(const Plan& plan, const topology::Cluster& cluster, Ranks ranks,
             std::int64_t microbatches = 1, double kernel = instant) {
  return step_of(plan, cluster, ranks, microbatches, costs_of(kernel));
}

}  // namespace

TEST_CASE("two rings over one NIC take twice as long as one") {
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  Plan plan{.tensor = 8, .data = 2};
  plan.overlap.data = false;
  CHECK(step_of(plan, cluster_of(16, 8, 8), ranks).longest(label_reduce_gradients) == 5);
  CHECK(step_of(plan, cluster_of(16, 8, 4), ranks).longest(label_reduce_gradients) == 10);
  CHECK(step_of(plan, cluster_of(16, 8, 1), ranks).longest(label_reduce_gradients) == 40);
}

TEST_CASE("eight messages of one node share its NICs") {
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  const Plan plan{.tensor = 8, .pipeline = 2};
  CHECK(step_of(plan, cluster_of(16, 8, 8), ranks).longest(label_send_forward) == 2);
  CHECK(step_of(plan, cluster_of(16, 8, 2), ranks).longest(label_send_forward) == 8);
}

TEST_CASE("an oversubscribed spine slows only traffic that crosses it") {
  // Leaves have three nodes and one uplink, so each stage's three replicas fill a leaf. Gradients
  // stay under it (those of the last stage meet its last message on their NICs), activations cross
  // it three at a time.
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  Plan plan{.pipeline = 2, .data = 3};
  plan.overlap.data = false;
  auto cluster = cluster_of(6, 1, 1);
  cluster.fabric.radix = 4;
  const auto wide = step_of(plan, cluster, ranks);
  CHECK(wide.longest(label_send_forward) == 2);
  CHECK(wide.shortest(label_reduce_gradients) == 5);
  cluster.fabric.oversubscription = {3};
  const auto narrow = step_of(plan, cluster, ranks);
  CHECK(narrow.longest(label_send_forward) == 6);
  CHECK(narrow.shortest(label_reduce_gradients) == 5);
}

TEST_CASE("gradients under the backward pass and its message share a NIC") {
  // Stage 1 reduces its gradients (5 ms) when its only backward pass ends, and sends the gradient
  // of its input (2 ms) at the same time. Both leave on one NIC at half its rate until the message
  // is through, after 4 ms; the remaining 3 ms of the reduction go at full rate.
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  Plan plan{.pipeline = 2, .data = 2};
  plan.overlap.data = true;
  const auto step = step_of(plan, cluster_of(4, 1, 1), ranks);
  CHECK(step.longest(label_send_backward) == Approx(4).margin(1e-6));
  CHECK(step.longest(label_reduce_gradients) == Approx(7).margin(1e-6));
}

TEST_CASE("a tensor-parallel group is as slow as the slowest link that it crosses") {
  // A group of eight ranks lies on two nodes with one NIC per GPU, one of which has half the rate.
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  const Plan plan{.tensor = 8};
  const auto finish = [&](const topology::Cluster& cluster, double bytes) {
    auto costs = costs_of();
    costs.collective = [=](topology::Collective, units::Bytes size, const topology::GroupShape&) {
      return topology::Sending{{0}, {size.value > 8 ? bytes : 0}, {nic}};  // 8: the gradient norm
    };
    return static_cast<double>(step_of(plan, cluster, ranks, 1, costs).trace.finish);
  };
  auto cluster = cluster_of(8, 4, 4);
  const double kernels = finish(cluster, 0), once = finish(cluster, 20e6) - kernels;
  REQUIRE(once > 1e9);
  cluster.degraded_links = {{"nic1.2:in", 0.5}};
  CHECK(finish(cluster, 20e6) - kernels == Approx(2 * once));
}

TEST_CASE("a tensor-parallel group on two nodes and a pipeline message share the NICs") {
  // Two stages of two nodes with one GPU each: while stage 0 sends its first output (20 MB, 2 ms),
  // its group goes on with the collectives of the next microbatch (10 MB, 1 ms each, alone). Two of
  // these meet the message: each gets half of the NIC and takes 2 ms, and the message takes 4.
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  Plan plan{.tensor = 2, .pipeline = 2, .sequence_parallel = true};
  plan.overlap.pipeline = true;
  auto costs = costs_of();
  costs.collective = [=](topology::Collective, units::Bytes size, const topology::GroupShape&) {
    return topology::Sending{{0}, {size.value > 8 ? 10e6 : 0}, {nic}};
  };
  const auto step = step_of(plan, cluster_of(4, 1, 1), ranks, 2, costs);
  CHECK(step.longest(label_send_forward) == Approx(4).margin(1e-6));
  CHECK(step.shortest(label_exchange) == Approx(1).margin(1e-6));
  CHECK(step.longest(label_exchange) == Approx(2).margin(1e-6));
}

TEST_CASE("a NIC at half its rate slows the ring that it is on, as one direction alone does") {
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  Plan plan{.data = 4};
  plan.overlap.data = false;
  auto cluster = cluster_of(4, 1, 1);
  cluster.degraded_links = {{GENERATE("nic2.0", "nic2.0:in"), 0.5}};
  CHECK(step_of(plan, cluster, ranks).longest(label_reduce_gradients) == 10);
}

TEST_CASE("without communication a straggler slows its pipeline by its factor") {
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  const double kernel = 1e-3;
  auto cluster = cluster_of(8, 8, 1);
  const auto even = step_of({.tensor = 4, .data = 2}, cluster, ranks, 3, kernel);
  cluster.stragglers = {{{5}, 1.5}};
  const auto slow = step_of({.tensor = 4, .data = 2}, cluster, ranks, 3, kernel);
  CHECK(static_cast<double>(slow.trace.finish) ==
        Approx(1.5 * static_cast<double>(even.trace.finish)));
  // The four actors are the straggler, its tensor group, its data-parallel partner, and the rest.
  if (ranks == Ranks::folded) CHECK(slow.lowered.actors.size() == 4);
}

TEST_CASE("the slow stage of a pipeline sets the pace of its steady state") {
  // One microbatch more lengthens a 1F1B step by the time of the slowest stage for it: the last
  // stage, which has the head.
  const auto ranks = GENERATE(Ranks::folded, Ranks::full);
  auto cluster = cluster_of(4, 4, 1);
  const Plan plan{.pipeline = 4};
  const double kernel = 1e3;  // so long that messages count for nothing
  const auto more = [&](std::int64_t m) {
    return static_cast<double>(step_of(plan, cluster, ranks, m, kernel).trace.finish);
  };
  const double even = more(9) - more(8);
  cluster.stragglers = {{{3}, 1.5}};
  CHECK(more(9) - more(8) == Approx(1.5 * even).epsilon(1e-5));
}

}  // namespace contention_steps_spec
