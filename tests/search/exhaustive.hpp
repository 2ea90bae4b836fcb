// SPDX-License-Identifier: Apache-2.0
// All partitions of small pipelines whose passes may communicate with replicas, one by one.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "tests/search/random_chains.hpp"

namespace pipelines {

// The exchanges of a virtual stage of layers first … last − 1, summed without IntervalFrontiers.
inline StageTimes exchanged(const std::vector<Layer>& layers, int first, int last) {
  StageTimes sum;
  for (int i = first; i < last; ++i) {
    const auto& layer = layers[static_cast<std::size_t>(i)];
    sum.reduction += layer.reduction;
    sum.gathering += layer.gathering;
    sum.update += layer.update;
    sum.slowed_forward += layer.slowed_forward;
    sum.slowed_backward += layer.slowed_backward;
  }
  const auto& edge = layers[static_cast<std::size_t>(last) - 1];
  sum.first_unit = edge.first_unit;
  sum.message_contention = edge.message_contention;
  sum.last_unit = layers[static_cast<std::size_t>(first)].last_unit;
  sum.slowed_forward = std::max<Picoseconds>(0, sum.slowed_forward - edge.less_slowed_forward);
  sum.slowed_backward = std::max<Picoseconds>(0, sum.slowed_backward - edge.less_slowed_backward);
  return sum;
}

using Cut = std::vector<int>;  // first layers, as Partition::first_layer

inline bool allows(const PipelineProblem& problem, const Cut& cut) {
  for (std::size_t v = 0; v + 1 < cut.size(); ++v) {
    const auto range =
        v < problem.ranges.size() ? problem.ranges[v] : PipelineProblem::LayerRange{};
    if (!range.takes(cut[v + 1] - cut[v])) return false;
  }
  return true;
}

inline void for_each_cut(const PipelineProblem& problem,
                         const std::function<void(const Cut&)>& visit) {
  const auto layers = static_cast<int>(problem.chain.layers.size());
  const auto stages = static_cast<std::size_t>(problem.layout.virtual_stages());
  Cut cut{0};
  const std::function<void()> extend = [&] {
    if (cut.size() == stages) {
      cut.push_back(layers);
      if (cut[stages - 1] < layers && allows(problem, cut)) visit(cut);
      cut.pop_back();
      return;
    }
    for (int next = cut.back() + 1; next < layers; ++next) {
      cut.push_back(next);
      extend();
      cut.pop_back();
    }
  };
  extend();
}

// The least makespan of all ways to run the layers of a cut; nothing if none of them fits.
inline std::optional<Picoseconds> best_of_cut(const PipelineProblem& problem,
                                              const Timetable& table, const Cut& cut) {
  const auto& layers = problem.chain.layers;
  const auto stages = cut.size() - 1;
  std::vector<Stage> placed(stages);
  for (std::size_t v = 0; v < stages; ++v) {
    placed[v].times = exchanged(layers, cut[v], cut[v + 1]);
    if (v < problem.besides.size())
      for (const auto part : StageTimes::all()) placed[v].times.*part += problem.besides[v].*part;
    for (int i = cut[v]; i < cut[v + 1]; ++i)
      placed[v].fixed += layers[static_cast<std::size_t>(i)].fixed;
  }
  std::optional<Picoseconds> best;
  const std::function<void(std::size_t, std::size_t)> choose = [&](std::size_t layer,
                                                                   std::size_t v) {
    if (layer == layers.size()) {
      if (!fits(problem, placed)) return;
      std::vector<StageTimes> times;
      for (const auto& stage : placed) times.push_back(stage.times);
      const auto makespan = table.makespan(times);
      if (!best || makespan < *best) best = makespan;
      return;
    }
    if (static_cast<int>(layer) == cut[v + 1]) ++v;
    const auto before = placed[v];
    const bool last = static_cast<int>(layer) + 1 == cut[v + 1];
    for (int option = 0; option < static_cast<int>(layers[layer].options.size()); ++option) {
      placed[v].add(layers[layer].price(option, last));
      choose(layer + 1, v);
      placed[v] = before;
    }
  };
  choose(0, 0);
  return best;
}

inline std::optional<Picoseconds> best_of_all(const PipelineProblem& problem) {
  const Timetable table(problem.order, problem.layout, problem.microbatches, problem.latency,
                        problem.lane);
  std::optional<Picoseconds> best;
  for_each_cut(problem, [&](const Cut& cut) {
    const auto found = best_of_cut(problem, table, cut);
    if (found && (!best || *found < *best)) best = found;
  });
  return best;
}

inline DataLane random_lane(Draw& draw) {
  const auto when = [&] { return static_cast<DataLane::When>(draw(0, 2)); };
  DataLane lane{when(), draw(0, 1) == 0, when(), draw(0, 1) == 0};
  lane.message_contends = draw(0, 1) == 0;
  return lane;
}

// Gives a layer exchanges that take about as long as its passes.
inline void add_exchanges(Draw& draw, Layer& layer) {
  layer.reduction = draw(0, 20);
  layer.gathering = draw(0, 10);
  layer.update = draw(0, 5);
  layer.slowed_forward = layer.less_slowed_forward = draw(0, 2);
  layer.slowed_backward = layer.less_slowed_backward = draw(0, 2);
  layer.first_unit = draw(0, 6);
  layer.last_unit = draw(0, layer.reduction);
}

// Now and then gives a layer prices for the end of a stage: contention with a message, and other
// prices of its options.
inline void add_ends(Draw& draw, Layer& layer) {
  layer.message_contention = draw(0, 1) * draw(0, 3);
  layer.options_as_last.clear();
  if (draw(0, 1) == 0) return;
  layer.options_as_last = layer.options;
  for (auto& option : layer.options_as_last) {
    option.backward -= draw(0, std::min(layer.message_contention, option.backward));
    option.transient += draw(0, 1) * draw(0, 5);
  }
}

inline Chain random_exchanging_chain(Draw& draw, std::int64_t layers) {
  auto chain = random_chain(draw, layers, draw(1, 2));
  for (std::size_t i = 0; i < chain.layers.size(); ++i) {
    if (i > 0 && draw(0, 2) == 0)
      chain.layers[i] = chain.layers[i - 1];
    else
      add_exchanges(draw, chain.layers[i]), add_ends(draw, chain.layers[i]);
  }
  return chain;
}

// A problem with a schedule whose order is fixed or split, now and then with lanes, ranges of
// layers, times besides layers and little memory.
inline PipelineProblem random_exchanging_problem(Draw& draw, std::int64_t more_layers) {
  const auto schedule = random_schedule(draw);
  const auto stages =
      strategies::layout_of(schedule.schedule, schedule.stages, schedule.chunks).virtual_stages();
  const bool lanes = draw(0, 1) == 0;
  const auto layers = draw(stages, stages + more_layers);
  const auto chain =
      lanes ? random_exchanging_chain(draw, layers) : random_chain(draw, layers, draw(1, 2));
  auto problem =
      pipeline(chain, schedule, draw(0, 1) * draw(1, 6), draw(0, 2) == 0 ? 100000 : draw(15, 90));
  if (lanes) problem.lane = random_lane(draw);
  if (draw(0, 2) == 0)
    for (int v = 0; v < stages; ++v)
      problem.besides.push_back({draw(0, 3), draw(0, 3), draw(0, 3)});
  if (draw(0, 2) == 0)
    for (int v = 0; v < stages; ++v) {
      const auto least = static_cast<int>(draw(1, 2));
      problem.ranges.push_back({least, least + static_cast<int>(draw(0, 2))});
    }
  return problem;
}

}  // namespace pipelines
