// SPDX-License-Identifier: Apache-2.0
// Laws of a step whose communication shares links.
#include <algorithm>

#include "forecast/costs.hpp"
#include "forecast/forecast.hpp"
#include "sim/contention.hpp"
#include "sim/engine.hpp"
#include "strategies/lowering/lower.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace contention_laws_spec {

namespace {

strategies::Lowered lowered(const forecast::Scenario& s) {
  return strategies::lower({s.model, s.training, s.plan, s.software, s.cluster},
                           forecast::costs_on(s.cluster), strategies::Ranks::folded);
}

// The same program on links that nobody shares: messages take their time alone.
sim::Program unshared(const sim::Program& program) {
  sim::Program alone;
  for (const auto& body : program.templates()) alone.add_template(body);
  for (const auto& op : program.ops()) {
    const std::vector<sim::Participant> who(program.participants().begin() + op.first,
                                            program.participants().begin() + op.first + op.count);
    std::vector<sim::TemplateId> bodies;
    if (op.kind == sim::Op::Kind::pass) {
      for (std::uint32_t i = 0; i < op.count; ++i) bodies.push_back(program.body_of(op, i));
      alone.add_pass(bodies, who);
    } else if (op.kind == sim::Op::Kind::collective) {
      alone.add_collective(op.lane, sim::idle_duration(program, op), op.activity, who);
    } else {
      alone.add_transfer(op.kind, sim::idle_duration(program, op), op.activity, who[0],
                         who[1].actor);
    }
  }
  return alone;
}

}  // namespace

TEST_CASE("a step is never faster for sharing its links, and often slower") {
  int slower = 0;
  for (unsigned seed = 0; seed < 200 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 4000);
    const auto step = lowered(tests::rough_scenario(random));
    const auto shared = sim::run(step.program), alone = sim::run(unshared(step.program));
    CHECK(shared.finish >= alone.finish);
    slower += shared.finish > alone.finish ? 1 : 0;
  }
  if (tests::fewer == 1) CHECK(slower > 50);  // these scenarios do share
}

TEST_CASE("no link carries more than it can") {
  for (unsigned seed = 0; seed < 200 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 5000);
    for (const auto& link : forecast::simulate(tests::rough_scenario(random)).links) {
      CHECK(link.utilisation > 0);
      CHECK(link.utilisation <= 1);
    }
  }
}

// Messages of tensor-parallel groups inside a node meet no other traffic there.
TEST_CASE("a link that is asked for more than it can carry is full, and no fuller") {
  int full = 0;
  for (unsigned seed = 0; seed < 100 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 5600);
    auto s = tests::rough_scenario(random, true);
    s.cluster.node.nvlink.bandwidth = units::BytesPerSecond{1e6};  // so slow that only sends count
    for (const auto& link : forecast::simulate(s).links) {
      CHECK(link.utilisation <= 1);
      full += link.utilisation == 1 ? 1 : 0;
    }
  }
  if (tests::fewer == 1) CHECK(full > 0);  // these scenarios do fill links
}

// In a group of two each rank sends as many bytes as it has in an all-reduce. All-reduces of b·s =
// 2·512 tokens of 1024 2-byte elements come twice in each of 4 layers and once behind the embedding
// in the forward pass, and twice in each layer and once for the head's input gradient in the
// backward pass. The loss has three of 4 bytes a token.
TEST_CASE(
    "NVLink is as busy as the messages of tensor-parallel ranks inside their passes make it") {
  auto s = tests::scenario_under({.tensor = 2, .micro_batch = 2}, 4);
  s.model = {.name = "pencil",
             .layers = 4,
             .hidden = 1024,
             .heads = 8,
             .kv_heads = 8,
             .head_dim = 128,
             .ffn = 4096,
             .vocab = 1024,
             .max_sequence = 512};
  s.training = {.sequence_length = 512, .global_batch = 4};
  s.software = {};
  const auto f = simulate(s, {.timeline = true});
  const double rows = 2 * 512 * 1024 * 2, loss = 2 * 512 * 4;
  double sent = 0;  // bytes of rank 0
  for (const auto& slice : f.timeline.slices) {
    if (slice.kind == "forward") CHECK(slice.bytes.value == Approx(9 * rows + 3 * loss));
    if (slice.kind == "backward") CHECK(slice.bytes.value == Approx(9 * rows));
    if (slice.lane == "compute") sent += slice.bytes.value;
  }
  REQUIRE_FALSE(f.links.empty());
  CHECK(f.links[0].kind == "nvlink");
  CHECK(f.timeline.link_names[0] == f.links[0].name);
  const double capacity = lowered(s).program.links().front();
  CHECK(f.links[0].utilisation == Approx(sent / capacity / f.step.time.value));
}

TEST_CASE("time that is lost to sharing is lost by ops that are slower than alone") {
  for (unsigned seed = 0; seed < 100 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 6000);
    const auto f = forecast::simulate(tests::rough_scenario(random));
    for (const auto& loss : f.slowed) {
      CHECK(loss.lost.value > 0);
      CHECK(loss.lost <= f.step.time);
      CHECK_FALSE(loss.link.empty());
    }
  }
}

TEST_CASE("two kinds of device in one cluster: the slower one sets the pace") {
  const auto s = tests::scenario_under({.tensor = 8, .data = 4}, 16);
  auto slow = s.cluster.node;
  slow.device.peak.fill({100e12});
  slow.device.memory_bandwidth = {1e12};
  slow.device.usable_memory = {40e9};
  auto mixed = s, all_slow = s;
  mixed.cluster.others.push_back({slow, 2});
  all_slow.cluster.node = slow;
  const auto fast = simulate(s), both = simulate(mixed), none = simulate(all_slow);
  CHECK(both.step.time > fast.step.time);
  CHECK(both.step.time <= none.step.time);
  CHECK(both.memory.capacity.value == 40e9);
  CHECK(both.simulation.ranks_simulated == 2);
  // The peak, and so MFU, is that of the average GPU.
  CHECK(both.step.mfu * (312e12 + 100e12) / 2 == Approx(both.step.flops_per_gpu.value));
}

}  // namespace contention_laws_spec
