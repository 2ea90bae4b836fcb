// SPDX-License-Identifier: Apache-2.0
// Prices that plans share: of layers by their division, and of the exchanges of replicas.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "search/layer_prices.hpp"
#include "search/space.hpp"
#include "strategies/pass_costs.hpp"
#include "strategies/replica_costs.hpp"

namespace search {

// The ways in which the layers of a question's plans may run. Where they are not searched: the
// scenario's own, and none besides if layers differ.
std::vector<strategies::Recompute> ways_of(const forecast::Scenario& scenario, const Space& space);

// Choices of the degrees that decide what a layer costs. Prices are made when asked for, once;
// asking from several threads is safe.
class PriceCache {
 public:
  PriceCache(const forecast::Scenario& scenario, const Space& space,
             const strategies::Costs& costs);

  std::size_t size() const { return all_.size(); }
  const strategies::Plan& plan(std::size_t i) const { return all_[i]->plan; }
  // Prices divisions in the fastest way, mostly without recomputation: together takes less time
  // than one by one.
  void price(std::span<const std::size_t> divisions);
  void forget(std::size_t i) { all_[i]->fastest.reset(); }
  // A lower bound on the step time of the division's plans: the passes that an average device runs.
  // 0 if the division is not priced, because its logits alone exceed the memory of a device.
  sim::Picoseconds least_time(std::size_t i) const;
  bool fits(std::size_t i) const { return all_[i]->fastest != nullptr; }
  // Prices in the fastest way: in the only one if there is one, else mostly without recomputation,
  // whether that is allowed or not; and in all ways.
  const LayerPrices& fastest(std::size_t i) const { return *all_[i]->fastest; }
  const LayerPrices& all_variants(std::size_t i);
  bool allow_fastest() const;
  bool fastest_recomputes_nothing() const {
    return ways_.size() > 1 || ways_.front() == strategies::Recompute{};
  }
  // Calls `use` with the model's blocks and the times of their passes, nothing recomputed.
  void with_passes(
      std::size_t i,
      const std::function<void(const strategies::Segment&, strategies::PassCosts&)>& use);
  // Whether keeping more is never slower: no kept tensor is compressed or copied, and no layers run
  // again in rows, which ZeRO gathers and reduces together.
  bool keeping_is_free() const;
  // Whether keeping more is never slower for the plans of a division, where no layer can be
  // regrouped instead either.
  bool keeping_is_fastest(std::size_t i) const {
    return keeping_is_free() && !all_[i]->plan.layer_tensor;
  }
  // The costs of a plan of division i.
  const strategies::ReplicaCosts& replica_costs(std::size_t i, const strategies::Plan& plan);

 private:
  // No kept tensor is compressed or copied.
  bool only_keeps() const;
  // The ways of which the fastest bounds all: to recompute nothing, whether that is allowed or not,
  // and rows of layers; all ways if kept tensors are not only kept.
  std::vector<strategies::Recompute> fastest_ways() const;
  bool hides_exchanges(const strategies::Plan& plan) const;
  struct Division {
    strategies::Plan plan;
    std::mutex mutex;
    std::unique_ptr<LayerPrices> fastest, all;
    struct Passes;
    std::shared_ptr<Passes> passes;
  };
  // tensor, context, pipeline, expert, expert_tensor, zero, mirrored, layer_tensor
  using ReplicaKey = std::array<std::int64_t, 8>;
  const forecast::Scenario& scenario_;
  const strategies::Costs& costs_;
  std::vector<strategies::Recompute> ways_;
  bool told_by_layer_;                               // which layer runs in which of them is given
  std::vector<strategies::ScheduleKind> schedules_;  // none: all
  std::vector<std::unique_ptr<Division>> all_;
  std::mutex replica_costs_mutex_;
  std::map<ReplicaKey, std::unique_ptr<strategies::ReplicaCosts>> replica_costs_;
};

}  // namespace search
