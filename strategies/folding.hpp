// SPDX-License-Identifier: Apache-2.0
// Ranks, messages, groups and links that cannot be told apart are simulated once.
//
// Colour refinement over ranks, flows (messages and groups) and the ports that these cross.
// Ranks are alike that are on the same stage and the same sort of device, and whose groups,
// neighbours, flows and ports are alike in turn. The classes are equitable: a port of one class is
// crossed by as many flows of another as every other port of it is. So the max-min fair rates of
// representatives are those of all, and what one actor does is exactly what each of its ranks does.
#pragma once
#include <cstdint>
#include <vector>

#include "plans/placement.hpp"
#include "sim/program.hpp"
#include "strategies/routes.hpp"
#include "strategies/sample.hpp"

namespace strategies {

enum class Ranks { folded, full };

// Ports that cannot be told apart: one link of a program.
struct LinkClass {
  topology::Port port;     // the first of them that is looked at
  std::int64_t alike = 1;  // in the whole cluster
  double capacity = 0;     // bytes/s, each way
};

class Colours;

class Folding {
 public:
  // `shards`: ranks of a shard group (ranks_of_shard_group).
  // Throws std::invalid_argument where failed links cut GPUs off.
  Folding(const Placement& placement, const topology::Cluster& cluster, std::int64_t shards,
          Ranks ranks);
  Folding(const Folding&) = delete;  // its routes refer to it
  Folding& operator=(const Folding&) = delete;

  std::uint32_t actor_of(std::int64_t rank) const { return actor_of_[routes_.index_of(rank)]; }
  // The ranks looked at, ascending: every actor has one among them.
  const std::vector<std::int64_t>& ranks() const { return ranks_; }
  const std::vector<std::int64_t>& representative() const { return representative_; }  // lowest
  const std::vector<std::int64_t>& multiplicity() const { return multiplicity_; }
  const std::vector<std::int64_t>& replicas() const { return sample_.replicas; }  // looked at
  topology::GroupShape data_shape(FlowKind ring, std::int64_t rank) const {
    return routes_.data_shape(ring, rank);
  }
  // The ranks looked at that share what `rank` holds apart.
  std::vector<std::int64_t> apart_sharers(std::int64_t rank) const {
    return routes_.sharers_looked_at(FlowKind::expert_ring, rank);
  }

  const std::vector<LinkClass>& links() const { return links_; }
  const topology::Ports& ports() const { return ports_; }
  // The links that the flow of a rank looked at crosses; none where it has no such flow.
  const std::vector<sim::Traffic::Use>& uses(FlowKind kind, std::int64_t rank) const;
  // Routes::fan_out of a rank's flow, 1 where it has none.
  std::uint32_t fan_out(FlowKind kind, std::int64_t rank) const;
  // Bytes/s that the tensor-parallel group of a rank looked at gets through each of its ports when
  // all such groups send at once, as they do in every layer; without end where it has none.
  double tensor_rate(std::int64_t rank) const;

 private:
  topology::GroupShape shape_of(FlowKind kind, std::int64_t rank,
                                const topology::Cluster& cluster) const;
  void refine(const topology::Cluster& cluster);
  // Joins ranks, flows and ports, which were added in this order: senders and receivers, and the
  // ports that flows cross.
  void join(Colours& graph) const;
  void number(std::vector<std::uint32_t> rank_colours, std::vector<std::uint32_t> flow_colours,
              std::vector<std::uint32_t> port_colours);

  Placement placement_;
  topology::Ports ports_;
  Sample sample_;
  Routes routes_;
  std::vector<std::int64_t> ranks_, representative_, multiplicity_;
  std::vector<std::uint32_t> actor_of_;  // by index of Routes
  std::vector<std::uint32_t> class_of_;  // by flow
  std::vector<LinkClass> links_;
  std::vector<std::vector<sim::Traffic::Use>> uses_;  // by class of flows
  std::vector<double> tensor_load_;                   // by link: tensor-parallel groups across it
};

}  // namespace strategies
