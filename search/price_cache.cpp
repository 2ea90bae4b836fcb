// SPDX-License-Identifier: Apache-2.0
#include "search/price_cache.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>

#include "model/narrow.hpp"
#include "search/solvers/timetable.hpp"
#include "strategies/checkpoints.hpp"
#include "strategies/remembering.hpp"

namespace search {

using strategies::Plan;
using strategies::Recompute;

namespace {

// Whether recomputation is counted in layers of a rank, or told stage by stage or layer by layer.
bool is_told_by_layer(const Plan& plan) {
  return plan.recompute.kind == Recompute::Kind::full_layers || !plan.recompute_of_stage.empty() ||
         !plan.layers.empty();
}

}  // namespace

std::vector<Recompute> ways_of(const forecast::Scenario& scenario, const Space& space) {
  if (space.recompute) {
    if (!space.recompute_ways.empty()) return space.recompute_ways;
    auto all = ways_of(scenario.model);
    all.insert(all.end(), space.further_ways.begin(), space.further_ways.end());
    return all;
  }
  const auto& plan = scenario.plan;
  if (!is_told_by_layer(plan)) return {plan.recompute};
  std::vector<Recompute> all{{}};
  const auto add = [&](Recompute one) {
    if (one.kind == Recompute::Kind::full_layers) one = {Recompute::Kind::full, 0, {}, one.every};
    if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
  };
  if (plan.recompute_of_stage.empty()) add(plan.recompute);
  for (const auto& one : plan.recompute_of_stage) add(one);
  for (const auto& layers : plan.layers)
    if (layers.recompute) add(*layers.recompute);
  return all;
}

namespace {

// All that the price of layers without experts depends on, of divisions and the ranks that they
// have.
using Sort =
    std::tuple<std::int64_t, bool, std::int64_t, std::int64_t, std::int64_t,
               std::vector<std::tuple<std::size_t, topology::GroupShape, topology::GroupShape>>>;
Sort sort_of(const Plan& plan, const std::vector<strategies::RankKind>& ranks) {
  Sort sort{plan.tensor,      plan.sequence_parallel,        plan.context,
            plan.micro_batch, plan.layer_tensor.value_or(0), {}};
  auto& groups = std::get<5>(sort);
  for (const auto& rank : ranks) groups.emplace_back(rank.gpu, rank.tensor, rank.context);
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return sort;
}

bool grouped_alike(const Plan& a, const Plan& b) {
  return a.tensor == b.tensor && a.context == b.context && a.expert == b.expert &&
         a.expert_tensor == b.expert_tensor && a.layer_tensor == b.layer_tensor;
}

}  // namespace

PriceCache::PriceCache(const forecast::Scenario& scenario, const Space& space,
                       const strategies::Costs& costs)
    : scenario_(scenario),
      costs_(costs),
      ways_(ways_of(scenario, space)),
      told_by_layer_(!space.recompute && is_told_by_layer(scenario.plan)),
      schedules_(space.schedules) {
  for_each_division(scenario, space, [&](const Plan& plan) {
    all_.push_back(std::make_unique<Division>());
    all_.back()->plan = plan;
  });
}

bool PriceCache::allow_fastest() const {
  return ways_.size() == 1 || std::ranges::find(ways_, Recompute{}) != ways_.end();
}

bool PriceCache::only_keeps() const {
  const auto& plan = scenario_.plan;
  return !plan.offload.activations &&
         plan.activation_compression == strategies::ActivationCompression::none;
}

bool PriceCache::keeping_is_free() const {
  return only_keeps() && std::ranges::none_of(ways_, strategies::in_rows);
}

std::vector<Recompute> PriceCache::fastest_ways() const {
  if (!only_keeps() || ways_.size() == 1) return ways_;
  std::vector<Recompute> ways{{}};
  std::ranges::copy_if(ways_, std::back_inserter(ways), strategies::in_rows);
  return ways;
}

void PriceCache::price(std::span<const std::size_t> divisions) {
  const auto costs = strategies::remembering(costs_);
  const auto ways = fastest_ways();
  const Plan* last = nullptr;
  std::vector<strategies::RankKind> ranks;
  std::map<Sort, Dense> dense;
  for (const auto i : divisions) {
    auto& division = *all_[i];
    const strategies::Job job{scenario_.model, scenario_.training, division.plan,
                              scenario_.software, scenario_.cluster};
    const auto extent = strategies::dense_extent_of(job.share());
    // Logits in the precision of activations, in which they are made at once, or part by part.
    const auto parts = model::loss_parts(scenario_.model, extent, scenario_.software.kernels);
    const double logits = static_cast<double>(parts.tokens * extent.vocab) *
                          model::wide_bytes(scenario_.training.precision);
    double memory = 0;
    for (std::size_t kind = 0; kind < scenario_.cluster.kinds(); ++kind)
      memory = std::max(memory, scenario_.cluster.kind(kind).device.memory.value);
    if (logits > memory) continue;
    if (last == nullptr || !grouped_alike(*last, division.plan))
      ranks = ranks_of(scenario_, division.plan);
    last = &division.plan;
    division.fastest =
        std::make_unique<LayerPrices>(layer_prices(scenario_, division.plan, ways, ranks, costs,
                                                   false, &dense[sort_of(division.plan, ranks)]));
    keep_fastest_way(*division.fastest);
  }
}

// Whether passes run beside each other under some schedule of the space.
bool PriceCache::hides_exchanges(const Plan& plan) const {
  auto simple = plan;
  simple.schedule = strategies::ScheduleKind::one_f_one_b;
  return schedules_.empty() ||
         strategies::pairs_passes(scenario_.model, simple, scenario_.software) ||
         std::ranges::any_of(schedules_, strategies::pairs_always);
}

sim::Picoseconds PriceCache::least_time(std::size_t i) const {
  if (!fits(i)) return 0;
  const auto& prices = fastest(i);
  const auto of = [&](auto part) {
    return static_cast<double>(prices.forward.*part) +
           std::min(
               static_cast<double>(prices.backward.*part),
               static_cast<double>(prices.backward_input.*part + prices.backward_weight.*part));
  };
  const auto& plan = all_[i]->plan;
  const double passes =
      static_cast<double>(scenario_.training.global_batch * plan.tensor * plan.context) /
      static_cast<double>(plan.micro_batch * scenario_.cluster.gpus);
  using strategies::LeastTime;
  const double time = hides_exchanges(plan)
                          ? std::max(of(&LeastTime::computing), of(&LeastTime::exchanging))
                          : of(&LeastTime::device);
  // Some schedules issue the first kernel before the time that counts as the step.
  const auto& software = scenario_.software;
  const double before = software.post_validation
                            ? static_cast<double>(ticks(costs_.by_host(software.launch_forward)))
                            : 0;
  const double least = std::max(passes * time, passes * of(&LeastTime::host) - before);
  return whole_bound(least * (1 - 1e-9));
}

const LayerPrices& PriceCache::all_variants(std::size_t i) {
  auto& division = *all_[i];
  const std::lock_guard lock(division.mutex);
  if (!division.all) {
    division.all = std::make_unique<LayerPrices>(
        layer_prices(scenario_, division.plan, ways_, strategies::remembering(costs_)));
    if (told_by_layer_ && !division.plan.layer_tensor) keep_least_way(*division.all);
  }
  return *division.all;
}

struct PriceCache::Division::Passes {
  Passes(const forecast::Scenario& scenario, const Plan& division, const strategies::Costs& costs)
      : plan(on_one_stage(scenario, division)),
        chain(strategies::blocks_of(scenario.model, scenario.training, plan).front()),
        times({scenario.model, scenario.training, plan, scenario.software, scenario.cluster},
              ranks_of(scenario, division), costs, chain) {}
  Plan plan;
  strategies::Segment chain;
  strategies::PassCosts times;
};

void PriceCache::with_passes(
    std::size_t i,
    const std::function<void(const strategies::Segment&, strategies::PassCosts&)>& use) {
  auto& division = *all_[i];
  const std::lock_guard lock(division.mutex);
  if (!division.passes)
    division.passes = std::make_shared<Division::Passes>(scenario_, division.plan,
                                                         strategies::remembering(costs_));
  use(division.passes->chain, division.passes->times);
}

const strategies::ReplicaCosts& PriceCache::replica_costs(std::size_t i, const Plan& plan) {
  const bool mirrored = strategies::copies_of(plan) > 1;
  const ReplicaKey key{
      plan.tensor,         plan.context, plan.pipeline, plan.expert,
      expert_tensor(plan), plan.zero,    mirrored,      plan.layer_tensor.value_or(0)};
  {
    const std::lock_guard lock(replica_costs_mutex_);
    if (const auto found = replica_costs_.find(key); found != replica_costs_.end())
      return *found->second;
  }
  const auto& prices = fastest(i);
  auto made = std::make_unique<strategies::ReplicaCosts>(
      strategies::Job{scenario_.model, scenario_.training, plan, scenario_.software,
                      scenario_.cluster},
      costs_, prices.whole, prices.largest);
  const std::lock_guard lock(replica_costs_mutex_);
  return *replica_costs_.try_emplace(key, std::move(made)).first->second;
}

}  // namespace search
