// SPDX-License-Identifier: Apache-2.0
#include "search/partition.hpp"
#include "strategies/pipeline.hpp"
#include "tests/catch.hpp"
#include "tests/search/oracle.hpp"
#include "tests/search/pipelines.hpp"

using namespace search;
using namespace pipelines;

namespace {

// A layer: fixed:forward/backward/kept:... with one part per option.
Layer layer_of(const std::string& text) {
  const auto parts = oracle::split(text, ':');
  Layer layer{std::stoll(parts[0]), {}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto n = oracle::numbers(parts[i]);
    layer.options.push_back({n[2], n[0], n[1], 0, 0});
  }
  return layer;
}

// What a result claims, checked: every layer placed, its price, the memory and the time.
void check_claims(const PipelineProblem& problem, const Partition& found) {
  const auto stages = static_cast<std::size_t>(problem.layout.virtual_stages());
  REQUIRE(found.first_layer.size() == stages + 1);
  REQUIRE(found.first_layer.front() == 0);
  REQUIRE(found.first_layer.back() == static_cast<int>(problem.chain.layers.size()));
  std::vector<Stage> placed(stages);
  for (std::size_t v = 0; v < stages; ++v) {
    int layer = found.first_layer[v];
    for (const auto& choice : found.choices[v]) {
      const auto* options = &problem.chain.layers[static_cast<std::size_t>(layer)].options;
      for (const auto& segment : problem.chain.segments)
        if (choice.layers > 1 && segment.first == layer && segment.layers == choice.layers)
          options = &segment.options;
      placed[v].add((*options)[static_cast<std::size_t>(choice.option)]);
      for (int i = 0; i < choice.layers; ++i)
        placed[v].fixed += problem.chain.layers[static_cast<std::size_t>(layer++)].fixed;
    }
    REQUIRE(layer == found.first_layer[v + 1]);
    REQUIRE(placed[v].times == found.stages[v]);
  }
  REQUIRE(fits(problem, placed));
  REQUIRE(slow_makespan(problem.order, problem.layout, found.stages, problem.latency) ==
          found.makespan);
}

struct Draw {
  std::mt19937 random;
  std::int64_t operator()(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  }
};

// Ways to run a layer: keep everything, or less and less, with the recomputation in the backward
// pass; now and then with a transient, and a way that differs in everything.
std::vector<Price> random_options(Draw& draw, std::int64_t most) {
  Price price{draw(4, 12), draw(2, 9), draw(2, 9), draw(0, 6), 0};
  std::vector<Price> options{price};
  for (auto more = draw(0, most - 1); more > 0; --more) {
    price.kept = draw(0, price.kept);
    price.backward += draw(0, 4);
    price.transient = draw(0, 2) == 0 ? draw(0, 6) : price.transient;
    options.push_back(price);
    if (draw(0, 4) == 0) options.back().forward += draw(-1, 2);
  }
  return options;
}

Chain random_chain(Draw& draw, std::int64_t layers, std::int64_t options) {
  Chain chain;
  for (std::int64_t i = 0; i < layers; ++i)
    if (i > 0 && draw(0, 2) == 0)
      chain.layers.push_back(chain.layers.back());
    else
      chain.layers.push_back({draw(0, 6), random_options(draw, options)});
  return chain;
}

strategies::OrderInput random_schedule(Draw& draw) {
  const int stages = static_cast<int>(draw(2, 3));
  switch (draw(0, 6)) {
    case 0:
      return {ScheduleKind::gpipe, stages, 1, static_cast<int>(draw(1, 5))};
    case 1:
      return {ScheduleKind::interleaved, 2, 2, static_cast<int>(draw(1, 5))};
    case 2:
      return {ScheduleKind::zb_h1, stages, 1, static_cast<int>(draw(2, 5))};
    case 3:
      return {ScheduleKind::zb_v, 2, 2, static_cast<int>(draw(2, 5))};
    case 4:
      return {ScheduleKind::dualpipe, 2, 1, 4};
    case 5:
      return {ScheduleKind::dualpipe_v, 2, 2, 4};
    default:
      return {ScheduleKind::one_f_one_b, stages, 1, static_cast<int>(draw(1, 7))};
  }
}

}  // namespace

TEST_CASE("partitions with recomputation equal the known optima of the 1F1B order") {
  int rows = 0;
  for (const auto& cells : oracle::rows_of("joint_partition_recompute.csv")) {
    INFO("instance " << cells[0]);
    Chain chain;
    for (const auto& layer : oracle::split(cells[6], ';')) chain.layers.push_back(layer_of(layer));
    const auto problem =
        pipeline(chain, {ScheduleKind::one_f_one_b, std::stoi(cells[1]), 1, std::stoi(cells[2])}, 0,
                 std::stoll(cells[3]));
    const auto found = partition(problem);
    const auto optimum = oracle::optimum(cells[5]);
    CHECK(found.proved);
    REQUIRE(found.best.has_value() == optimum.has_value());
    if (optimum) {
      CHECK(found.best->makespan == *optimum);
      check_claims(problem, *found.best);
    }
    ++rows;
  }
  CHECK(rows == 60);
}

TEST_CASE("partitions equal the best of all partitions, whatever the schedule") {
  Draw draw{std::mt19937(3)};
  int fitting = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto schedule = random_schedule(draw);
    const auto stages =
        strategies::layout_of(schedule.schedule, schedule.stages, schedule.chunks).virtual_stages();
    auto chain = random_chain(draw, draw(stages, stages + 2), 3);
    if (draw(0, 3) == 0) {
      const auto first = draw(0, static_cast<std::int64_t>(chain.layers.size()) - 2);
      chain.segments.push_back({static_cast<int>(first), 2, random_options(draw, 2)});
    }
    auto problem = pipeline(chain, schedule, draw(0, 1) * draw(1, 6), draw(15, 90));
    problem.capacity.front() += draw(-5, 5);
    INFO("trial " << trial << " schedule " << static_cast<int>(schedule.schedule));
    const auto found = partition(problem);
    const auto best = brute_force(problem);
    CHECK(found.proved);
    REQUIRE(found.best.has_value() == best.has_value());
    if (!best) continue;
    ++fitting;
    REQUIRE(found.best->makespan == *best);
    check_claims(problem, *found.best);
  }
  CHECK(fitting > 200);
}
