// SPDX-License-Identifier: Apache-2.0
// The duties of ranks that share parameters, and when they do them.
#include "plans/duties.hpp"
#include "plans/memory.hpp"
#include "tests/catch.hpp"

namespace duties_spec {

using namespace strategies;

TEST_CASE(
    "parameters are gathered ahead as the plan says, else under ZeRO-3, else as the software "
    "does") {
  Software waits, ahead;
  ahead.overlap_parameters = true;
  for (int zero = 0; zero < 3; ++zero) {
    CHECK_FALSE(gathers_ahead({.zero = zero}, waits));
    CHECK(gathers_ahead({.zero = zero}, ahead));
  }
  Plan plan{.zero = 3};
  CHECK(gathers_ahead(plan, waits));
  plan.overlap.parameters = false;
  CHECK_FALSE(gathers_ahead(plan, ahead));
}

TEST_CASE("units of layers are ZeRO-3's, owners of tensors ZeRO-1's") {
  Software by_tensor;
  by_tensor.states_by_tensor = true;
  for (int zero = 0; zero <= 3; ++zero) {
    Plan plan{.zero = zero, .wrap = {.layers = 2}};
    CHECK(layers_of_unit(plan) == (zero == 3 ? std::optional<std::int64_t>(2) : std::nullopt));
    CHECK(owns_tensors(plan, by_tensor) == (zero == 1));
    CHECK_FALSE(owns_tensors(plan, {}));
  }
}

TEST_CASE(
    "gradients are reduced in the plan's precision, else 32-bit ones in fp32, else the "
    "software's") {
  using enum units::Precision;
  Software software;
  software.gradient_precision = bf16;
  Plan plan;
  for (const auto precision : {bf16, fp16, fp8})
    CHECK(reduced_gradient_precision(plan, {.precision = precision}, software) == bf16);
  for (const auto precision : {fp32, tf32}) {
    CHECK(reduced_gradient_precision(plan, {.precision = precision}, software) == fp32);
    CHECK(reduced_gradient_bytes(plan, {.precision = precision}, software) == 4);
  }
  plan.gradient_precision = bf16;
  CHECK(reduced_gradient_precision(plan, {.precision = fp32}, software) == bf16);
}

TEST_CASE("1F1B pairs its passes where ranks exchange tokens of experts and these overlap") {
  model::Transformer sparse;
  sparse.moe = model::Moe{.experts = 8, .top_k = 2};
  Plan plan{.expert = 2, .schedule = ScheduleKind::one_f_one_b};
  plan.overlap.expert = true;
  CHECK(pairs_passes(sparse, plan, {}));
  CHECK_FALSE(pairs_passes({}, plan, {}));
  plan.schedule = ScheduleKind::interleaved;
  CHECK(pairs_passes(sparse, plan, {}));
  plan.schedule = ScheduleKind::gpipe;
  CHECK_FALSE(pairs_passes(sparse, plan, {}));
  plan.schedule = ScheduleKind::one_f_one_b;
  plan.overlap.expert = false;
  CHECK_FALSE(pairs_passes(sparse, plan, {}));
  plan.overlap.expert = true;
  plan.expert = 1;
  CHECK_FALSE(pairs_passes(sparse, plan, {}));
}

TEST_CASE(
    "only schedules whose orders are searched validate after their step, if the software does") {
  Software validates;
  validates.post_validation = true;
  CHECK(post_validates({.schedule = ScheduleKind::zb_h1}, validates));
  CHECK_FALSE(post_validates({.schedule = ScheduleKind::one_f_one_b}, validates));
  CHECK_FALSE(post_validates({.schedule = ScheduleKind::zb_h1}, {}));
}

TEST_CASE("gradients are reduced once a step where a plan says so, or PyTorch's pipelines do") {
  using enum GradientSync;
  const Training four{.global_batch = 8}, one{.global_batch = 2};  // two replicas
  Software software, pipelines;
  pipelines.gradient_sync_in_pipelines = step;
  pipelines.overlap_data = software.overlap_data = true;
  for (int zero = 0; zero <= 3; ++zero) {
    Plan plan{.data = 2, .zero = zero};
    CHECK_FALSE(sums_whole_gradients(plan, four, software));
    CHECK_FALSE(sums_whole_gradients(plan, four, pipelines));
    plan.pipeline = 2;
    CHECK(sums_whole_gradients(plan, four, pipelines) == (zero >= 2));
    CHECK(overlaps_gradients(plan, four, pipelines) == (zero < 2));  // behind the last pass
    plan.gradient_sync = microbatch;
    CHECK_FALSE(sums_whole_gradients(plan, four, pipelines));
    CHECK(overlaps_gradients(plan, four, pipelines));
    plan.gradient_sync = step;
    CHECK(sums_whole_gradients(plan, four, software) == (zero >= 2));
    CHECK(overlaps_gradients(plan, four, software));
    CHECK_FALSE(sums_whole_gradients(plan, one, software));  // a single microbatch
  }
}

TEST_CASE("gradients that are reduced once a step stay whole until then, and so may parameters") {
  const Training four{.global_batch = 8};
  Plan plan{.data = 2, .zero = 3};
  CHECK(data_duties(plan, four, {}).reduces == When::always);
  CHECK(data_duties(plan, four, {}).gathers == When::always);
  plan.gradient_sync = GradientSync::step;
  CHECK(data_duties(plan, four, {}).reduces == When::once);
  CHECK(data_duties(plan, four, {}).gathers == When::always);
  plan.reshard_after_forward = false;
  CHECK(data_duties(plan, four, {}).gathers == When::once);
  plan.gradient_sync = GradientSync::microbatch;
  CHECK(data_duties(plan, four, {}).gathers == When::always);

  // A billion parameters over two ranks: half of 4 bytes each, or all of them.
  const Holding held{.parameters = {.with_layer = 1e9}};
  const auto gradients = [&](const Plan& of) {
    return static_memory(held, {2, 2}, of, four, {}).gradients.value;
  };
  CHECK(gradients(plan) == 2e9);
  plan.gradient_sync = GradientSync::step;
  CHECK(gradients(plan) == 4e9);
}

}  // namespace duties_spec
