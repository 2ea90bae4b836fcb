// SPDX-License-Identifier: Apache-2.0
// What one block of a plan takes at least: its passes, and what they take longer beside what
// replicas send to each other.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "search/plan_bounds.hpp"

namespace search {

// Whether passes run two at a time, each under what the other exchanges.
bool runs_in_pairs(const PlanFacts& facts);
// Whether the host waits for the device before every pass.
bool host_waits(const PlanFacts& facts);
// Whether layers run again in rows.
bool runs_rows(const PlanFacts& facts);

// Passes of a block, with gradients as the schedule has them.
Price price_of(const PlanFacts& facts, const strategies::BlockLeastCosts& block);
// What a pass of virtual stage v takes at least besides its blocks: where the host waits for the
// device before it, the device is idle while the first kernels are issued. O(kinds · ways)
struct Leads {
  sim::Picoseconds forward = 0, backward = 0, weight = 0;
};
Leads leads_of(const PlanFacts& facts, int v);
// The least and the most of all virtual stages.
Leads least_leads(const PlanFacts& facts);
Leads most_leads(const PlanFacts& facts);

// With what they take longer in every pass that communicates.
Price price_beside(const PlanBounds& bounds, const strategies::BlockLeastCosts& block);
// How long the host issues both passes of a microbatch.
sim::Picoseconds issue_time(const PlanFacts& facts, const strategies::BlockLeastCosts& block);

// What the passes of a block take longer beside communication with replicas.
struct Slowed {
  sim::Picoseconds forward = 0, backward = 0;  // backward: or those of gradients of weights
};
// Where that is so in every pass, else 0.
Slowed slowed_always(const PlanBounds& bounds, const strategies::BlockLeastCosts& block);
// `reduced`, `gathered`: what is sent meanwhile, at least.
Slowed slowed(const PlanBounds& bounds, const strategies::BlockLeastCosts& block,
              const strategies::Parameters& reduced, const strategies::Parameters& gathered);

// Blocks whose parameters travel together, at least.
int unit_blocks(const PlanFacts& facts);
// Whether the gradients of each layer are reduced by themselves, in its last backward pass.
bool reduces_one_by_one(const PlanBounds& bounds);

// What runs an element of the model (LayerPrices::elements), by way.
inline const std::vector<strategies::BlockLeastCosts>& least_costs_of(const PlanFacts& facts,
                                                                      std::size_t element) {
  return facts.prices.least_costs[facts.prices.elements[element]];
}
// As they are held: the head may share the embedding's parameters, or need a copy beside it.
strategies::Parameters parameters_of(const PlanFacts& facts, std::size_t element);
// Of what an element's parameters take, grouped as the plan says or regrouped, the least.
template <class Take>
auto least_of(const PlanFacts& facts, std::size_t element, const Take& take) {
  const auto& regrouped = facts.prices.regrouped[facts.prices.elements[element]];
  const auto usual = take(parameters_of(facts, element));
  return regrouped ? std::min(usual, take(*regrouped)) : usual;
}
// The update of so many parameters, and what gathers them after it.
sim::Picoseconds update_time(const PlanBounds& bounds, const strategies::Parameters& held);
// What sums the gradients of the word embedding's two copies, on the first and the last stage.
sim::Picoseconds embedding_time(const PlanBounds& bounds);

// What a block of a kind (LayerPrices::kinds) takes at the least that any of its ways does.
struct PassTimes {
  double forward = 0, backward = 0, weight = 0, issued = 0;  // picoseconds of a microbatch
  double work() const { return forward + (backward + weight); }
};
PassTimes pass_times(const PlanFacts& facts, std::size_t kind);
struct ReplicaTimes {
  double reduction = 0, update = 0;
  double sent = 0;  // to replicas and from them, in a step
};
ReplicaTimes replica_times(const PlanBounds& bounds, std::size_t kind);

}  // namespace search
