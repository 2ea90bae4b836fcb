// SPDX-License-Identifier: Apache-2.0
// The paths between the members of a group of GPUs: bandwidth inside and between nodes.
#pragma once
#include "topology/cluster.hpp"
#include "topology/collective.hpp"
#include "topology/collective_constants.hpp"

namespace topology {

// Bandwidths in bytes per second and direction, times in seconds.
struct Paths {
  constants::Generation generation{};
  double ranks = 1, nodes = 1;
  double local = 1;        // members per node, on average
  bool nvlink = false;     // members of one node meet over NVLink
  bool multicast = false;  // its switch can reduce
  bool direct = false;     // every member has a link to every other
  bool in_network = false;
  double intra = 0;  // of all rings of one node together; 0 with one member per node
  double inter = 0;  // of all NICs the group may use in a node; 0 in one node
  double peers = 0;  // other members in the fullest node
  // For an all-to-all: seconds that the NICs of the slowest node need for what its members send to
  // other nodes, per byte from each member to each other.
  double leaving = 0;
  double channels = 0;       // parallel rings or trees
  double processors = 0;     // that the kernel of a collective holds, one for each of its blocks
  double nic = 0, wire = 0;  // latency of the NIC; of the switches of one message
  double slower_hop = 0;     // us that a hop over NVLink takes beyond that of NCCL's table
  double start_up = 0;       // of every collective
  double ramp = 0, switch_ramp = 0;  // of rings and trees; of reduction in the NVLink switch

  std::size_t spread() const { return nodes <= 1 ? 0 : nodes <= 2 ? 1 : 2; }
  std::size_t row() const { return static_cast<std::size_t>(generation); }
};

// The paths of a group if all nodes were of this kind (Cluster::kind). Throws std::invalid_argument
// for shapes that cannot be, and if no link joins the members.
Paths paths_of(const GroupShape& group, const Cluster& cluster, std::size_t kind = 0);

// Throws std::invalid_argument if the group lies on no kind of node, or on one that is not there.
void check_parts(const GroupShape& group, const Cluster& cluster);

// Eight V100s: each has six links, one or two to four of the others. Any other mesh joins all.
bool cube_mesh(const Node& node);

// The generation of a device, read off the number formats that it computes in.
constants::Generation generation_of(const Device& device);

// The number of NICs that `members` GPUs of a node reach without crossing to another GPU's, divided
// among `sharing` groups that do the same: eight GPUs over four NICs have one per pair, but no
// member has none. One group alone has whole NICs.
double nics_for(int members, int sharing, const Node& node);

// Returns the messages that pass through each NIC in an all-to-all of a group on several nodes, in
// the node where they are most: each member sends one to each other, so that a node with m of n
// members passes on m·(n − m). Only the least and the most members of a node are known.
double messages_per_nic(const GroupShape& group, int sharing, const Node& node);

// The payload of one NIC of this kind of node on the fabric, and the number of switches that a
// message between nodes crosses.
double nic_rate(const Cluster& cluster, std::size_t kind = 0);
double switches_between(std::int64_t nodes, int nics, const Fabric& fabric);

// The bandwidth of one ring between two GPUs of a node, or of all rings among `members`.
double nvlink_rate(int members, const Node& node);

// The bandwidth of the slowest port of a group, each way (Sending): a NIC; inside of a node the
// port that joins a GPU to the others.
double port_rate(const GroupShape& group, const Cluster& cluster);

}  // namespace topology
