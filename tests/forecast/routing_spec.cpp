// SPDX-License-Identifier: Apache-2.0
// Steps whose tokens choose experts near each other, or some experts more often than others.
#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "forecast/costs.hpp"
#include "forecast/forecast.hpp"
#include "plans/expert_loads.hpp"
#include "sim/contention.hpp"
#include "sim/engine.hpp"
#include "sim/measures.hpp"
#include "strategies/lowering/lower.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/forecast/small_llama.hpp"

namespace routing_spec {

using forecast::IdleCause;
using forecast::simulate;
using strategies::ExpertPlacement;
using strategies::Locality;
using strategies::Routing;
using strategies::Skew;

namespace {

// A scenario of eight experts on four ranks; each token chooses two.
forecast::Scenario mixture(const strategies::Plan& plan = {.data = 4, .expert = 4}) {
  auto s = tests::small_llama(plan);
  s.model.layers = 4;
  s.model.ffn = 2048;
  s.model.vocab = 1024;
  s.model.max_sequence = s.training.sequence_length = 2048;
  s.model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 1024};
  return s;
}

Routing histogram(std::vector<double> shares) {
  return {.skew = Skew::histogram, .shares = std::move(shares)};
}

// A random scenario with experts on several ranks; nothing if it has none.
std::optional<forecast::Scenario> with_experts(unsigned seed) {
  std::mt19937 random(seed);
  auto scenario = tests::random_scenario(random);
  if (!scenario.model.moe || scenario.plan.expert == 1) return {};
  scenario.model.moe->imbalance = 1;
  return scenario;
}

// Puts a scenario on one node with a network so fast that it takes no time and slows nothing.
// Returns whether its stages' passes follow in an order that does not depend on their lengths.
bool in_order_on_idle_network(forecast::Scenario& s) {
  using enum strategies::ScheduleKind;
  s.cluster = tests::cluster_of(s.cluster.gpus, static_cast<int>(s.cluster.gpus), 8);
  s.cluster.node.nvlink.bandwidth = {1e18};
  s.software.interference = 0;
  const auto kind = s.plan.schedule;
  return kind == gpipe || kind == one_f_one_b || kind == interleaved;
}

// The length of a step whose kernels never take less for more rows, as those of real tiles and
// waves may.
sim::Picoseconds plain_step(const forecast::Scenario& s, strategies::Ranks ranks,
                            std::vector<double> loads = {}) {
  auto costs = forecast::costs_on(s.cluster);
  costs.kernel = [](const units::Kernel& kernel, const strategies::Gpu&) {
    return units::Seconds{1e-6 + kernel.flops.value / 1e14 + kernel.traffic.value / 1e12};
  };
  const auto lowered = strategies::lower(
      {s.model, s.training, s.plan, s.software, s.cluster, false, std::move(loads)}, costs, ranks);
  const auto trace = sim::run(lowered.program, sim::Detail::templates);
  return sim::measure(lowered.program, trace,
                      strategies::post_validates(s.plan, s.software) ? sim::Period::spans
                                                                     : sim::Period::makespan)
      .length;
}

// The load of each rank of an expert-parallel group.
std::vector<double> loads_of(const forecast::Scenario& s) {
  const auto shares = strategies::expert_shares(*s.model.moe, s.training.routing);
  const auto each = static_cast<std::ptrdiff_t>(s.model.moe->experts / s.plan.expert);
  std::vector<double> loads;
  for (auto first = shares.begin(); first != shares.end(); first += each)
    loads.push_back(static_cast<double>(s.plan.expert) * std::accumulate(first, first + each, 0.0));
  loads.back() = strategies::expert_loads(*s.model.moe, s.training.routing, s.plan.expert).fullest;
  return loads;
}

Routing slope(const forecast::Scenario& s, double steepness) {
  std::vector<double> shares;
  for (std::int64_t i = 0; i < s.model.moe->experts; ++i)
    shares.push_back(1 + steepness * static_cast<double>(i));
  return histogram(shares);
}

}  // namespace

TEST_CASE("a histogram of equal shares is balanced, to the picosecond") {
  auto s = mixture();
  const auto even = simulate(s, {.timeline = true});
  s.training.routing = histogram({3, 3, 3, 3, 3, 3, 3, 3});
  const auto flat = simulate(s, {.timeline = true});
  CHECK(flat.step.time == even.step.time);
  CHECK(flat.memory.peak == even.memory.peak);
  CHECK(flat.pipeline.stages[0].bubble_by_cause == even.pipeline.stages[0].bubble_by_cause);
  CHECK(flat.timeline.slices.size() == even.timeline.slices.size());
}

TEST_CASE("ranks that wait for the fullest take the time of ranks that are as full") {
  int tried = 0;
  for (unsigned seed = 0; seed < 300 / tests::fewer; ++seed) {
    auto s = with_experts(seed);
    if (!s || s->model.moe->capacity_factor) continue;
    ++tried;
    s->training.routing = slope(*s, 0.25);
    const auto waits = simulate(*s);
    s->model.moe->imbalance =
        strategies::expert_loads(*s->model.moe, s->training.routing, s->plan.expert).fullest;
    s->training.routing = {};
    const auto full = simulate(*s);
    INFO(seed);
    CHECK(waits.step.time == full.step.time);
    CHECK(waits.memory.peak == full.memory.peak);
    CHECK(waits.time[forecast::StepPart::bubble] >= full.time[forecast::StepPart::bubble]);
  }
  if (tests::fewer == 1) CHECK(tried > 10);
}

TEST_CASE(
    "every rank simulated as loaded as it is takes the step of one that waits for the fullest") {
  int tried = 0;
  for (unsigned seed = 0; seed < 300 / tests::fewer; ++seed) {
    auto s = with_experts(seed);
    if (!s || s->model.moe->capacity_factor || s->cluster.gpus > 32) continue;
    if (!in_order_on_idle_network(*s)) continue;
    ++tried;
    s->training.routing = slope(*s, 0.25);
    INFO(seed);
    CHECK(plain_step(*s, strategies::Ranks::full, loads_of(*s)) ==
          plain_step(*s, strategies::Ranks::folded));
  }
  if (tests::fewer == 1) CHECK(tried > 10);
}

TEST_CASE("more skew is never faster on an idle network") {
  int tried = 0;
  for (unsigned seed = 0; seed < 300 / tests::fewer; ++seed) {
    auto s = with_experts(seed);
    if (!s || !in_order_on_idle_network(*s)) continue;
    ++tried;
    sim::Picoseconds before = 0;
    for (const double steepness : {0.0, 0.05, 0.2, 1.0}) {
      s->training.routing = slope(*s, steepness);
      const auto time = plain_step(*s, strategies::Ranks::folded);
      INFO(seed << ' ' << steepness);
      CHECK(time >= before);
      before = time;
    }
  }
  if (tests::fewer == 1) CHECK(tried > 20);
}

TEST_CASE("the mean rank's wait for the fullest is idle time for expert imbalance") {
  auto s = mixture();
  s.training.routing = histogram({4, 4, 3, 3, 2, 2, 1, 1});  // the fullest rank has 1.6
  const auto f = simulate(s, {.causes = true});
  const auto& stage = f.pipeline.stages[0];
  const auto& causes = *stage.bubble_by_cause;
  const auto waiting = causes[static_cast<std::size_t>(IdleCause::expert_imbalance)];
  CHECK(waiting > 0);
  CHECK(static_cast<double>(std::accumulate(causes.begin(), causes.end(), std::int64_t{0})) *
            1e-12 ==
        Approx(stage.bubble.value));
  CHECK(stage.busy + stage.bubble <= f.step.time);
  REQUIRE(f.experts);
  CHECK(f.experts->waiting.value == Approx(static_cast<double>(waiting) * 1e-12));
  CHECK(f.experts->fullest_load == 1.6);
  CHECK(f.experts->own_load == 1);
  const auto& layers = f.experts->layers;
  REQUIRE(layers.size() == 5);
  CHECK(layers[0].mlp_forward < layers[4].mlp_forward);
  CHECK(layers[0].kept < layers[4].kept);
  // In each of four layers and each microbatch the mean rank waits for the fullest rank's layer.
  const auto each = layers[4].mlp_forward + layers[4].mlp_backward - layers[0].mlp_forward -
                    layers[0].mlp_backward;
  CHECK(f.experts->waiting.value ==
        Approx(4 * static_cast<double>(f.step.microbatches) * each.value).epsilon(0.01));
}

TEST_CASE("experts placed greedily win the time that the fullest rank has less to do") {
  auto s = mixture();
  s.training.routing = histogram({4, 4, 3, 3, 2, 2, 1, 1});
  const auto given = simulate(s);
  s.training.routing.placement = ExpertPlacement::greedy;
  const auto placed = simulate(s);
  CHECK(placed.step.time < given.step.time);
  CHECK(placed.experts->fullest_load == 1);
  CHECK(placed.experts->given_load == 1.6);
  CHECK(placed.experts->least_load == Approx(1));
}

TEST_CASE(
    "tokens that stay near take no longer, and a choice among all groups takes as long as any") {
  int tried = 0;
  for (unsigned seed = 0; seed < 300 / tests::fewer; ++seed) {
    auto s = with_experts(seed);
    if (!s) continue;
    ++tried;
    const auto any = simulate(*s).step.time;
    s->training.routing = {.locality = Locality::group_limited, .groups = 6, .top_groups = 6};
    INFO(seed);
    CHECK(simulate(*s).step.time.value == Approx(any.value).epsilon(1e-9));
    s->training.routing.top_groups = 1;
    // On shared links less traffic may meet more of others', and a step then takes longer.
    CHECK(simulate(*s).step.time <= any * 1.01);
    s->training.routing = {.locality = Locality::neighbours};
    CHECK(simulate(*s).step.time <= any * 1.01);
  }
  if (tests::fewer == 1) CHECK(tried > 20);
}

}  // namespace routing_spec
