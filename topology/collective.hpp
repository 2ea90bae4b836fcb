// SPDX-License-Identifier: Apache-2.0
// The time of a collective on an idle network.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "topology/cluster.hpp"
#include "topology/evidence.hpp"
#include "units/quantity.hpp"

namespace topology {

std::string_view to_text(Collective collective);                    // "all_reduce", as in code
std::optional<Collective> parse_collective(std::string_view text);  // also "all-reduce"

// The shape of a group of GPUs on a cluster: everything that the time of its collectives depends
// on.
struct GroupShape {
  int ranks = 1;           // members
  int nodes = 1;           // nodes that hold a member
  int least_per_node = 1;  // fewest members on one of these nodes
  int most_per_node = 1;
  // Groups of this kind that run at the same time and share each node's NICs (1 = alone). Eight
  // data-parallel groups of one rank per node on a node of eight NICs: each has one NIC.
  int sharing = 1;
  std::uint32_t parts = 1;  // bit i: a node of kind i (Cluster::kind) holds a member
  friend auto operator<=>(const GroupShape&, const GroupShape&) = default;
};

// Shape of the group of these GPUs (distinct, in ring order). `sharing` is left at 1.
GroupShape shape_of(std::span<const std::int64_t> gpus, const Cluster& cluster);

// Time of one collective on an idle network. `size` is the total buffer: the message per rank of
// an all-reduce, broadcast or reduce; ranks × the shard for all-gather, reduce-scatter and
// all-to-all. A group of one takes no time. Model: docs/model/collectives.md, from NCCL's own
// tables.
units::Seconds collective_time(Collective collective, units::Bytes size, const GroupShape& group,
                               const Cluster& cluster);

// The fabric's table that gives that time: of this collective in even groups of this shape, alone
// on their NICs. Null: none.
const MeasuredCollective* table_for(Collective collective, const GroupShape& group,
                                    const Cluster& cluster);

// The evidence of that time: tables of the fabric, measurements inside nodes, or the model.
Evidence collective_evidence(Collective collective, units::Bytes size, const GroupShape& group,
                             const Cluster& cluster);

// The time of a collective in two parts: alone on its ports it takes `fixed` and then as long as
// `bytes` need at `rate`. Ports: the NICs that a group on several nodes uses on each of them, both
// ways; the NVLink (or else PCIe) port of each member of a group on one node. `rate` is above zero,
// finite and never more than the port carries; `bytes` may be zero.
struct Sending {
  units::Seconds fixed;
  units::Bytes bytes;          // through each port, each way
  units::BytesPerSecond rate;  // through each port, at most
  std::uint32_t asked = 0;     // the caller's number of the question; 0: it has none
  // The share of a device's processors that it holds while it runs: the blocks of its kernel over
  // the device's processors; 0 where these are not known. Of two collectives in one, the larger.
  double processors = 0;
  units::Seconds time() const { return fixed + bytes / rate; }
  // Adds one that runs before or after it, off its ports.
  void join(const Sending& other) {
    fixed += other.time();
    processors = std::max(processors, other.processors);
  }
  friend bool operator==(const Sending&, const Sending&) = default;
};
Sending collective_sending(Collective collective, units::Bytes size, const GroupShape& group,
                           const Cluster& cluster);

// The number of NICs that a group on several nodes uses on each of them; 1 for a group on one node.
int ports_of(const GroupShape& group, const Cluster& cluster);

// The time of one message from GPU to GPU on an idle network; `sharing` messages leave the sender's
// NIC at once.
units::Seconds transfer_time(units::Bytes size, std::int64_t from, std::int64_t to,
                             const Cluster& cluster, int sharing = 1);

Sending transfer_sending(units::Bytes size, std::int64_t from, std::int64_t to,
                         const Cluster& cluster);

}  // namespace topology
