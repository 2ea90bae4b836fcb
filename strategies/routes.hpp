// SPDX-License-Identifier: Apache-2.0
// The flows of a placement: who sends to whom in a step, and which ports that crosses.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "plans/placement.hpp"
#include "strategies/sample.hpp"
#include "topology/cluster.hpp"
#include "topology/collective.hpp"
#include "topology/ports.hpp"

namespace strategies {

// Messages to the next and the previous pipeline stage; the ring round a data-parallel group, or,
// where it falls into shard groups, the rings that join ranks of the same place in every such
// group, and those inside the groups; the sum of a tied embedding's gradients; the ring of a
// tensor-parallel or a context-parallel group; the exchange of ranks with experts: all to all, or,
// where these only divide them, round a ring; the ring of those that share an expert's parameters,
// and, in shard groups, the rings inside these.
enum class FlowKind : std::uint8_t {
  onward,
  back,
  ring,
  inside,
  tied,
  tensor,
  context,
  expert,
  expert_ring,
  expert_inside
};
inline constexpr std::size_t flow_kinds = 10;

class Routes {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;
  struct Crossing {
    std::uint32_t port, times;
  };

  // The routes of the replicas in the sample; rings have only the links that they cross there.
  // `shards`: ranks of a shard group. O(ranks looked at).
  Routes(const Placement& placement, const topology::Cluster& cluster, const topology::Ports& ports,
         const Sample& sample, std::int64_t shards);

  std::size_t ranks() const { return at_.size(); }
  // Ranks are numbered by pipeline stage, place in the sample, context and tensor rank.
  std::size_t index_of(std::int64_t rank) const;
  std::int64_t rank_at(std::size_t index) const { return at_[index]; }

  std::size_t flows() const { return kinds_.size(); }
  FlowKind kind(std::size_t flow) const { return kinds_[flow]; }
  // The flow that a rank sends, or is a member of; none where there is none.
  std::uint32_t flow_of(FlowKind kind, std::size_t index) const {
    return of_rank_[static_cast<std::size_t>(kind)][index];
  }
  std::int64_t receiver(FlowKind kind, std::int64_t rank) const;  // of onward, back, tied
  std::span<const Crossing> crossings(std::size_t flow) const {
    const std::size_t begin = flow == 0 ? 0 : ends_[flow - 1];
    return {crossings_.data() + begin, ends_[flow] - begin};
  }
  // The number of nodes to which each NIC sends equal parts of the flow's bytes: all others for an
  // all-to-all, 1 for other flows. Crossings count such parts, so that they are whole numbers on
  // every port.
  std::uint32_t fan_out(std::size_t flow) const { return fan_outs_[flow]; }
  const std::vector<topology::Port>& ports() const { return ports_; }

  // Shape of the group that shares the parameters of a rank looked at, or its experts'
  // (expert_ring). No other group is taken to share its NICs.
  topology::GroupShape data_shape(FlowKind ring, std::int64_t rank) const;
  // The ranks of that group that are looked at, ascending.
  std::vector<std::int64_t> sharers_looked_at(FlowKind ring, std::int64_t rank) const;

 private:
  struct Numbered {
    std::uint32_t number;    // in ports_
    std::size_t latest = 0;  // in crossings_: of the latest flow across the port
  };
  struct PortHash {
    std::size_t operator()(const topology::Port& port) const {
      return static_cast<std::size_t>(port.index) * 0x9e3779b97f4a7c15 +
             (static_cast<std::size_t>(port.kind) * 2 + port.out) * 0x94d049bb133111eb;
    }
  };
  std::int64_t node_of(std::int64_t rank) const { return rank / cluster_.node.gpus; }
  std::int64_t sharers(FlowKind ring) const;
  std::int64_t index_of_sharer(FlowKind ring, std::int64_t rank) const;
  std::int64_t rank_of_sharer(FlowKind ring, std::int64_t sharer, std::int64_t like) const;
  // A ring of sharers: `count` of them, `step` places apart.
  struct Ring {
    std::int64_t first, step, count;
  };
  static std::int64_t place_in(const Ring& ring, std::int64_t sharer);
  std::vector<std::int64_t> on_node_with(FlowKind flow, const Ring& ring, std::int64_t place,
                                         std::int64_t like) const;
  std::vector<std::vector<std::int64_t>> by_node(std::span<const std::int64_t> group) const;
  void add_messages(FlowKind kind);
  void add_ring(FlowKind ring, std::int64_t rank);
  void add_all_to_all(std::span<const std::int64_t> group);
  void add_layer_ring(FlowKind kind, std::span<const std::int64_t> group);
  void add_parts(FlowKind flow, std::span<const std::int64_t> members,
                 const topology::GroupShape& shape,
                 const std::function<Ring(std::int64_t)>& ring_of);
  // Ends the flow whose links were added to uses_, where `of` times count as one flow; its
  // crossings count its `fan_out` equal parts.
  std::uint32_t end_flow(FlowKind kind, std::uint32_t fan_out = 1, std::uint32_t of = 1);

  const Placement& placement_;
  const topology::Cluster& cluster_;
  const topology::Ports& wires_;
  const Sample& sample_;
  std::int64_t shards_;  // ranks of a shard group
  std::int64_t apart_;   // of them, those that share what is held apart
  std::vector<std::int64_t> at_;
  std::array<std::vector<std::uint32_t>, flow_kinds> of_rank_;
  std::vector<FlowKind> kinds_;
  std::vector<std::uint32_t> fan_outs_;
  std::vector<std::size_t> ends_;
  std::vector<Crossing> crossings_;
  std::vector<topology::Port> ports_;
  std::unordered_map<topology::Port, Numbered, PortHash> numbered_;
  std::vector<topology::PortUse> uses_;  // of the flow being added
};

}  // namespace strategies
