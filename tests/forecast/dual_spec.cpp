// SPDX-License-Identifier: Apache-2.0
// DualPipe and steps that overlap, as forecasts.
#include "forecast/forecast.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace dual_spec {

using forecast::simulate;
using strategies::ScheduleKind;

namespace {

// A small model on a pipeline of four, with as many microbatches as asked for.
forecast::Scenario pipelined(ScheduleKind schedule, std::int64_t microbatches = 16) {
  forecast::Scenario s;
  s.model = {.layers = 16,
             .hidden = 1024,
             .heads = 8,
             .kv_heads = 8,
             .head_dim = 64,
             .ffn = 1024,
             .vocab = 1000,  // makes stages nearly alike
             .max_sequence = 512,
             .tied_embeddings = false};
  s.plan = {.pipeline = 4, .schedule = schedule};
  if (strategies::layout_of(schedule, 4, 1).kind == strategies::Layout::Kind::v)
    s.plan.virtual_stages = 2;
  s.training = {.sequence_length = 512, .global_batch = microbatches};
  s.cluster = tests::cluster_of(4, 4, 4);
  return s;
}

}  // namespace

TEST_CASE("DualPipe holds p + 1 microbatches and both halves' weights, DualPipe-V p + 1/2") {
  const auto once = simulate(pipelined(ScheduleKind::one_f_one_b));
  const auto dual = simulate(pipelined(ScheduleKind::dualpipe));
  const auto v = simulate(pipelined(ScheduleKind::dualpipe_v));
  for (std::size_t s = 0; s < 4; ++s) {
    CHECK(dual.pipeline.stages[s].peak_in_flight == 5);
    CHECK(v.pipeline.stages[s].peak_in_flight == 4.5);
    const auto weights = [&](std::size_t stage) { return once.memory.stages[stage].weights; };
    CHECK(dual.memory.stages[s].weights.value ==
          Approx((weights(s) + weights(3 - s)).value).epsilon(1e-12));
  }
}

TEST_CASE("DualPipe waits less than half as long as 1F1B") {
  CHECK(simulate(pipelined(ScheduleKind::dualpipe)).pipeline.bubble_fraction <
        0.5 * simulate(pipelined(ScheduleKind::one_f_one_b)).pipeline.bubble_fraction);
}

TEST_CASE("DualPipe's copies sum their gradients, even in a pipeline without replicas") {
  auto s = pipelined(ScheduleKind::dualpipe);
  s.plan.overlap.data = false;
  const auto f = simulate(s);
  CHECK(f.time[forecast::StepPart::data_comm].value > 0);
  s.plan.zero = 1;  // copies share their states too
  const auto sharded = simulate(s);
  for (std::size_t stage = 0; stage < 4; ++stage)
    CHECK(sharded.memory.stages[stage].optimizer == 0.5 * f.memory.stages[stage].optimizer);
}

TEST_CASE("post-validation: a step is the longest stage's own span, and ZB-H2 gains on ZB-H1") {
  const auto time = [](ScheduleKind schedule, bool post_validation) {
    auto s = pipelined(schedule);
    s.software.post_validation = post_validation;
    return simulate(s).step.time;
  };
  CHECK(time(ScheduleKind::zb_h2, true) < time(ScheduleKind::zb_h2, false));
  CHECK(time(ScheduleKind::zb_h2, true) < time(ScheduleKind::zb_h1, true));
  CHECK(time(ScheduleKind::zb_h1, true) < time(ScheduleKind::zb_h1, false));
  // A schedule that is not zero-bubble keeps its barrier.
  CHECK(time(ScheduleKind::one_f_one_b, true) == time(ScheduleKind::one_f_one_b, false));
}

TEST_CASE("busy time and bubble of every stage of overlapping steps sum to the step") {
  auto s = pipelined(ScheduleKind::zb_h2);
  s.software.post_validation = true;
  const auto f = simulate(s);
  double mean = 0;
  for (const auto& stage : f.pipeline.stages) {
    CHECK(stage.busy + stage.bubble <= f.step.time);
    mean += stage.bubble.value / 4;
  }
  CHECK(f.pipeline.bubble_fraction == Approx(mean / f.step.time.value).epsilon(1e-12));
}

TEST_CASE("overlap.expert warns where it hides nothing") {
  auto s = pipelined(ScheduleKind::one_f_one_b);
  CHECK(simulate(s).warnings.empty());
  s.plan.overlap.expert = true;
  CHECK(simulate(s).warnings ==
        std::vector<std::string>{"overlap.expert hides nothing: no experts are spread over ranks"});
}

TEST_CASE("a pipeline that reduces every microbatch's gradients warns unless it is asked to") {
  auto s = pipelined(ScheduleKind::one_f_one_b);
  s.plan.zero = 2;
  const auto warns = [&] {
    const auto warnings = simulate(s).warnings;
    return std::ranges::any_of(warnings, [](const std::string& one) {
      return one.starts_with("zero 2 in a pipeline reduces the gradients of each of ") &&
             one.find("with plan.gradient_sync: step they stay whole") != one.npos;
    });
  };
  CHECK(warns());
  s.plan.gradient_sync = strategies::GradientSync::microbatch;
  CHECK_FALSE(warns());
  s.plan.gradient_sync.reset();
  s.software.gradient_sync_in_pipelines = strategies::GradientSync::step;
  CHECK_FALSE(warns());
  s.software.gradient_sync_in_pipelines = strategies::GradientSync::microbatch;
  s.plan.zero = 1;
  CHECK_FALSE(warns());
}

}  // namespace dual_spec
