// SPDX-License-Identifier: Apache-2.0
// No bound of a choice of degrees is above the time of its plans.
#include "plans/partition.hpp"
#include "search/least_time.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/search/bounded_plans.hpp"

namespace plan_bounds_spec {

using namespace bounded_plans;

namespace {

forecast::Scenario random_scenario(std::mt19937& random, unsigned seed) {
  auto s = seed % 2 == 0 ? tests::random_scenario(random) : tests::sharded_scenario(random);
  if (seed % 3 > 0) return s;
  // Hosts are late in one direction, in both or in none.
  constexpr double launches[] = {0, 1e-7, 1e-6, 4e-6, 8e-6, 1e-4};
  s.software.launch_forward = {launches[random() % 6]};
  s.software.launch_backward = {launches[random() % 6]};
  s.software.step_overhead = {random() % 2 == 0 ? 0.0 : 1e-4};
  return s;
}

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("no plan is faster than the least time of its degrees, whatever it recomputes") {
  std::vector<double> ratios;
  for (unsigned seed = 0; seed < 400 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 8000);
    const BoundedPlan bounded(random_scenario(random, seed));
    auto s = bounded.scenario();
    s.plan.recompute =
        bounded.prices().variants[random() % bounded.prices().variants.size()].recompute;
    const auto step = ticks(forecast::simulate(s).step.time);
    const auto least = least_time(bounded.fastest());
    CHECK(least <= step);
    CHECK(least_time_of_passes(bounded.fastest()) <= least);
    ratios.push_back(static_cast<double>(least) / static_cast<double>(step));
    if (!is_cut(bounded.bounds())) continue;
    const auto as_cut = least_time_as_cut(bounded.fastest());
    CHECK(as_cut >= least);
    CHECK(as_cut <= step);
  }
  if (tests::fewer == 1) CHECK(middle(ratios) > 0.25);
}

namespace {

// The scenario with as much memory as its plan needs, and no more.
forecast::Scenario in_its_memory(forecast::Scenario s, const forecast::Forecast& forecast) {
  double needed = 0;
  for (const auto& stage : forecast.memory.stages) needed = std::max(needed, stage.needed().value);
  s.cluster.memory_fraction *= (1 + 1e-9) * needed / forecast.memory.capacity.value;
  return s;
}

}  // namespace

TEST_CASE("no plan that fits is faster than the bound of its memory, in whatever order") {
  for (unsigned seed = 0; seed < 1600 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 15000);
    auto s = random_scenario(random, seed);
    if (has_fixed_order(s.plan.schedule)) continue;
    if (seed % 2 == 0) s.training.sequence_length *= 32;  // activations fill the memory
    const BoundedPlan roomy(s);
    if (!is_cut(roomy.bounds())) continue;
    s = roomy.scenario();
    s.plan = plan_with(roomy.bounds(), random_partition(roomy, roomy.problem(), random), true);
    const auto forecast = forecast::simulate(s);
    const BoundedPlan bounded(in_its_memory(s, forecast));
    const auto step = ticks(forecast.step.time);
    for (const double later : {1.0, 1.02, 1.5}) {
      const auto target = static_cast<sim::Picoseconds>(later * static_cast<double>(step)) + 1;
      const auto bound = least_time_as_cut(bounded.bounds(), bounded.problem(), target);
      CAPTURE(later);
      REQUIRE(bound);
      CHECK(*bound <= step);
    }
  }
}

TEST_CASE("where memory is short of activations, the bound has recomputation, in whatever order") {
  using enum strategies::ScheduleKind;
  // The share of the memory of a plan that recomputes nothing.
  for (const std::int64_t vocab : {1024, 40960})
    for (const auto& [schedule, share] : {std::pair(zb_h1, 0.6),
                                          {zb_h2, 0.4},
                                          {zb_v, 0.6},
                                          {v_half, 0.6},
                                          {dualpipe, 0.8},
                                          {dualpipe_v, 0.6}}) {
      CAPTURE(static_cast<int>(schedule));
      const bool chunks = schedule != zb_h1 && schedule != zb_h2 && schedule != dualpipe;
      auto s = tests::scenario_under(
          {.pipeline = 4, .schedule = schedule, .virtual_stages = chunks ? 2 : 1}, 64);
      s.model = {.name = "model",
                 .layers = 32,
                 .hidden = 4096,
                 .heads = 32,
                 .kv_heads = 32,
                 .head_dim = 128,
                 .ffn = 16384,
                 .vocab = vocab,
                 .max_sequence = 8192};
      s.training.sequence_length = 8192;
      s.software = {.name = "software"};
      const auto forecast = forecast::simulate(s);
      const auto step = ticks(forecast.step.time);
      auto tight = in_its_memory(s, forecast);
      const auto bound_in = [&](double part, sim::Picoseconds target) {
        auto less = tight;
        less.cluster.memory_fraction *= part;
        const BoundedPlan bounded(less);
        return least_time_as_cut(bounded.bounds(), bounded.problem(), target);
      };
      CHECK(least_time_as_cut(BoundedPlan(s).bounds()) <= step);
      CHECK(bound_in(1, 2 * step).value() <= step);
      if (vocab > 1024) continue;  // whose head takes longer than any stage
      CHECK(bound_in(share, 2 * step).value() > step);
      CHECK(!bound_in(0.2, 2 * step));
      // The shorter the step, the more microbatches are in flight.
      if (schedule == zb_h1) CHECK(bound_in(share, step + step / 16) == step + step / 16);
    }
}

TEST_CASE("no plan is faster than its partition's passes and exchanges") {
  std::vector<double> ratios;
  for (unsigned seed = 0; seed < 600 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 9000);
    auto drawn = random_scenario(random, seed);
    if (!has_fixed_order(drawn.plan.schedule)) continue;
    const BoundedPlan bounded(std::move(drawn));
    const auto partition = random_partition(bounded, bounded.problem(), random);
    auto s = bounded.scenario();
    s.plan = plan_with(bounded.bounds(), partition, true);
    const auto step = ticks(forecast::simulate(s).step.time);
    CHECK(partition.makespan <= step);
    ratios.push_back(static_cast<double>(partition.makespan) / static_cast<double>(step));
  }
  if (tests::fewer == 1) CHECK(middle(ratios) > 0.4);
}

// With stages of one GPU no messages meet on a link, and no replicas share parameters.
TEST_CASE("with one GPU a stage, passes make up at least 90 % of a step") {
  std::vector<double> ratios;
  for (const auto schedule :
       {strategies::ScheduleKind::gpipe, strategies::ScheduleKind::one_f_one_b,
        strategies::ScheduleKind::interleaved})
    for (const std::int64_t pipeline : {1, 2, 4})
      for (const std::int64_t microbatches : {4, 8, 16}) {
        if (schedule == strategies::ScheduleKind::interleaved && pipeline == 1) continue;
        CAPTURE(pipeline, microbatches);
        const bool interleaved = schedule == strategies::ScheduleKind::interleaved;
        auto s = tests::scenario_under({.pipeline = pipeline, .schedule = schedule}, microbatches);
        s.model.layers = 8;
        s.plan.virtual_stages = interleaved ? 2 : 1;
        s.software.step_overhead = {0.0};
        const BoundedPlan bounded(s, {strategies::Recompute{}});
        std::mt19937 random(1);
        const auto partition = random_partition(bounded, bounded.problem(), random);
        auto same = bounded.scenario();
        same.plan = plan_with(bounded.bounds(), partition, true);
        const auto step = ticks(forecast::simulate(same).step.time);
        CHECK(partition.makespan <= step);
        ratios.push_back(static_cast<double>(partition.makespan) / static_cast<double>(step));
      }
  CHECK(middle(ratios) > 0.95);
  CHECK(*std::ranges::min_element(ratios) > 0.9);
}

TEST_CASE("a plan written out of a partition has its layers and its ways") {
  for (unsigned seed = 0; seed < 200 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 10000);
    const BoundedPlan bounded(random_scenario(random, seed));
    const auto partition = random_partition(bounded, bounded.problem(), random);
    const auto plan = plan_with(bounded.bounds(), partition, true);
    const auto layers = bounded.scenario().model.layers;
    const auto split = strategies::layers_per_virtual_stage(plan, layers);
    REQUIRE(split.size() + 1 == partition.first_layer.size());
    std::int64_t placed = 0, element = 0;
    for (std::size_t v = 0; v < split.size(); ++v) {
      // Layers of the partition count the embedding in front and the head behind.
      placed += split[v];
      const bool last = v + 1 == split.size();
      CHECK(partition.first_layer[v + 1] == placed + (last ? 2 : 1));
      for (const auto& choice : partition.choices[v]) {
        const auto layer = element++ - 1;
        if (layer < 0 || layer >= layers) continue;
        auto way = plan.recompute;
        for (const auto& some : plan.layers)
          if (some.from <= layer && layer <= some.to) way = some.recompute.value_or(way);
        CHECK(way == bounded.prices().variants[static_cast<std::size_t>(choice.option)].recompute);
      }
    }
    CHECK(placed == layers);
  }
}

TEST_CASE("every way to recompute is there once, none first") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto ways = ways_of(tests::random_scenario(random).model);
    CHECK(ways.front() == strategies::Recompute{});
    for (std::size_t i = 0; i < ways.size(); ++i) CHECK(std::ranges::count(ways, ways[i]) == 1);
  }
}

}  // namespace plan_bounds_spec
