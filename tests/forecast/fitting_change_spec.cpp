// SPDX-License-Identifier: Apache-2.0
// Changes that make a plan fit that does not.
#include "forecast/fitting_change.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace fitting_change_spec {

using strategies::Recompute;

namespace {

// A scenario on devices that have this share of the memory that the plan needs.
forecast::Scenario short_of_memory(const strategies::Plan& plan, double share) {
  auto s = tests::small_llama(plan);
  const auto memory = forecast::simulate(s).memory;
  s.cluster.memory_fraction *= share * (memory.peak / memory.capacity);
  return s;
}

}  // namespace

TEST_CASE("one key is changed, the plan then fits, and no other such change takes a shorter step") {
  const auto s = short_of_memory({.data = 2, .micro_batch = 2}, 0.8);
  REQUIRE_FALSE(forecast::simulate(s).memory.fits);
  const auto change = forecast::cheapest_fitting_change(s);
  REQUIRE(change);
  struct Other {
    const char *key, *value;
    void (*change)(strategies::Plan&);
  };
  for (const auto& [key, value, differs] :
       {Other{"plan.micro_batch", "1", [](strategies::Plan& p) { p.micro_batch = 1; }},
        Other{"plan.recompute", "full",
              [](strategies::Plan& p) { p.recompute = {Recompute::Kind::full}; }},
        Other{"plan.zero", "1", [](strategies::Plan& p) { p.zero = 1; }},
        Other{"plan.zero", "2", [](strategies::Plan& p) { p.zero = 2; }},
        Other{"plan.zero", "3", [](strategies::Plan& p) { p.zero = 3; }}}) {
    CAPTURE(key, value);
    auto other = s;
    differs(other.plan);
    const auto forecast = forecast::simulate(other);
    if (forecast.memory.fits) CHECK(change->step <= forecast.step.time);
    if (change->key == key && change->value == value) {
      CHECK(forecast.memory.fits);
      CHECK(change->step == forecast.step.time);
      CHECK(change->peak == forecast.memory.peak);
    }
  }
}

TEST_CASE(
    "where whole gradients are summed up until the end of a step, they may be reduced before") {
  strategies::Plan plan;
  plan.data = 2;
  plan.zero = 3;
  plan.recompute = {Recompute::Kind::full};
  plan.gradient_sync = strategies::GradientSync::step;
  auto s = tests::small_llama(plan);
  const auto whole = forecast::simulate(s).memory.peak;
  s.plan.gradient_sync = strategies::GradientSync::microbatch;
  const auto parts = forecast::simulate(s).memory.peak;
  REQUIRE(parts < whole);
  s.plan.gradient_sync = strategies::GradientSync::step;
  s.cluster.memory_fraction *= 0.5 * ((parts + whole) / forecast::simulate(s).memory.capacity);
  const auto change = forecast::cheapest_fitting_change(s);
  REQUIRE(change);
  CHECK(change->key == "plan.gradient_sync");
  CHECK(change->value == "microbatch");
}

TEST_CASE("microbatches are divided as often as it takes") {
  auto s = tests::small_llama({.data = 1, .micro_batch = 8});
  s.training.global_batch = 8;
  s.plan.recompute = {Recompute::Kind::full};
  s.cluster.node.host.memory = {};  // nothing can be offloaded
  const auto peak = [&](std::int64_t micro_batch) {
    auto other = s;
    other.plan.micro_batch = micro_batch;
    return forecast::simulate(other).memory.peak;
  };
  const auto capacity = forecast::simulate(s).memory.capacity;
  s.cluster.memory_fraction *= 0.5 * ((peak(1) + peak(2)) / capacity);
  REQUIRE(peak(1) < peak(2));
  REQUIRE_FALSE(forecast::simulate(s).memory.fits);
  const auto change = forecast::cheapest_fitting_change(s);
  REQUIRE(change);
  CHECK(change->key == "plan.micro_batch");
  CHECK(change->value == "1");
}

TEST_CASE("gradients are divided where that is enough, of experts of one dense replica too") {
  auto s = tests::small_llama({.data = 8, .zero = 1, .recompute = {Recompute::Kind::full}});
  if (GENERATE(false, true)) {
    s = tests::small_llama({.tensor = 8, .expert_tensor = 1, .sequence_parallel = true, .zero = 1});
    s.plan.recompute = {Recompute::Kind::full};
    s.model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 2048};
  }
  s.software.bucket = units::Bytes{1e6};
  s.cluster.node.host.memory = {};  // nothing can be offloaded
  const auto peak = [&](int zero) {
    auto other = s;
    other.plan.zero = zero;
    return forecast::simulate(other).memory.peak;
  };
  REQUIRE(peak(2) < peak(1));
  s.cluster.memory_fraction *= 0.5 * ((peak(1) + peak(2)) / forecast::simulate(s).memory.capacity);
  const auto change = forecast::cheapest_fitting_change(s);
  REQUIRE(change);
  CHECK(change->key == "plan.zero");
  CHECK(change->value == "2");
}

TEST_CASE("parameters are divided under every optimizer that zero: 3 allows") {
  using enum strategies::Optimizer;
  for (const auto optimizer : {adamw, lamb, muon}) {
    auto s = tests::small_llama({.data = 8, .zero = 1, .recompute = {Recompute::Kind::full}});
    s.training.optimizer = optimizer;
    s.cluster.node.host.memory = {};  // nothing can be offloaded
    s.cluster.memory_fraction *=
        0.9 * (forecast::simulate(s).memory.peak / forecast::simulate(s).memory.capacity);
    const auto change = forecast::cheapest_fitting_change(s);
    REQUIRE(change);
    CHECK(change->key == "plan.zero");
    CHECK(change->value == "3");
  }
}

TEST_CASE("where no change of one key is enough, that is said") {
  const auto s = short_of_memory({}, 0.01);
  CHECK_FALSE(forecast::cheapest_fitting_change(s));
  CHECK_THAT(forecast::advice_to_fit(s), STEPCAST_HOLDS("no change of one key"));
}

}  // namespace fitting_change_spec
