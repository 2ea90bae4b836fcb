// SPDX-License-Identifier: Apache-2.0
// Forecasts without the parts that the caller does not read.
#include <algorithm>
#include <iterator>
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

}  // namespace

TEST_CASE("a picture has the bars of the timeline, without names and steps") {
  const auto seed = GENERATE(range(0u, 60u / tests::fewer));
  std::mt19937 random(seed + 11000);
  const auto scenario = tests::rough_scenario(random, seed % 2 == 1);
  INFO("seed " << seed);
  const auto drawn = simulate(scenario, {.timeline = true});
  const auto picture = simulate(scenario, {.picture = true});
  CHECK(bars_of(picture.timeline.slices) == bars_of(drawn.timeline.slices));
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
