// SPDX-License-Identifier: Apache-2.0
// States of a rank that are on its host or on NVMe: a billion parameters with weights of 2 bytes,
// gradients of 4 and states of 12, on four replicas.
#include <string>
#include <vector>

#include "plans/memory.hpp"
#include "tests/catch.hpp"

namespace offloaded_states_spec {

using namespace strategies;
using Tier = Offload::Tier;

namespace {

const Training training{.sequence_length = 1, .global_batch = 4};

// Two units of a tenth are gathered at once, and the gradients of one are whole.
StaticMemory memory_of(int zero, const Offload& offload, int shards = 4) {
  const Holding held{.parameters = {.with_layer = 1e9}, .gathered = 2e8, .unreduced = 1e8};
  Plan plan{.data = shards, .zero = zero};
  plan.offload = offload;
  return static_memory(held, {shards, shards}, plan, training, {});
}

// Gigabytes of a rank: on the device, on its host, on NVMe.
struct Tiers {
  double weights, gradients, optimizer, gathered, host, nvme;
};

void check(const StaticMemory& is, const Tiers& gigabytes) {
  CHECK(is.weights.value == Approx(gigabytes.weights * 1e9));
  CHECK(is.gradients.value == Approx(gigabytes.gradients * 1e9));
  CHECK(is.optimizer.value == Approx(gigabytes.optimizer * 1e9));
  CHECK(is.gathered.value == Approx(gigabytes.gathered * 1e9));
  CHECK(is.host.value == Approx(gigabytes.host * 1e9));
  CHECK(is.nvme.value == Approx(gigabytes.nvme * 1e9));
}

}  // namespace

TEST_CASE("states leave the device for their tier, and gradients follow an optimizer on the host") {
  constexpr double unit = 0.1 * 4, units_of_weights = 0.2 * 2;
  struct Case {
    std::string name;
    int zero;
    Offload offload;
    Tiers gigabytes;
  };
  const std::vector<Case> cases{
      {"all on the device", 1, {}, {2, 4, 3, 0, 0, 0}},
      {"optimizer, and a rank's gradients beside it",
       1,
       {.optimizer = Tier::cpu},
       {2, 4, 0, 0, 3 + 1, 0}},
      {"without ZeRO all of both", 0, {.optimizer = Tier::cpu}, {2, 4, 0, 0, 12 + 4, 0}},
      {"on drives, but for gradients", 1, {.optimizer = Tier::nvme}, {2, 4, 0, 0, 1, 3}},
      {"ZeRO-2, a share of gradients on the device",
       2,
       {.optimizer = Tier::cpu},
       {2, 1, 0, unit, 3 + 1, 0}},
      {"ZeRO-2, gradients off it",
       2,
       {.optimizer = Tier::cpu, .gradients = true},
       {2, 0, 0, unit, 3 + 1, 0}},
      {"ZeRO-3", 3, {}, {0.5, 1, 3, units_of_weights + unit, 0, 0}},
      {"ZeRO-3, parameters on the host",
       3,
       {.parameters = Tier::cpu},
       {0, 1, 3, units_of_weights + unit, 0.5, 0}},
      {"everything",
       3,
       {Tier::nvme, Tier::nvme, true},
       {0, 0, 0, units_of_weights + unit, 1, 3.5}}};
  for (const auto& [name, zero, offload, gigabytes] : cases) {
    INFO(name);
    check(memory_of(zero, offload), gigabytes);
  }
}

TEST_CASE("parameters of a single rank are gathered from its host, whole where they stay") {
  const Offload on_host{.parameters = Tier::cpu};
  check(memory_of(3, on_host, 1), {0, 4, 12, 0.4 + 0.4, 2, 0});
  check(memory_of(3, {}, 1), {2, 4, 12, 0.4, 0, 0});  // nothing to gather: gradients of a unit
  const Holding held{.parameters = {.with_layer = 1e9}, .gathered = 2e8, .unreduced = 1e8};
  Plan plan{.zero = 3, .reshard_after_forward = false};
  plan.offload = on_host;
  CHECK(static_memory(held, {1, 1}, plan, training, {}).gathered.value == 2e9 + 4e8);
}

TEST_CASE("moments that the first update makes are of the device's states, and never more") {
  const Holding held{.parameters = {.with_layer = 1e9}};
  const auto moments = [&](Optimizer optimizer, Tier tier, bool at_start) {
    Plan plan{.data = 4, .zero = 1};
    plan.offload.optimizer = tier;
    const Training of{.global_batch = 4, .optimizer = optimizer};
    return static_memory(held, {4, 4}, plan, of, {.moments_at_start = at_start}).moments.value;
  };
  CHECK(moments(Optimizer::adamw, Tier::none, false) == 8e9 / 4);
  CHECK(moments(Optimizer::sgd, Tier::none, false) == 4e9 / 4);
  CHECK(moments(Optimizer::adafactor, Tier::none, false) == 0);
  CHECK(moments(Optimizer::muon, Tier::none, false) == 8e9 / 4);  // no parameter is a matrix here
  CHECK(moments(Optimizer::adamw, Tier::none, true) == 0);        // DeepSpeed's
  CHECK(moments(Optimizer::adamw, Tier::cpu, false) == 0);        // made on the host
}

TEST_CASE("an optimizer keeps two moments, one, or none of a tensor") {
  using enum Optimizer;
  struct Case {
    Optimizer optimizer;
    int moments;
  };
  for (const auto& [optimizer, moments] :
       {Case{adamw, 2}, Case{adam, 2}, Case{lamb, 2}, Case{sophia, 2}, Case{onebit_adam, 2},
        Case{sgd, 1}, Case{muon, 1}, Case{adafactor, 0}}) {
    INFO(static_cast<int>(optimizer));
    CHECK(moments_of(optimizer) == moments);
  }
}

// Bytes only move between tiers: together they are as many, but for the gradients that the host's
// optimizer finds beside it.
TEST_CASE("no byte of a state is lost or doubled by where it is kept") {
  const auto all = [](const StaticMemory& m) {
    return (m.weights + m.gradients + m.optimizer + m.host + m.nvme).value;
  };
  for (int zero = 0; zero <= 3; ++zero)
    for (const auto optimizer : {Tier::none, Tier::cpu, Tier::nvme})
      for (const auto parameters : {Tier::none, Tier::cpu, Tier::nvme})
        for (const bool gradients : {false, true}) {
          if (parameters != Tier::none && zero < 3) continue;
          if (gradients && (zero < 2 || optimizer == Tier::none)) continue;
          const bool beside = optimizer != Tier::none && !gradients;
          INFO("zero " << zero << " tiers " << static_cast<int>(optimizer) << ' '
                       << static_cast<int>(parameters) << ' ' << gradients);
          CHECK(all(memory_of(zero, {optimizer, parameters, gradients})) ==
                Approx(all(memory_of(zero, {})) + (beside ? 4e9 / (zero >= 1 ? 4 : 1) : 0)));
        }
}

}  // namespace offloaded_states_spec
