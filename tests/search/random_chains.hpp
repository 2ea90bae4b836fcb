// SPDX-License-Identifier: Apache-2.0
// Random chains of layers and schedules, and a check of a partition's claims.
#pragma once
#include "tests/catch.hpp"
#include "tests/search/pipelines.hpp"

namespace pipelines {

// Checks a partition's claims: every layer placed, its price, the memory and the time.
inline void check_claims(const PipelineProblem& problem, const Partition& found) {
  const auto stages = static_cast<std::size_t>(problem.layout.virtual_stages());
  REQUIRE(found.first_layer.size() == stages + 1);
  REQUIRE(found.first_layer.front() == 0);
  REQUIRE(found.first_layer.back() == static_cast<int>(problem.chain.layers.size()));
  std::vector<Stage> placed(stages);
  for (std::size_t v = 0; v < stages; ++v) {
    int layer = found.first_layer[v];
    for (const auto& choice : found.choices[v]) {
      const auto* options = &problem.chain.layers[static_cast<std::size_t>(layer)].options;
      for (const auto& segment : problem.chain.runs)
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

// Random ways to run a layer: one keeps everything, the next keep less and less and recompute in
// the backward pass; now and then one has a transient or another forward time.
inline std::vector<Price> random_options(Draw& draw, std::int64_t most) {
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

inline Chain random_chain(Draw& draw, std::int64_t layers, std::int64_t options) {
  Chain chain;
  for (std::int64_t i = 0; i < layers; ++i)
    if (i > 0 && draw(0, 2) == 0)
      chain.layers.push_back(chain.layers.back());
    else
      chain.layers.push_back({draw(0, 6), random_options(draw, options)});
  return chain;
}

inline strategies::OrderInput random_schedule(Draw& draw) {
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

}  // namespace pipelines
