// SPDX-License-Identifier: Apache-2.0
#include "search/layer_prices.hpp"

#include <algorithm>

#include "strategies/checkpoints.hpp"

namespace search {

using forecast::Scenario;
using strategies::Block;
using strategies::LeastTime;
using strategies::Module;
using strategies::Plan;
using strategies::Recompute;
using strategies::ScheduleKind;

namespace {

std::vector<Module> modules_of(const model::Transformer& model) {
  std::vector<Module> all{Module::core_attn, Module::layernorm, Module::mlp};
  if (model.latent) all.push_back(Module::mla_up_proj);
  if (model.moe) {
    all.push_back(Module::moe_act);
    all.push_back(Module::moe);
    if (model.moe->shared_experts > 0) all.push_back(Module::shared_experts);
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

std::vector<Recompute> ways_of(const model::Transformer& model) {
  const auto modules = modules_of(model);
  std::vector<Recompute> ways;
  for (std::size_t set = 0; set < std::size_t{1} << modules.size(); ++set) {
    Recompute way{set == 0 ? Recompute::Kind::none : Recompute::Kind::modules, 0, {}};
    for (std::size_t m = 0; m < modules.size(); ++m)
      if ((set >> m & 1) != 0) way.modules.push_back(modules[m]);
    const auto chosen = [&](Module module) {
      return std::ranges::find(way.modules, module) != way.modules.end();
    };
    // A module inside of another chosen one runs once.
    if (chosen(Module::moe) && (chosen(Module::moe_act) || chosen(Module::shared_experts)))
      continue;
    if (way.modules == std::vector{Module::core_attn}) way = {Recompute::Kind::selective, 0, {}};
    ways.push_back(std::move(way));
  }
  ways.push_back({Recompute::Kind::full, 0, {}});
  return ways;
}

namespace {

Block as_variant(Block block, const LayerVariant& way) {
  const bool layer = block.kind == Block::Kind::layer;
  if (layer || block.kind == Block::Kind::prediction)
    block.drop = strategies::drop_of(way.recompute, 0);
  if (layer) block.regrouped = way.regrouped;
  return block;
}

// A layer of a row behind its first, which is the one that calls the checkpoint.
Block behind_first(const Block& kind, const LayerVariant& way) {
  auto block = as_variant(kind, way);
  block.checkpoint = Block::inside;
  return block;
}

std::vector<LayerVariant> all_variants(const std::vector<Recompute>& recompute, const Plan& plan) {
  std::vector<LayerVariant> ways;
  for (const bool regrouped : {false, true})
    if (!regrouped || plan.layer_tensor)
      for (const auto& one : recompute) ways.push_back({one, regrouped});
  return ways;
}

void sum_up(LayerPrices& prices, std::int64_t layers) {
  prices.kinds.resize(prices.least_costs.size());
  for (std::size_t i = prices.elements.size(); i-- > 0;) {
    const auto& first = prices.least_costs[prices.elements[i]].front();
    prices.forward += first.forward;
    prices.backward += first.backward;
    prices.backward_input += first.backward_input;
    prices.backward_weight += first.backward_weight;
    prices.whole += first.parameters;
    prices.largest.with_layer = std::max(prices.largest.with_layer, first.parameters.with_layer);
    prices.largest.apart = std::max(prices.largest.apart, first.parameters.apart);
    auto& kind = prices.kinds[prices.elements[i]];
    kind.first = i;
    kind.count += 1;
    kind.layer = i >= 1 && i <= static_cast<std::size_t>(layers);
    const auto& held = first.parameters;
    const bool fewest = prices.least.all() == 0 || held.all() < prices.least.all();
    if (kind.layer && fewest) prices.least = held;
    if (const auto& regrouped = prices.regrouped[prices.elements[i]]) {
      prices.whole += regrouped->parameters;
      prices.largest.apart = std::max(prices.largest.apart, regrouped->parameters.apart);
    }
  }
}

void take_lesser_times(strategies::BlockLeastCosts& least,
                       const strategies::BlockLeastCosts& other) {
  using strategies::BlockLeastCosts;
  for (const auto pass : {&BlockLeastCosts::forward, &BlockLeastCosts::backward,
                          &BlockLeastCosts::backward_input, &BlockLeastCosts::backward_weight})
    for (const auto part :
         {&LeastTime::device, &LeastTime::host, &LeastTime::computing, &LeastTime::exchanging})
      least.*pass.*part = std::min(least.*pass.*part, other.*pass.*part);
  using Lead = BlockLeastCosts::Lead;
  for (const auto pass :
       {&Lead::forward, &Lead::backward, &Lead::backward_input, &Lead::backward_weight})
    least.lead.*pass = std::min(least.lead.*pass, other.lead.*pass);
  // A slowdown adds less time where a pass takes longer.
  least.sensitivity = {};
}

void take_lesser_memory(strategies::BlockLeastCosts& least,
                        const strategies::BlockLeastCosts& other) {
  using strategies::BlockLeastCosts;
  for (const auto part :
       {&BlockLeastCosts::kept, &BlockLeastCosts::forward_peak, &BlockLeastCosts::backward_peak,
        &BlockLeastCosts::input_peak, &BlockLeastCosts::recomputed})
    least.*part = std::min(least.*part, other.*part);
}

// The layers of a row share what the first of them keeps: each keeps the least in a whole row.
void share_kept(strategies::BlockLeastCosts& layer, const Recompute& way) {
  layer.kept /= way.every.front();
}

// The least costs of a layer that runs this way; `find` returns those of a block.
template <class Find>
strategies::BlockLeastCosts least_costs_of_layer(const Block& kind, const LayerVariant& way,
                                                 const Find& find) {
  strategies::BlockLeastCosts least = find(as_variant(kind, way));
  if (!strategies::in_rows(way.recompute)) return least;
  share_kept(least, way.recompute);
  take_lesser_times(least, find(behind_first(kind, way)));
  return least;
}

bool any_runs_rows(const std::vector<LayerVariant>& variants) {
  return std::ranges::any_of(
      variants, [](const LayerVariant& way) { return strategies::in_rows(way.recompute); });
}

}  // namespace

Plan on_one_stage(const Scenario& scenario, const Plan& plan) {
  auto whole = plan;
  whole.pipeline = whole.virtual_stages = 1;
  whole.data = scenario.cluster.gpus / (plan.tensor * plan.context);
  std::stable_partition(
      whole.rank_order.begin(), whole.rank_order.end(),
      [](strategies::Degree degree) { return degree != strategies::Degree::data; });
  whole.schedule = ScheduleKind::one_f_one_b;
  whole.layers_per_stage.clear();
  whole.recompute = {};
  whole.recompute_of_stage.clear();
  whole.layers.clear();
  return whole;
}

LayerPrices layer_prices(const Scenario& scenario, const Plan& plan,
                         const std::vector<Recompute>& recompute,
                         const std::vector<strategies::RankKind>& ranks,
                         const strategies::Costs& costs, bool sensitivities, Dense* dense) {
  const auto variants = all_variants(recompute, plan);
  Dense none;
  auto& known = dense != nullptr ? *dense : none;
  const auto find = [&](const Block& block) {
    return std::ranges::find(known, block, &Dense::value_type::first);
  };
  auto whole = on_one_stage(scenario, plan);
  LayerPrices prices{.variants = variants, .rows = any_runs_rows(variants)};
  std::vector<Block> kinds, all;
  const auto chain = strategies::blocks_of(scenario.model, scenario.training, whole).front();
  for (const auto& block : chain) {
    const auto found = std::ranges::find(kinds, block);
    prices.elements.push_back(static_cast<std::size_t>(found - kinds.begin()));
    if (found == kinds.end()) kinds.push_back(block);
  }
  const auto add = [&](const Block& block) {
    if (find(block) == known.end() && std::ranges::find(all, block) == all.end())
      all.push_back(block);
  };
  for (const auto& kind : kinds) {
    if (kind.kind == Block::Kind::prediction) add(kind);
    for (const auto& way : variants) {
      add(as_variant(kind, way));
      if (strategies::in_rows(way.recompute)) add(behind_first(kind, way));
    }
  }
  whole.schedule = plan.schedule;
  const strategies::Job job{scenario.model, scenario.training, whole, scenario.software,
                            scenario.cluster};
  const strategies::LeastCosts least_costs(job, ranks, costs, all, sensitivities);
  const auto least_costs_of = [&](const Block& block) {
    const auto found = find(block);
    return found == known.end() ? least_costs.of(block) : found->second;
  };
  for (const auto& kind : kinds) {
    auto& of_kind = prices.least_costs.emplace_back();
    const bool layer = kind.kind == Block::Kind::layer;
    const auto many = layer ? variants.size() : 1;
    for (std::size_t w = 0; w < many; ++w)
      of_kind.push_back(layer ? least_costs_of_layer(kind, variants[w], least_costs_of)
                              : least_costs_of(kind));
    // Prediction modules run as layers do that are all alike, or keep everything.
    if (kind.kind == Block::Kind::prediction)
      for (const auto& way : variants) {
        const auto block = as_variant(kind, way);
        if (block == kind) continue;
        const auto other = least_costs_of(block);
        take_lesser_times(of_kind.front(), other);
        take_lesser_memory(of_kind.front(), other);
      }
    auto& regrouped = prices.regrouped.emplace_back();
    if (layer && variants.back().regrouped) regrouped = of_kind.back();
  }
  for (const auto& block : all)
    if (!block.experts) known.emplace_back(block, least_costs.of(block));
  sum_up(prices, scenario.model.layers);
  prices.words =
      static_cast<double>(strategies::dense_extent_of(job.share()).vocab * job.model.hidden);
  return prices;
}

LayerPrices layer_prices(const Scenario& scenario, const Plan& plan,
                         const std::vector<Recompute>& ways, const strategies::Costs& costs) {
  return layer_prices(scenario, plan, ways, ranks_of(scenario, plan), costs);
}

// Groups that are spread over nodes have more NICs between them: where stages or replicas lie
// inside of them (Plan::rank_order), the kinds of ranks of every pipeline count.
std::vector<strategies::RankKind> ranks_of(const Scenario& scenario, const Plan& plan) {
  const auto& cluster = scenario.cluster;
  auto kinds = strategies::rank_kinds(on_one_stage(scenario, plan), cluster);
  const auto& order = plan.rank_order;
  if (order[3] == strategies::Degree::data && order[4] == strategies::Degree::pipeline)
    return kinds;
  const auto ranks = cluster.gpus / (plan.tensor * plan.context);
  for (std::int64_t p = 1; p <= std::min(ranks, scenario.model.layers + 2); ++p) {
    auto spread = on_one_stage(scenario, plan);
    spread.rank_order = order;
    spread.pipeline = p;
    spread.data = ranks / p;
    const auto experts = spread.expert * strategies::expert_tensor(spread);
    if (ranks % p != 0 || plan.tensor * plan.context * spread.data % experts != 0) continue;
    for (const auto& kind : strategies::rank_kinds(spread, cluster))
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

void keep_least_way(LayerPrices& prices) {
  for (auto& ways : prices.least_costs)
    for (const auto& way : ways) take_lesser_memory(ways.front(), way);
  keep_fastest_way(prices);
}

void keep_fastest_way(LayerPrices& prices) {
  if (prices.variants.size() == 1) return;
  for (auto& ways : prices.least_costs) {
    auto& first = ways.front();
    for (const auto& way : ways) take_lesser_times(first, way);
    ways.resize(1);
  }
  prices.variants.resize(1);
  prices.forward = prices.backward = prices.backward_input = prices.backward_weight = {};
  for (const auto kind : prices.elements) {
    const auto& each = prices.least_costs[kind].front();
    prices.forward += each.forward;
    prices.backward += each.backward;
    prices.backward_input += each.backward_input;
    prices.backward_weight += each.backward_weight;
  }
}

}  // namespace search
