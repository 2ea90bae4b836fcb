// SPDX-License-Identifier: Apache-2.0
// A plan with its degrees chosen; the layers that sit on each stage and their recomputation are
// open. The facts about it are a constant value; functions of it are in the files of their subjects
// (block_bounds, least_time, least_memory, partition_problem, expert_contention).
#pragma once
#include <cstdint>
#include <vector>

#include "forecast/scenario.hpp"
#include "plans/duties.hpp"
#include "plans/holdings.hpp"
#include "search/layer_prices.hpp"
#include "search/solvers/pipeline_problem.hpp"
#include "strategies/replica_costs.hpp"

namespace search {

// Facts that follow from a plan's degrees and the prices of its layers, without the exchanges of
// replicas. They do not depend on its partition or recomputation. All arguments must outlive it.
struct PlanFacts {
  // `chunks_move`: layers of an interleaved pipeline may be cut unevenly.
  PlanFacts(const forecast::Scenario& scenario, const strategies::Plan& plan,
            const LayerPrices& prices, bool chunks_move = false);

  // The host's time for what the software profile says takes this long (Host::call_time).
  units::Seconds by_host(units::Seconds in_profile) const {
    return scenario.cluster.slowest_call_time() * in_profile;
  }

  const forecast::Scenario& scenario;
  const strategies::Plan& plan;
  const LayerPrices& prices;
  bool chunks_move;
  std::int64_t microbatches;
  bool graded;  // the schedule splits gradients: those of weights have passes of their own
  strategies::Layout layout;
  strategies::Placement placement;
  strategies::Shards shards;
  strategies::DataDuties duties;
};

// The same with the exchanges of replicas.
struct PlanBounds : PlanFacts {
  PlanBounds(PlanFacts facts, const strategies::ReplicaCosts& replicas);

  const strategies::ReplicaCosts& replicas;
  DataLane lane;  // traffic to replicas beside a device's passes; nothing if steps overlap
};

// Whether only one partition is looked at: the given one, or the even one if the order of passes
// follows from their times, stages mirror each other, or devices hold several chunks, unless they
// move.
bool is_cut(const PlanFacts& facts);
// The one partition that is looked at, as Partition::first_layer.
std::vector<int> cut_of(const PlanFacts& facts);

// The plan with this partition written into it, and with the recomputation of the partition's ways,
// unless the plan keeps its own.
strategies::Plan plan_with(const PlanFacts& facts, const Partition& partition, bool recompute);

}  // namespace search
