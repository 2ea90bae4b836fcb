// SPDX-License-Identifier: Apache-2.0
// The slow and obvious way to solve whole problems: every plan of the space is simulated.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forecast/costs.hpp"
#include "forecast/forecast.hpp"
#include "plans/partition.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "plans/words.hpp"
#include "search/evaluator.hpp"
#include "search/price_cache.hpp"
#include "search/search.hpp"
#include "strategies/checkpoints.hpp"

namespace whole {

using namespace search;
using strategies::Plan;
using strategies::Recompute;
using strategies::ScheduleKind;

// The choice of degrees of a plan, which is the plan without its partition and its recomputation.
inline Plan degrees_of(Plan plan) {
  plan.layers_per_stage.clear();
  plan.recompute = {};
  plan.recompute_of_stage.clear();
  plan.layers.clear();
  return plan;
}

inline std::string name_of(const Plan& plan) {
  static constexpr const char* schedules[] = {"gpipe", "1f1b",   "interleaved", "zb-h1",    "zb-h2",
                                              "zb-v",  "v-half", "v-min",       "dualpipe", "dv"};
  const auto list = [](const auto& values, const auto& text) {
    std::string all;
    for (const auto& value : values) all += (all.empty() ? "" : ",") + text(value);
    return all;
  };
  const auto way = [&](const Recompute& recompute) {
    auto text = std::to_string(static_cast<int>(recompute.kind));
    for (const auto module : recompute.modules)
      text += '.' + std::to_string(static_cast<int>(module));
    return text;
  };
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  return "t" + number(plan.tensor) + (plan.sequence_parallel ? "s" : "") + " c" +
         number(plan.context) + " e" + number(plan.expert) + " et" +
         number(strategies::expert_tensor(plan)) + " p" + number(plan.pipeline) + " d" +
         number(plan.data) + " b" + number(plan.micro_batch) + " zero" + number(plan.zero) + ' ' +
         schedules[static_cast<int>(plan.schedule)] + " v" + number(plan.virtual_stages) +
         (plan.shard_group == strategies::ShardGroup::all
              ? ""
              : " shards " + strategies::to_text(plan.shard_group)) +
         (plan.offload == strategies::Offload{} ? "" : " offload ") +
         (plan.offload.optimizer != strategies::Offload::Tier::none ? "o" : "") +
         (plan.offload.activations ? "a" : "") +
         (plan.gradient_compression == strategies::GradientCompression::none ? "" : " gradients8") +
         (plan.activation_compression == strategies::ActivationCompression::none ? "" : " kept8") +
         " layers[" + list(plan.layers_per_stage, number) + "] recompute " + way(plan.recompute) +
         " [" +
         list(plan.layers,
              [&](const strategies::LayerStrategy& some) {
                return number(some.from) + '-' + number(some.to) + ':' +
                       (some.recompute ? way(*some.recompute) : "") +
                       (some.tensor ? "t" + number(*some.tensor) : "");
              }) +
         ']';
}

// Whether an interleaved pipeline that is not cut evenly may have these layers on its virtual
// stages. It may if all stages are equal, where the embedding counts as a layer of the first; or if
// every rank has equal chunks, and all ranks between the first and the last are equal; or, if
// `chunks`, no stage is two layers longer than another.
inline bool interleaves(const std::vector<std::int64_t>& cut, const Plan& plan, bool chunks) {
  const auto ranks = static_cast<std::size_t>(plan.pipeline);
  const auto equal = [](const std::vector<std::int64_t>& layers) {
    return std::ranges::count(layers, layers.front()) == std::ssize(layers);
  };
  auto counted = cut;
  ++counted.front();
  if (equal(counted)) return true;
  const auto [least, most] = std::ranges::minmax(cut);
  if (chunks && most - least <= 1) return true;
  std::vector<std::int64_t> between;
  for (std::size_t v = 0; v < cut.size(); ++v) {
    if (cut[v] == 0 || cut[v] != cut[v % ranks]) return false;
    if (v > 0 && v + 1 < ranks) between.push_back(cut[v]);
  }
  return between.empty() || equal(between);
}

// Every cut that the space has of so many layers into virtual stages, as layers of each.
inline std::vector<std::vector<std::int64_t>> partitions_of(const Plan& plan, std::int64_t layers,
                                                            const Space& space) {
  const auto even = strategies::layers_per_virtual_stage(plan, layers);
  using enum ScheduleKind;
  const bool free = plan.schedule == gpipe || plan.schedule == one_f_one_b;
  const bool moves = free || plan.schedule == interleaved;
  if (!space.partition || plan.pipeline == 1 || !moves) return {even};
  const auto stages = even.size();
  std::vector<std::vector<std::int64_t>> all;
  std::vector<std::int64_t> chosen;
  const std::function<void(std::int64_t)> place = [&](std::int64_t left) {
    const auto v = chosen.size();
    if (v == stages) {
      if (left == 0 && (free || chosen == even || interleaves(chosen, plan, space.chunks)))
        all.push_back(chosen);
      return;
    }
    // The embedding and the head can fill a stage on their own.
    const bool end = v == 0 || v + 1 == stages;
    for (std::int64_t n = end ? 0 : 1; n <= left; ++n) {
      chosen.push_back(n);
      place(left - n);
      chosen.pop_back();
    }
  };
  place(layers);
  return all;
}

// Visits every choice of a way for each layer of a model so cut. Layers of a virtual stage that are
// alike in all but their place are interchangeable, unless ways run in rows: those that keep least
// come first.
class WaysOfLayers {
 public:
  WaysOfLayers(const LayerPrices& prices, const std::vector<std::int64_t>& cut) {
    const bool rows =
        std::ranges::any_of(prices.variants, strategies::in_rows, &LayerVariant::recompute);
    std::size_t layer = 0;
    for (const auto many : cut) {
      std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> alike;  // by kind
      for (std::int64_t i = 0; i < many; ++i, ++layer)
        alike[{prices.elements[1 + layer], rows ? layer : 0}].push_back(layer);
      for (const auto& [kind_and_layer, members] : alike) {
        const auto kind = kind_and_layer.first;
        const auto& least_costs = prices.least_costs[kind];
        std::vector<std::size_t> order;
        for (std::size_t w = 0; w < prices.variants.size(); ++w) order.push_back(w);
        std::ranges::stable_sort(order, {}, [&](std::size_t w) {
          return std::pair(prices.variants[w].regrouped, least_costs[w].kept);
        });
        groups_.push_back({members, order});
      }
    }
    layers_ = layer;
  }

  void for_each(const std::function<void(const std::vector<std::size_t>&)>& visit) const {
    std::vector<std::size_t> way(layers_);
    choose(way, 0, 0, 0, visit);
  }

 private:
  struct Group {
    std::vector<std::size_t> layers, order;  // order: ways, those that keep least first
  };
  // Chooses ways for the members of group `g` from `m` on, none before `least`, and for later
  // groups.
  void choose(std::vector<std::size_t>& way, std::size_t g, std::size_t m, std::size_t least,
              const std::function<void(const std::vector<std::size_t>&)>& visit) const {
    if (g == groups_.size()) return visit(way);
    const auto& group = groups_[g];
    if (m == group.layers.size()) return choose(way, g + 1, 0, 0, visit);
    for (auto w = least; w < group.order.size(); ++w) {
      way[group.layers[m]] = group.order[w];
      choose(way, g, m + 1, w, visit);
    }
  }
  std::vector<Group> groups_;
  std::size_t layers_ = 0;
};

inline Plan in_ways(Plan plan, const std::vector<LayerVariant>& ways,
                    const std::vector<std::size_t>& way_of_layer) {
  plan.layers.clear();
  plan.recompute_of_stage.clear();
  const auto tensor = std::exchange(plan.layer_tensor, {});
  const auto& first = ways[way_of_layer.front()].recompute;
  const bool alike =
      std::ranges::all_of(way_of_layer, [&](auto way) { return ways[way].recompute == first; });
  plan.recompute = alike ? first : Recompute{};
  for (std::size_t i = 0; i < way_of_layer.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    const auto& [recompute, regrouped] = ways[way_of_layer[i]];
    strategies::LayerStrategy own{layer, layer};
    if (!alike && recompute != Recompute{}) own.recompute = recompute;
    if (regrouped) plan.layer_tensor = own.tensor = tensor;
    if (!own.recompute && !own.tensor) continue;
    // A layer in the same way extends the row before it.
    auto& all = plan.layers;
    const bool on = !all.empty() && all.back().to == layer - 1 &&
                    all.back().recompute == own.recompute && all.back().tensor == own.tensor;
    if (on)
      all.back().to = layer;
    else
      all.push_back(own);
  }
  return plan;
}

// The bytes that the fullest device needs: its peak if a share must stay free (`headroom`), else
// its allocated bytes with those of communication and the framework.
inline double needed(const forecast::Forecast& forecast, double headroom) {
  double most = 0;
  for (const auto& stage : forecast.memory.stages)
    most = std::max(most, headroom > 0 ? stage.peak.value : stage.needed().value);
  return most;
}

// Where something stays free, no allocation may fail either.
inline bool fits(const forecast::Forecast& forecast, double headroom) {
  return forecast.memory.host_fits && (headroom <= 0 || forecast.memory.fits) &&
         needed(forecast, headroom) <= (1 - headroom) * forecast.memory.capacity.value;
}

inline void for_each_partition(const Question& question,
                               const std::function<void(const Plan&)>& visit) {
  const auto layers = question.scenario.model.layers;
  for_each_plan(question.scenario, question.space, [&](Plan plan) {
    for (const auto& cut : partitions_of(plan, layers, question.space)) {
      plan.layers_per_stage = cut;
      visit(plan);
    }
  });
}

// Visits every plan of one choice of degrees and partition, the plan that recomputes nothing first.
// For that plan `visit` returns whether others are of interest: recomputing less is never slower.
inline void for_each_choice(const Question& question, const Plan& plan, const LayerPrices& prices,
                            const std::function<bool(const Plan&)>& visit) {
  if (!question.space.recompute && !plan.layer_tensor) {
    visit(plan);
    return;
  }
  const auto& ways = prices.variants;
  const auto none = std::ranges::find(ways, LayerVariant{});
  const std::vector<std::size_t> nothing(prices.elements.size() - 2,
                                         static_cast<std::size_t>(none - ways.begin()));
  const bool only = none != ways.end() && !visit(in_ways(plan, ways, nothing));
  if (only && !plan.layer_tensor) return;
  WaysOfLayers(prices, plan.layers_per_stage).for_each([&](const auto& way) {
    if (way != nothing) visit(in_ways(plan, ways, way));
  });
}

struct Best {
  Picoseconds time = 0;
  Plan plan;
};

// The result of an exhaustive simulation.
struct Truth {
  std::optional<Best> best;  // nothing if no plan fits
  struct Of {
    Plan degrees;
    std::optional<Best> best;
    Best fastest;  // whether it fits or not
  };
  std::vector<Of> degrees;  // in the order of the space
  std::int64_t simulations = 0;
};

inline Truth truth_of(const Question& question) {
  const auto costs = forecast::costs_on(question.scenario.cluster);
  const auto ways = ways_of(question.scenario, question.space);
  Truth truth;
  auto scenario = question.scenario;
  LayerPrices prices;
  // A kept tensor may take longer to copy or to compress than to compute again, and rows of layers
  // exchange together.
  const bool keeping_is_free =
      !scenario.plan.offload.activations && std::ranges::none_of(ways, strategies::in_rows) &&
      scenario.plan.activation_compression == strategies::ActivationCompression::none;
  for_each_partition(question, [&](const Plan& plan) {
    if (truth.degrees.empty() || truth.degrees.back().degrees != degrees_of(plan)) {
      prices = layer_prices(question.scenario, plan, ways, costs);
      truth.degrees.push_back({degrees_of(plan), std::nullopt, {}});
    }
    auto& here = truth.degrees.back();
    for_each_choice(question, plan, prices, [&](const Plan& whole) {
      scenario.plan = whole;
      const auto forecast = forecast::simulate(scenario);
      ++truth.simulations;
      const auto time = ticks(forecast.step.time);
      if (here.fastest.time == 0 || time < here.fastest.time) here.fastest = {time, whole};
      if (!fits(forecast, question.memory_headroom)) return true;
      if (!here.best || time < here.best->time) here.best = Best{time, whole};
      if (!truth.best || time < truth.best->time) truth.best = here.best;
      return !keeping_is_free;
    });
  });
  return truth;
}

// A target above the time of any plan: a look ends when its bound comes no closer.
constexpr auto unreachable = std::numeric_limits<Picoseconds>::max() / 8;

inline Degrees degrees_in(std::size_t division, const Plan& plan) {
  return {static_cast<std::uint32_t>(division), static_cast<std::int32_t>(plan.pipeline),
          static_cast<std::int16_t>(plan.virtual_stages), static_cast<std::int8_t>(plan.zero),
          plan.schedule};
}

// Visits every choice of degrees, in the order of the space, without simulation: its plan, its
// bounds before partitions are looked at, and its look after.
inline void for_each_look(
    const Question& question,
    const std::function<void(const Plan&, const PlanBounds&, const Look&)>& visit) {
  const auto costs = forecast::costs_on(question.scenario.cluster);
  PriceCache cache(question.scenario, question.space, costs);
  const Evaluator evaluator(question, costs, cache);
  for (std::size_t i = 0; i < cache.size(); ++i) {
    cache.price(std::vector{i});
    for_each_step(question.scenario, question.space, cache.plan(i), [&](const Plan& plan) {
      const PlanBounds bounds({question.scenario, plan, cache.fastest(i), question.space.chunks},
                              cache.replica_costs(i, plan));
      visit(plan, bounds, evaluator.look(degrees_in(i, plan), unreachable));
    });
  }
}

// The most simulations that the question takes; stops counting beyond `enough`.
inline std::int64_t simulations_of(const Question& question, std::int64_t enough) {
  const auto ways = ways_of(question.scenario, question.space);
  const auto many = std::ssize(ways);
  const bool rows = std::ranges::any_of(ways, strategies::in_rows);
  std::int64_t all = 0;
  // The choices of ways are combinations with repetition, as if all layers were of one kind; if
  // ways run in rows, all sequences.
  const auto choices = [&](std::int64_t layers) {
    std::int64_t product = 1;
    if (rows)
      for (std::int64_t i = 0; i < layers; ++i) product *= many;
    else
      for (std::int64_t i = 1; i < many; ++i) product = product * (layers + i) / i;
    return product;
  };
  for_each_partition(question, [&](const Plan& plan) {
    if (all > enough) return;
    std::int64_t product = 1;
    for (const auto layers : plan.layers_per_stage) product *= choices(layers);
    all += product;
  });
  return all;
}

}  // namespace whole
