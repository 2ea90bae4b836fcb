// SPDX-License-Identifier: Apache-2.0
// Laws for partitions of any size, where trying all of them would take too long.
#include "tests/catch.hpp"
#include "tests/search/closed_forms.hpp"
#include "tests/search/pipelines.hpp"
#include "tests/search/random_chains.hpp"

namespace partition_laws_spec {

using namespace search;
using namespace pipelines;

namespace {

// The makespan of a partition that one would set by hand: layers split evenly, and the fastest of
// the first three options, the same for all layers, that fits.
std::optional<Picoseconds> even_split(const PipelineProblem& problem) {
  const auto layers = problem.chain.layers.size();
  const auto stages = static_cast<std::size_t>(problem.layout.virtual_stages());
  std::optional<Picoseconds> best;
  for (std::size_t option = 0; option < 3; ++option) {
    std::vector<Stage> placed(stages);
    std::vector<StageTimes> times;
    for (std::size_t v = 0; v < stages; ++v) {
      for (auto i = layers * v / stages; i < layers * (v + 1) / stages; ++i) {
        const auto& layer = problem.chain.layers[i];
        placed[v].fixed += layer.fixed;
        placed[v].add(layer.options[std::min(option, layer.options.size() - 1)]);
      }
      times.push_back(placed[v].times);
    }
    if (!fits(problem, placed)) continue;
    const auto makespan = slow_makespan(problem.order, problem.layout, times, problem.latency);
    if (!best || makespan < *best) best = makespan;
  }
  return best;
}

PipelineProblem random_problem(Draw& draw, std::int64_t most_layers) {
  const auto schedule = random_schedule(draw);
  const auto stages =
      strategies::layout_of(schedule.schedule, schedule.stages, schedule.chunks).virtual_stages();
  return pipeline(random_chain(draw, draw(stages, most_layers), 3), schedule,
                  draw(0, 1) * draw(1, 6), draw(40, 150));
}

std::optional<Picoseconds> makespan(const PipelineProblem& problem) {
  const auto found = partition(problem);
  CHECK(found.proved);
  if (!found.best) return std::nullopt;
  CHECK(found.best->makespan == found.lower_bound);
  return found.best->makespan;
}

}  // namespace

TEST_CASE("no partition is slower than an even split, nor faster than its proved bound") {
  Draw draw{std::mt19937(31)};
  for (int trial = 0; trial < 60; ++trial) {
    const int stages = static_cast<int>(draw(2, 8));
    const auto problem =
        pipeline(random_chain(draw, draw(stages, 40), 4),
                 {ScheduleKind::one_f_one_b, stages, 1, static_cast<int>(draw(1, 40))},
                 draw(0, 1) * draw(1, 9), draw(100, 800));
    const auto found = partition(problem);
    const auto even = even_split(problem);
    if (!found.best) CHECK((found.proved && !even));
    if (!found.best) continue;
    CHECK(found.lower_bound <= found.best->makespan);
    CHECK((!found.proved || found.lower_bound == found.best->makespan));
    CHECK((!even || found.lower_bound <= *even));
    CHECK((!even || !found.proved || found.best->makespan <= *even));
    check_claims(problem, *found.best);
  }
}

TEST_CASE("time and bytes in other units give the same partition's makespan") {
  Draw draw{std::mt19937(32)};
  for (int trial = 0; trial < 40; ++trial) {
    auto problem = random_problem(draw, 9);
    const auto small = makespan(problem);
    constexpr std::int64_t ms = 1'000'000'000, mib = 1 << 20;
    problem.latency *= ms;
    for (auto& capacity : problem.capacity) capacity = capacity * mib + mib - 1;
    for (auto& layer : problem.chain.layers) {
      layer.fixed *= mib;
      for (auto& option : layer.options)
        option = {option.kept * mib, option.forward * ms, option.backward * ms, option.weight * ms,
                  option.transient * mib};
    }
    const auto large = makespan(problem);
    REQUIRE(large.has_value() == small.has_value());
    if (small) CHECK(*large == *small * ms);
  }
}

TEST_CASE("more memory or another option never makes a partition slower") {
  Draw draw{std::mt19937(33)};
  for (int trial = 0; trial < 40; ++trial) {
    auto problem = random_problem(draw, 8);
    auto before = makespan(problem);
    const auto no_slower = [&] {
      const auto now = makespan(problem);
      CHECK((!before || (now && *now <= *before)));
      before = now;
    };
    for (auto& capacity : problem.capacity) capacity += draw(1, 20);
    no_slower();
    for (auto& layer : problem.chain.layers) {
      auto option = layer.options.front();
      option.kept += draw(-3, 3);
      option.backward = std::max<Picoseconds>(0, option.backward + draw(-3, 3));
      layer.options.push_back(option);
    }
    no_slower();
  }
}

TEST_CASE("a partition is the same whether layers that are alike look alike or different") {
  Draw draw{std::mt19937(34)};
  for (int trial = 0; trial < 40; ++trial) {
    auto problem = random_problem(draw, 9);
    const auto shared = makespan(problem);
    // A useless option of its own makes every layer a type of its own.
    std::int64_t number = 0;
    for (auto& layer : problem.chain.layers) {
      auto useless = layer.options.front();
      useless.backward += ++number;
      layer.options.push_back(useless);
    }
    CHECK(makespan(problem) == shared);
  }
}

TEST_CASE("without latency the real order takes no longer than the closed form") {
  Draw draw{std::mt19937(35)};
  for (int trial = 0; trial < 60; ++trial) {
    const int stages = static_cast<int>(draw(2, 5));
    const auto problem = pipeline(
        random_chain(draw, draw(stages, 12), 1),
        {ScheduleKind::one_f_one_b, stages, 1, static_cast<int>(draw(1, 12))}, 0, draw(60, 200));
    oracle::TimedPipeline closed{.stages = stages,
                                 .microbatches = problem.microbatches,
                                 .capacity = problem.capacity.front()};
    bool transients = false;
    for (const auto& layer : problem.chain.layers) {
      const auto& option = layer.options.front();
      closed.layers.push_back(
          {option.forward + option.backward + option.weight, layer.fixed, option.kept, 0});
      transients |= option.transient > 0;
    }
    if (transients) continue;
    const auto real = makespan(problem);
    const auto latency = oracle::least_latency(closed);
    REQUIRE(real.has_value() == latency.has_value());
    if (real) CHECK(*real <= *latency);
  }
}

TEST_CASE("frontiers shared between schedules of one chain change nothing") {
  Draw draw{std::mt19937(36)};
  const auto chain = random_chain(draw, 9, 3);
  IntervalFrontiers frontiers(chain);
  for (int trial = 0; trial < 20; ++trial) {
    const auto problem = pipeline(chain, random_schedule(draw), draw(0, 3), draw(60, 150));
    const auto alone = partition(problem), shared = partition(problem, frontiers);
    CHECK(shared.lower_bound == alone.lower_bound);
    REQUIRE(shared.best.has_value() == alone.best.has_value());
    if (!alone.best) continue;
    CHECK(shared.best->first_layer == alone.best->first_layer);
    CHECK(shared.best->choices == alone.best->choices);
  }
}

// With as many layers as virtual stages each layer sits on its own, whatever times the passes take
// besides.
TEST_CASE("times that passes take besides their layers are as if their layers took them") {
  Draw draw{std::mt19937(23)};
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const auto schedule = random_schedule(draw);
    const auto stages =
        strategies::layout_of(schedule.schedule, schedule.stages, schedule.chunks).virtual_stages();
    auto problem = pipeline(random_chain(draw, stages, 3), schedule, draw(0, 4), draw(60, 200));
    problem.chain.runs.clear();
    auto within = problem;
    for (auto& layer : within.chain.layers) {
      const StageTimes more{draw(0, 5), draw(0, 5), draw(0, 5)};
      problem.besides.push_back(more);
      for (auto& option : layer.options) {
        option.forward += more.forward;
        option.backward += more.backward;
        option.weight += more.weight;
      }
    }
    CHECK(makespan(problem) == makespan(within));
  }
}

TEST_CASE("a chain of fewer layers than virtual stages has no partition") {
  const auto problem =
      pipeline({{{0, {{1, 1, 1, 0, 0}}}}, {}}, {ScheduleKind::gpipe, 2, 1, 2}, 0, 9);
  const auto found = partition(problem);
  CHECK((found.proved && !found.best));
}

TEST_CASE("a partition needs a capacity for every device, and runs of layers inside the chain") {
  auto problem = pipeline({{{0, {{1, 1, 1, 0, 0}}}, {0, {{1, 1, 1, 0, 0}}}}, {}},
                          {ScheduleKind::gpipe, 2, 1, 2}, 0, 9);
  problem.chain.runs.push_back({1, 2, {{1, 1, 1, 0, 0}}});
  CHECK_THROWS_WITH(partition(problem), "a run of layers lies outside the chain");
  problem.chain.runs.clear();
  problem.capacity.pop_back();
  CHECK_THROWS_WITH(partition(problem), "every device of a pipeline needs a capacity");
}

}  // namespace partition_laws_spec
