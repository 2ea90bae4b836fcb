// SPDX-License-Identifier: Apache-2.0
// The communication that runs beside computation, and the sizes in which it is cut.
#include <optional>
#include <vector>

#include "plans/duties.hpp"
#include "plans/memory.hpp"
#include "tests/catch.hpp"

namespace overlaps_spec {

using namespace strategies;

namespace {

constexpr auto never = When::never, once = When::once, always = When::always;

// Two replicas and four microbatches each.
Plan replicas(int zero) { return {.data = 2, .zero = zero}; }
const Training four{.global_batch = 8};

}  // namespace

TEST_CASE("a framework that overlaps transfers of virtual stages alone waits for those of others") {
  Software software;
  software.overlap_pipeline = software.overlaps_chunks_alone = true;
  struct Case {
    ScheduleKind schedule;
    std::int64_t chunks;
    bool overlaps;
  };
  for (const auto& one :
       {Case{ScheduleKind::gpipe, 1, false}, Case{ScheduleKind::one_f_one_b, 1, false},
        Case{ScheduleKind::interleaved, 1, false}, Case{ScheduleKind::interleaved, 2, true},
        Case{ScheduleKind::zb_h1, 1, true}, Case{ScheduleKind::dualpipe, 1, true}}) {
    Plan plan;
    plan.pipeline = 4;
    plan.schedule = one.schedule;
    plan.virtual_stages = one.chunks;
    INFO(static_cast<int>(one.schedule) << ", " << one.chunks);
    CHECK(overlaps_pipeline(plan, software) == one.overlaps);
    plan.overlap.pipeline = true;
    CHECK(overlaps_pipeline(plan, software));
    plan.overlap.pipeline = false;
    CHECK_FALSE(overlaps_pipeline(plan, software));
    plan.overlap.pipeline.reset();
    software.overlap_pipeline = false;
    CHECK_FALSE(overlaps_pipeline(plan, software));
    software.overlap_pipeline = true;
  }
}

TEST_CASE(
    "each kind of communication runs beside computation as the plan says, else the software") {
  using Told = std::optional<bool> Overlap::*;
  using Own = bool Software::*;
  using Is = bool Overlaps::*;
  struct Kind {
    Told told;
    Own own;
    Is is;
  };
  const std::vector<Kind> kinds{
      {&Overlap::data, &Software::overlap_data, &Overlaps::data},
      {&Overlap::tensor, &Software::overlap_tensor, &Overlaps::tensor},
      {&Overlap::pipeline, &Software::overlap_pipeline, &Overlaps::pipeline},
      {&Overlap::parameters, &Software::overlap_parameters, &Overlaps::parameters},
      {&Overlap::expert, &Software::overlap_expert, &Overlaps::expert}};
  for (std::size_t one = 0; one < kinds.size(); ++one)
    for (const bool own : {false, true})
      for (const auto told : {std::optional<bool>(), std::optional(false), std::optional(true)}) {
        Software software;
        for (const auto& kind : kinds) software.*kind.own = false;
        software.*kinds[one].own = own;
        Plan plan;
        plan.overlap.*kinds[one].told = told;
        const auto overlaps = overlaps_of(plan, software);
        for (std::size_t other = 0; other < kinds.size(); ++other) {
          INFO("kind " << one << " beside kind " << other << ", software " << own);
          CHECK(overlaps.*kinds[other].is == (other == one && told.value_or(own)));
        }
      }
}

TEST_CASE("ranks reduce and gather once a step or for each pass, as their stage of ZeRO wants") {
  const auto with = [](Plan plan, void (*change)(Plan&)) {
    change(plan);
    return plan;
  };
  const auto late = [](Plan& p) { p.overlap.parameters = false; };
  const auto ahead = [](Plan& p) { p.overlap.parameters = true; };
  const auto at_step = [](Plan& p) { p.gradient_sync = GradientSync::step; };
  const auto whole = [](Plan& p) { p.reshard_after_forward = false; };
  struct Case {
    Plan plan;
    DataDuties duties;
  };
  const std::vector<Case> cases{
      {replicas(0), {once, true, never, false, false}},
      {with(replicas(0), ahead), {once, true, never, false, false}},  // nothing to gather
      {with(replicas(1), late), {once, true, never, false, true}},    // after the update
      {with(replicas(1), ahead), {once, true, once, false, false}},   // in the next forward pass
      {with(replicas(2), late), {always, true, never, false, true}},
      {with(with(replicas(2), ahead), at_step), {once, true, once, false, false}},
      {replicas(3), {always, true, always, true, false}},              // twice for each microbatch
      {with(replicas(3), late), {always, true, always, true, false}},  // late or not
      {with(replicas(3), whole), {always, true, always, false, false}},
      {with(replicas(3), at_step), {once, true, always, true, false}},
      {with(with(replicas(3), at_step), whole), {once, true, once, false, false}}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    CHECK(data_duties(cases[i].plan, four, {}) == cases[i].duties);
  }
}

TEST_CASE("gradients wait for the backward pass where told so, and under 1-bit Adam in any case") {
  auto plan = replicas(1);
  CHECK(data_duties(plan, four, {}).beside);
  CHECK_FALSE(data_duties(plan, four, {.overlap_data = false}).beside);
  auto signs = four;
  signs.optimizer = Optimizer::onebit_adam;
  plan.overlap.data = true;
  CHECK_FALSE(data_duties(plan, signs, {}).beside);
  plan.overlap.data = false;
  CHECK_FALSE(data_duties(plan, four, {}).beside);
}

TEST_CASE("a bucket counts gradients as they are reduced, and parameters as they are gathered") {
  using enum units::Precision;
  struct Case {
    units::Precision training;
    std::optional<units::Precision> asked;  // of gradients
    double reduce, gather;                  // bytes of the plan; 0: it has none
    double gradients, parameters;
  };
  const std::vector<Case> cases{{bf16, {}, 0, 0, 40e6, 40e6},      // the software's 160 MB of fp32
                                {bf16, bf16, 0, 0, 80e6, 80e6},    // the same bytes of bf16
                                {bf16, {}, 100e6, 0, 25e6, 25e6},  // the plan's
                                {bf16, bf16, 100e6, 0, 50e6, 50e6},   // of half the width
                                {bf16, {}, 100e6, 60e6, 25e6, 30e6},  // parameters are bf16
                                {fp8, {}, 100e6, 60e6, 25e6, 30e6},   // and in 8 bit gathered in 16
                                {fp32, {}, 100e6, 60e6, 25e6, 15e6}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& one = cases[i];
    auto plan = replicas(2);
    plan.gradient_precision = one.asked;
    if (one.reduce > 0) plan.bucket = units::Bytes{one.reduce};
    if (one.gather > 0) plan.gather_bucket = units::Bytes{one.gather};
    auto training = four;
    training.precision = one.training;
    INFO("case " << i);
    CHECK(gradient_bucket(plan, training, {}) == one.gradients);
    CHECK(parameter_bucket(plan, training, {}) == one.parameters);
    CHECK(most_unreduced(plan, training, {}) == 2 * one.gradients);  // one fills, one travels
    plan.overlap.data = false;
    CHECK(most_unreduced(plan, training, {}) == one.gradients);
  }
}

TEST_CASE("the root unit is all of the model where software has one and nothing else is wrapped") {
  const Software root{.root_unit = true};
  Plan plan{.zero = 3};
  CHECK_FALSE(root_is_model(plan, root));
  plan.wrap.layers = 0;
  CHECK(root_is_model(plan, root));
  CHECK_FALSE(root_is_model(plan, {}));
}

TEST_CASE("DualPipe and its half run in pairs by nature, 1F1B where it is asked to") {
  model::Transformer sparse;
  sparse.moe = model::Moe{.experts = 8, .top_k = 2};
  for (const bool asked : {false, true}) {
    Plan plan{.data = 2, .expert = 2};
    plan.overlap.expert = asked;
    const auto runs = [&](ScheduleKind schedule) {
      plan.schedule = schedule;
      return runs_in_pairs(sparse, plan, {});
    };
    CHECK(runs(ScheduleKind::one_f_one_b) == asked);
    CHECK(runs(ScheduleKind::interleaved) == asked);
    CHECK_FALSE(runs(ScheduleKind::gpipe));
    CHECK_FALSE(runs(ScheduleKind::zb_h1));
    CHECK(runs(ScheduleKind::dualpipe));
    CHECK(runs(ScheduleKind::dualpipe_v));
  }
}

TEST_CASE(
    "gradients come with the backward pass where software drops them and one pass makes all") {
  const Software keeps{.keep_gradients = true}, drops{.keep_gradients = false};
  CHECK(gradients_come_late(drops, 1));
  CHECK_FALSE(gradients_come_late(drops, 2));  // those of the first wait for the last
  CHECK_FALSE(gradients_come_late(keeps, 1));
}

}  // namespace overlaps_spec
