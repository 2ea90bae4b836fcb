// SPDX-License-Identifier: Apache-2.0
// The traffic between ranks that hold the same parameters.
#pragma once
#include "plans/holdings.hpp"
#include "strategies/costs.hpp"
#include "strategies/job.hpp"
#include "strategies/routes.hpp"

namespace strategies {

// Ranks that hold the same parameters, and whether they hold the routed experts or everything else.
struct Sharers {
  topology::GroupShape shape;
  FlowKind ring = FlowKind::ring;
};

class DataTraffic {
 public:
  // `shards`: of the job's plan. Job and costs must outlive it.
  DataTraffic(const Job& job, const Costs& costs, const Shards& shards)
      : job_(job), costs_(costs), shards_(shards) {}

  // Bytes of one parameter's gradient as it is summed, as it travels, and of one parameter.
  double gradient_bytes() const;
  double wire_bytes() const;
  double parameter_bytes() const;

  // The reduction of gradients and the gathering of parameters: one bucket on an idle network.
  topology::Sending reduction(const Sharers& sharers, const Shared& what) const;
  topology::Sending gathering(const Sharers& sharers, const Shared& what) const;
  // The number of sharers over which states are divided.
  int shards_of(const Sharers& sharers) const;
  // Whether the sharers fall into several shard groups, each with a copy.
  bool keeps_copies(const Sharers& sharers) const;
  // The flow that a reduction or a gathering is. Of a reduction inside shard groups and across
  // them, it is the part that leaves nodes with more bytes; the other takes its time alone.
  FlowKind flow_of(const Sharers& sharers, bool gathers) const;

 private:
  bool sums_everywhere() const {  // every sharer gets the sum of all gradients
    return job_.plan.zero == 0 || (job_.plan.zero == 1 && job_.software.all_reduce_gradients);
  }
  bool fills_nodes(const Sharers& sharers) const {  // a shard group
    return shards_of(sharers) > sharers.shape.least_per_node;
  }
  topology::Sending to_parts(units::Bytes size, std::int64_t tensors,
                             const topology::GroupShape& group) const;
  topology::Sending from_parts(units::Bytes size, std::int64_t tensors,
                               const topology::GroupShape& group) const;
  topology::Sending by_owners(topology::Collective kind, units::Bytes size, std::int64_t tensors,
                              const topology::GroupShape& group) const;
  const Job& job_;
  const Costs& costs_;
  Shards shards_;
};

}  // namespace strategies
