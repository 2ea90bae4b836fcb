// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "model/narrow.hpp"
#include "plans/memory.hpp"
#include "tests/catch.hpp"

namespace memory_spec {

using namespace strategies;

namespace {

// 7.5 billion parameters in 16-bit Adam training take 2 + 2 + 12 bytes each.
StaticMemory zero_paper(int zero, int shards) {
  const Holding actor{.parameters = {7.5e9}};
  const Plan plan{.data = shards, .zero = zero};
  const Training training{.sequence_length = 1, .global_batch = shards};
  const Software software{.gradient_precision = units::Precision::bf16, .gradient_bytes = 2};
  return static_memory(actor, {shards, shards}, plan, training, software);
}

double gigabytes(const StaticMemory& memory) {
  return (memory.weights + memory.gradients + memory.optimizer + memory.gathered).value / 1e9;
}

}  // namespace

TEST_CASE(
    "ZeRO on 7.5 B parameters and 64 ranks: 120, 31.4, 16.6, 1.9 GB (Rajbhandari et al. 2020)") {
  CHECK(gigabytes(zero_paper(0, 64)) == 120.0);
  CHECK(gigabytes(zero_paper(1, 64)) == Approx(7.5 * (4 + 12.0 / 64)));  // 31.4
  CHECK(gigabytes(zero_paper(2, 64)) == Approx(7.5 * (2 + 14.0 / 64)));  // 16.6
  CHECK(gigabytes(zero_paper(3, 64)) == Approx(7.5 * 16.0 / 64));        // 1.9
}

TEST_CASE("Megatron with fp32 main gradients takes 18 bytes a parameter, 6 + 12/d sharded") {
  const Holding actor{.parameters = {1e9}};
  const Training training{.sequence_length = 1, .global_batch = 8};
  CHECK(gigabytes(static_memory(actor, {1, 1}, {}, training, {})) == 18.0);
  CHECK(gigabytes(static_memory(actor, {8, 8}, {.data = 8, .zero = 1}, training, {})) ==
        6.0 + 12.0 / 8);
}

// Flat copies take two bytes a parameter, and a bucket of at most half a billion gradients of 2
// bytes is on its way.
TEST_CASE("gradients on their way take copies and at most a buffer, if there is where to send") {
  const Training training{.sequence_length = 1, .global_batch = 8};
  const Software software{.gradient_precision = units::Precision::fp16,
                          .reduction_bytes = 2,
                          .reduction_buffer = units::Bytes{1e9}};
  const auto reduction = [&](double parameters, int shards) {
    const Holding actor{.parameters = {parameters}};
    return static_memory(actor, {shards, shards}, {.data = shards}, training, software)
        .reduction.value;
  };
  CHECK(reduction(3e9, 8) == 6e9 + 1e9);
  CHECK(reduction(1e8, 8) == 2e8 + 2e8);
  CHECK(reduction(3e9, 1) == 0);
  Plan mirrored;  // whose two copies sum their gradients
  mirrored.pipeline = 2;
  mirrored.schedule = ScheduleKind::dualpipe;
  const Holding copy{.parameters = {3e9}};
  CHECK(static_memory(copy, {1, 1}, mirrored, training, software).reduction.value == 6e9 + 1e9);
  // Experts that two ranks hold are on their way, even with one dense replica.
  const Plan experts{.tensor = 4, .expert = 2, .expert_tensor = 1};
  const Holding both{.parameters = {1e9, 3e9}};
  CHECK(static_memory(both, {1, 1}, experts, training, software).reduction.value == 6e9 + 1e9);
}

TEST_CASE("fp32 training has no second copy of the weights: 4 + 4 + 8 bytes") {
  const Holding actor{.parameters = {1e9}};
  const Training training{
      .sequence_length = 1, .global_batch = 1, .precision = units::Precision::fp32};
  CHECK(gigabytes(static_memory(actor, {1, 1}, {}, training, {})) == 16.0);
}

// Transformer Engine keeps the copies for the whole step; a parameter takes 18 bytes without them.
TEST_CASE("8 and 4 bit add two copies of the weights to 16-bit training, cast once a step") {
  using units::Precision;
  const auto [precision, recipe, copies] = GENERATE(table<Precision, Fp8Recipe, double>(
      {{Precision::bf16, Fp8Recipe::blockwise, 0},
       {Precision::fp8, Fp8Recipe::delayed, 2},
       {Precision::fp8, Fp8Recipe::tensorwise, 2},
       {Precision::fp8, Fp8Recipe::rowwise, 2},
       {Precision::fp8, Fp8Recipe::blockwise, 2 + 2 * 4.0 / (128 * 128)},
       {Precision::mxfp8, Fp8Recipe::delayed, 2 + 2.0 / 32},
       {Precision::nvfp4, Fp8Recipe::delayed, 1 + 2.0 / 16}}));
  const Holding actor{
      .parameters = {1e9}, .cast = 9e8, .gathered = 2e8, .gathered_cast = 1.6e8, .unreduced = 1e8};
  const Training training{
      .sequence_length = 1, .global_batch = 8, .precision = precision, .fp8_recipe = recipe};
  CHECK(gigabytes(static_memory(actor, {1, 1}, {}, training, {})) == Approx(18 + 0.9 * copies));
  CHECK(optimizer_traffic({}, training, {}) == (copies > 0 ? 34 + 2 + copies : 34));

  const auto sharded = static_memory(actor, {8, 8}, {.data = 8, .zero = 3}, training, {});
  CHECK(sharded.weights.value == 2e9 / 8);
  CHECK(sharded.gathered.value == Approx(1e8 * (2 * 2 + 4) + 8e7 * 2 * copies));
}

TEST_CASE("optimizers keep the master copy and their own moments") {
  const auto [optimizer, bytes] = GENERATE(table<Optimizer, double>({{Optimizer::adamw, 12},
                                                                     {Optimizer::sophia, 12},
                                                                     {Optimizer::sgd, 8},
                                                                     {Optimizer::muon, 8},
                                                                     {Optimizer::adafactor, 4}}));
  const Holding actor{.parameters = {1e9}, .matrices = {1e9}};
  const Training training{.sequence_length = 1, .global_batch = 1, .optimizer = optimizer};
  CHECK(static_memory(actor, {1, 1}, {}, training, {}).optimizer.value == bytes * 1e9);
}

// An optimizer has so many bytes of states beside so many bytes of weights, with Adam, with SGD and
// without moments.
TEST_CASE("moments narrower than fp32 leave the master copy whole") {
  const auto [name, weights, states, sgd, adafactor] =
      GENERATE(table<std::string, double, double, double, double>(
          {{"Megatron", 2, 12, 8, 4},
           {"DeepSpeed, and fp32 gradients", 2, 16, 12, 8},
           {"FSDP, whose weights are half of the master copy", 2, 10, 6, 2},
           {"fp32 weights", 4, 8, 4, 0},
           {"bf16 moments", 2, 8, 6, 4},
           {"8-bit moments", 2, 6, 5, 4},
           {"moments of nothing", 2, 4, 4, 4},
           {"less than a master copy", 2, 3, 3, 3}}));
  INFO(name);
  const Software software{.weight_bytes = weights, .optimizer_bytes = states};
  const Holding actor{.parameters = {1e9}, .matrices = {9e8}};
  const auto held = [&](Optimizer optimizer) {
    const Training training{.sequence_length = 1, .global_batch = 1, .optimizer = optimizer};
    return static_memory(actor, {1, 1}, {}, training, software).optimizer.value / 1e9;
  };
  CHECK(held(Optimizer::adamw) == Approx(states));
  CHECK(held(Optimizer::sgd) == Approx(sgd));
  CHECK(held(Optimizer::adafactor) == Approx(adafactor));
  CHECK(held(Optimizer::muon) == Approx(0.9 * sgd + 0.1 * states));
}

TEST_CASE("bf16 moments are moved as such, on the device, its host and NVMe") {
  const Software software{.optimizer_bytes = 8, .optimizer_traffic = 38};
  Training training{.sequence_length = 1, .global_batch = 1};
  CHECK(host_traffic({}, training, software) == 28 - 8);
  CHECK(state_bytes({}, training, software) == 8);
  training.optimizer = Optimizer::sgd;
  CHECK(optimizer_traffic({}, training, software) == 38 - 4);
  CHECK(host_traffic({}, training, software) == 28 - 12);
  CHECK(state_bytes({}, training, software) == 6);
}

TEST_CASE("weights of narrow products can be kept in 8 bit alone, where they are whole") {
  const Holding actor{.parameters = {1e9}, .cast = 8e8};
  using units::Precision;
  const auto weights = [&](Precision precision, bool narrow, int zero) {
    const Training training{.sequence_length = 1, .global_batch = 1, .precision = precision};
    const Plan plan{.data = 4, .zero = zero};
    return static_memory(actor, {4, 4}, plan, training, {.narrow_weights = narrow}).weights.value;
  };
  const double copies = model::weight_copy_bytes(Precision::fp8, {});
  CHECK(weights(Precision::fp8, false, 1) == Approx(2 * 1e9 + copies * 8e8));
  CHECK(weights(Precision::fp8, true, 1) == Approx(2 * 2e8 + copies * 8e8));
  CHECK(weights(Precision::bf16, true, 1) == weights(Precision::bf16, false, 1));
  CHECK(weights(Precision::nvfp4, true, 1) == weights(Precision::nvfp4, false, 1));
  CHECK(weights(Precision::fp8, true, 3) == weights(Precision::fp8, false, 3));
}

TEST_CASE("copies of gradients that the update reads are of a rank's share, where its states are") {
  const Holding actor{.parameters = {1e9}};
  const Training training{.sequence_length = 1, .global_batch = 1};
  const Software software{.stepping_bytes = 6};
  Plan plan{.data = 4, .zero = 1};
  const auto divided = static_memory(actor, {4, 4}, plan, training, software);
  CHECK(divided.stepping.value == 6 * 1e9 / 4);
  CHECK(divided.optimizer.value == 12 * 1e9 / 4);
  plan.offload.optimizer = Offload::Tier::cpu;
  const auto away = static_memory(actor, {4, 4}, plan, training, software);
  CHECK(away.stepping.value == 0);
  CHECK(away.host.value == Approx((12 + 6 + 4) * 1e9 / 4));
  plan = {.data = 4};
  CHECK(static_memory(actor, {1, 1}, plan, training, software).stepping.value == 6e9);
}

TEST_CASE("Muon keeps a second moment of parameters that are no matrix") {
  const Holding actor{.parameters = {1e9}, .matrices = {9e8}};
  const Training training{.sequence_length = 1, .global_batch = 1, .optimizer = Optimizer::muon};
  CHECK(static_memory(actor, {1, 1}, {}, training, {}).optimizer.value == Approx(8e9 + 4e8));
}

TEST_CASE("gradients sent as signs leave errors: 4 (1 + 1/d) bytes a parameter") {
  const Holding actor{.parameters = {1e9}};
  Training training{.sequence_length = 1, .global_batch = 8};
  Plan plan{.data = 8};
  const auto before = static_memory(actor, {1, 1}, plan, training, {}).optimizer.value;
  if (GENERATE(false, true))
    training.optimizer = Optimizer::onebit_adam;
  else
    plan.gradient_compression = GradientCompression::onebit;
  CHECK(static_memory(actor, {1, 1}, plan, training, {}).optimizer.value == before + 4.5e9);
  // Experts count the ranks that hold them: here two.
  const Holding experts{.parameters = {.apart = 1e9}};
  plan.expert = 4;
  CHECK(static_memory(experts, {1, 1}, plan, training, {}).optimizer.value == before + 6e9);
}

TEST_CASE("ZeRO-3 holds two gathered units and one unsharded gradient besides its share") {
  const Holding actor{.parameters = {8e9}, .gathered = 2e9, .unreduced = 1e9};
  const Training training{.sequence_length = 1, .global_batch = 8};
  const auto memory = static_memory(actor, {8, 8}, {.data = 8, .zero = 3}, training, {});
  CHECK(memory.gathered.value == 1e9 * (2 * 2 + 4));
  CHECK(memory.weights.value == 2e9);
}

// 2e9 gathered parameters of 2 bytes; their gradients of 2 bytes take this place, of 4 bytes more.
TEST_CASE("tensor by tensor, whole gradients take the place of their parameters") {
  const Holding actor{.parameters = {8e9}, .gathered = 2e9, .unreduced = 2e9};
  const Training training{.sequence_length = 1, .global_batch = 8};
  Software software{.tensor_units = true};
  const auto gathered = [&](units::Precision precision) {
    software.gradient_precision = precision;
    return static_memory(actor, {8, 8}, {.data = 8, .zero = 3}, training, software).gathered.value;
  };
  CHECK(gathered(units::Precision::bf16) == 4e9);
  CHECK(gathered(units::Precision::fp32) == 8e9);
  software.tensor_units = false;
  CHECK(gathered(units::Precision::bf16) == 12e9);
}

TEST_CASE("experts are sharded over the ranks that hold them, the rest over all") {
  const Holding actor{.parameters = {1e9, 2e9}};
  const Training training{.sequence_length = 1, .global_batch = 8};
  const auto bytes = [&](int zero) {
    return gigabytes(static_memory(actor, {8, 2}, {.data = 8, .zero = zero}, training, {}));
  };
  CHECK(bytes(0) == 3 * 18.0);
  CHECK(bytes(1) == 3 * 6.0 + 12 * (1.0 / 8 + 2.0 / 2));
  CHECK(bytes(2) == 3 * 2.0 + 16 * (1.0 / 8 + 2.0 / 2));
  CHECK(bytes(3) == 18 * (1.0 / 8 + 2.0 / 2));
  // No other rank holds the experts, so there is nothing of them to gather.
  const Plan kept{.data = 8, .zero = 3, .reshard_after_forward = false};
  CHECK(gigabytes(static_memory(actor, {8, 1}, kept, training, {})) == 18 * (1.0 / 8 + 2) + 2 * 1);
}

}  // namespace memory_spec
