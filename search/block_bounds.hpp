// SPDX-License-Identifier: Apache-2.0
// Lower bounds on the time of one block of a plan: its passes, and their delay beside the traffic
// between replicas.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "search/plan_bounds.hpp"

namespace search {

// Whether passes run two at a time, each under the other's exchanges.
bool runs_in_pairs(const PlanFacts& facts);
// Whether the host waits for the device before every pass.
bool host_waits(const PlanFacts& facts);
// Whether layers run again in rows.
bool runs_rows(const PlanFacts& facts);

// The price of a block's passes, with gradients as the schedule has them.
Price price_of(const PlanFacts& facts, const strategies::BlockLeastCosts& block);
// The least time of a pass of virtual stage v besides its blocks: if the host waits for the device
// before the pass, the device is idle while the first kernels are issued. O(kinds · ways)
struct Leads {
  sim::Picoseconds forward = 0, backward = 0, weight = 0;
};
Leads leads_of(const PlanFacts& facts, int v);
// The least, and the most, over all virtual stages.
Leads least_leads(const PlanFacts& facts);
Leads most_leads(const PlanFacts& facts);

// The price of a block, with its delay in every pass that communicates.
Price price_beside(const PlanBounds& bounds, const strategies::BlockLeastCosts& block);

// The delay of a block's passes beside communication with replicas.
struct PassDelay {
  sim::Picoseconds forward = 0, backward = 0;  // backward: or those of gradients of weights
};
// The delay if every pass communicates, else 0.
PassDelay slowed_always(const PlanBounds& bounds, const strategies::BlockLeastCosts& block);
// `reduced`, `gathered`: the parameters that are at least reduced and gathered meanwhile.
PassDelay slowed(const PlanBounds& bounds, const strategies::BlockLeastCosts& block,
                 const strategies::Parameters& reduced, const strategies::Parameters& gathered);

// The least number of blocks whose parameters travel together.
int unit_blocks(const PlanFacts& facts);
// Whether the gradients of each layer are reduced by themselves, in its last backward pass.
bool reduces_one_by_one(const PlanBounds& bounds);

// The least costs of an element of the model (LayerPrices::elements), by variant.
inline const std::vector<strategies::BlockLeastCosts>& least_costs_of(const PlanFacts& facts,
                                                                      std::size_t element) {
  return facts.prices.least_costs[facts.prices.elements[element]];
}
// An element's parameters as the plan holds them: the head may share the embedding's parameters, or
// need a copy of them.
strategies::Parameters parameters_of(const PlanFacts& facts, std::size_t element);
// The least that `take` gives for an element's parameters, grouped as the plan says or regrouped.
template <class Take>
auto least_of(const PlanFacts& facts, std::size_t element, const Take& take) {
  const auto& regrouped = facts.prices.regrouped[facts.prices.elements[element]];
  const auto usual = take(parameters_of(facts, element));
  return regrouped ? std::min(usual, take(regrouped->parameters)) : usual;
}
// The time to update `held` parameters, and to gather them after it.
sim::Picoseconds update_time(const PlanBounds& bounds, const strategies::Parameters& held);
// The time in which the first and the last stage sum the gradients of the word embedding's two
// copies.
sim::Picoseconds embedding_time(const PlanBounds& bounds);

// The least times of a block of a kind (LayerPrices::kinds) over all of its variants.
struct LeastPassTimes {
  double forward = 0, backward = 0, weight = 0, issued = 0;  // picoseconds of a microbatch
  double work() const { return forward + (backward + weight); }
};
LeastPassTimes pass_times(const PlanFacts& facts, std::size_t kind);
struct ReplicaTimes {
  double reduction = 0, update = 0;
  double sent = 0;  // time of traffic to and from replicas in a step
};
ReplicaTimes replica_times(const PlanBounds& bounds, std::size_t kind);

}  // namespace search
