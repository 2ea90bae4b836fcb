// SPDX-License-Identifier: Apache-2.0
// Forecasts without the parts that the caller does not read.
#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "forecast/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace picture_spec {

using namespace forecast;

namespace {

using Bar = std::tuple<int, std::int64_t, std::string_view, std::string_view, std::int64_t,
                       std::int64_t, std::int64_t, std::int64_t, double>;

Bar bar_of(const Slice& slice) {
  return {slice.stage, slice.rank,     slice.lane,   slice.kind,       slice.microbatch,
          slice.chunk, slice.start_ps, slice.end_ps, slice.bytes.value};
}

std::vector<Bar> bars_of(const std::vector<Slice>& slices) {
  std::vector<Bar> bars;
  std::ranges::transform(slices, std::back_inserter(bars), bar_of);
  return bars;
}

// The slices of each stage's lowest rank.
std::vector<Slice> lowest_of(const std::vector<Slice>& slices, const std::vector<int>& stages) {
  std::map<int, std::int64_t> lowest;
  for (const auto& slice : slices) lowest.try_emplace(slice.stage, slice.rank);
  std::vector<Slice> kept;
  for (const auto& slice : slices)
    if (slice.rank == lowest[slice.stage] && std::ranges::count(stages, slice.stage) > 0)
      kept.push_back(slice);
  return kept;
}

}  // namespace

TEST_CASE("a picture has the timeline's bars of the lowest ranks of its stages, and its end") {
  const auto seed = GENERATE(range(0u, 60u / tests::fewer));
  std::mt19937 random(seed + 11000);
  const auto scenario = tests::rough_scenario(random, seed % 2 == 1);
  INFO("seed " << seed);
  const auto drawn = simulate(scenario, {.timeline = true});
  std::vector<int> stages;  // the first, and every other one
  for (int stage = 0; stage < scenario.plan.pipeline; stage += 2) stages.push_back(stage);
  const auto picture = simulate(scenario, {.pictured = stages});
  CHECK(bars_of(picture.timeline.slices) == bars_of(lowest_of(drawn.timeline.slices, stages)));
  CHECK(picture.timeline.end_ps == drawn.timeline.end_ps);
  CHECK(drawn.timeline.end_ps ==
        std::ranges::max(drawn.timeline.slices, {}, &Slice::end_ps).end_ps);
  CHECK(std::ranges::all_of(picture.timeline.slices,
                            [](const Slice& s) { return s.name.empty() && s.steps < 0; }));
  CHECK(picture.timeline.memory.empty());
  CHECK(picture.timeline.arrows.empty());
  CHECK(picture.step.time == drawn.step.time);
}

TEST_CASE("a forecast without its network has the same times, memory, path and warnings") {
  const auto seed = GENERATE(range(0u, 20u));
  std::mt19937 random(seed + 12000);
  const auto scenario = tests::rough_scenario(random);
  INFO("seed " << seed);
  const auto whole = simulate(scenario), without = simulate(scenario, {.network = false});
  CHECK(without.links.empty());
  CHECK(without.slowed.empty());
  CHECK(without.step.time == whole.step.time);
  CHECK(without.pipeline.bubble_fraction == whole.pipeline.bubble_fraction);
  CHECK(without.critical_path.size() == whole.critical_path.size());
  CHECK(without.simulation.events == whole.simulation.events);
  for (const auto& facts : step_parts) CHECK(without.time[facts.part] == whole.time[facts.part]);
  CHECK(without.memory.peak == whole.memory.peak);
  CHECK(without.warnings == whole.warnings);
}

TEST_CASE("forecasts that share orders equal forecasts that search for their own") {
  strategies::KnownOrders orders;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed + 13000);
    const auto scenario = tests::rough_scenario(random);
    INFO("seed " << seed);
    for (int again = 0; again < 2; ++again)
      CHECK(simulate(scenario, {.orders = &orders}).step.time == simulate(scenario).step.time);
  }
  CHECK(orders.remembered() > 0);
}

}  // namespace picture_spec
