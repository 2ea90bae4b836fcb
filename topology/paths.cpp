// SPDX-License-Identifier: Apache-2.0
#include "topology/paths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "topology/fabric_counts.hpp"

namespace topology {
namespace {

using constants::Generation;
using units::Precision;

void check_group(const GroupShape& group) {
  if (group.ranks < 1 || group.nodes < 1 || group.sharing < 1)
    throw std::invalid_argument("a group needs at least one rank, one node and one sharer");
  if (group.least_per_node < 1 || group.most_per_node < group.least_per_node)
    throw std::invalid_argument("every node of a group holds at least one of its ranks");
  if (group.ranks < group.nodes) throw std::invalid_argument("a group has more nodes than ranks");
}

void check_room(const GroupShape& group, const Cluster& cluster) {
  if (group.nodes <= cluster.nodes() && group.most_per_node <= cluster.node.gpus &&
      group.ranks <= cluster.gpus)
    return;
  throw std::invalid_argument(
      "a group of " + std::to_string(group.ranks) + " GPUs on " + std::to_string(group.nodes) +
      " nodes, up to " + std::to_string(group.most_per_node) +
      " on each, is larger than the cluster of " + std::to_string(cluster.gpus) +
      " GPUs in nodes of " + std::to_string(cluster.node.gpus));
}

// Whether members of one node meet over NVLink: all of a switch or mesh, two of a bridge.
bool linked(int members, const Node& node) {
  switch (node.nvlink.kind) {
    case NvLink::Kind::nvswitch:
    case NvLink::Kind::mesh:
      return true;
    case NvLink::Kind::pairs:
      return members <= 2;
    case NvLink::Kind::none:
      return false;
  }
  return false;
}

double intra_rate(int members, bool nvlink, const Node& node) {
  if (members <= 1) return 0;
  if (nvlink) return nvlink_rate(members, node);
  const double rate = node.pcie.bandwidth.value;
  // With bridges every other hop of the ring leaves PCIe alone.
  const bool alone = members == 2 || node.nvlink.kind == NvLink::Kind::pairs;
  return alone ? rate : rate * constants::pcie_ring_share;
}

units::Seconds usual_start_up(const Paths& paths) {
  return {constants::start_up[paths.row()] * 1e-6};
}

// The bandwidth of a GPU's link to the others of its node.
double gpu_port(int members, const Node& node) {
  const double nvlink = linked(members, node) ? nvlink_rate(1, node) : 0;
  return nvlink > 0 ? nvlink : node.pcie.bandwidth.value;
}

constexpr const char* no_way_inside = "the GPUs of a node have no link between them";
constexpr const char* no_way_out =
    "the group spans nodes, but the nodes have no NIC or the fabric no bandwidth";

void need_rate(double rate, const char* what) {
  if (!(rate > 0)) throw std::invalid_argument(what);
}

}  // namespace

Generation generation_of(const Device& device) {
  const auto has = [&](Precision precision) { return device.peak_of(precision).value > 0; };
  if (has(Precision::mxfp8) || has(Precision::nvfp4)) return Generation::blackwell;
  if (has(Precision::fp8)) return Generation::hopper;
  if (has(Precision::bf16)) return Generation::ampere;
  return Generation::volta;
}

bool cube_mesh(const Node& node) {
  return node.gpus == 8 && node.nvlink.kind == NvLink::Kind::mesh &&
         generation_of(node.device) == Generation::volta;
}

double nics_for(int members, int sharing, const Node& node) {
  const double count = node.nics.count;
  const double near = std::max(1.0, std::ceil(members * count / std::max(1, node.gpus)));
  return std::min(near, count / sharing);
}

double messages_per_nic(const GroupShape& group, int sharing, const Node& node) {
  const auto of = [&](int members) {
    const double elsewhere = group.ranks - members;
    return members * elsewhere / nics_for(members, sharing, node);
  };
  return std::max(of(group.least_per_node), of(group.most_per_node));
}

double nic_rate(const Cluster& cluster, std::size_t kind) {
  const double link = cluster.fabric.link_bandwidth.value;
  return std::min(cluster.kind(kind).nics.bandwidth.value, link) * cluster.fabric.efficiency;
}

double switches_between(std::int64_t nodes, int nics, const Fabric& fabric) {
  const std::int64_t count = std::max(1, nics);
  const bool rails = fabric.kind == Fabric::Kind::rail_fat_tree;
  switch (fabric.kind) {
    case Fabric::Kind::single_switch:
    case Fabric::Kind::rail_only:
    case Fabric::Kind::torus_3d:
      return 1;
    case Fabric::Kind::dragonfly_plus:
      return nodes * count <= fabric.radix / 2 ? 1 : 4;
    case Fabric::Kind::fat_tree:
    case Fabric::Kind::rail_fat_tree:
      break;
  }
  const auto leaves = leaves_of(nodes, count, leaf_ports(fabric).down, rails);
  return leaves.blocks == 1 ? 1 : 2 * tiers_needed(leaves.count, fabric) - 1;
}

double nvlink_rate(int members, const Node& node) {
  const double all = node.nvlink.bandwidth.value * node.nvlink.efficiency;
  if (members <= 1) return all;
  if (node.nvlink.kind != NvLink::Kind::mesh) {
    const bool few = members <= 4 && generation_of(node.device) == Generation::ampere;
    return few ? all * constants::few_ranks[static_cast<std::size_t>(members - 2)] : all;
  }
  if (cube_mesh(node)) {
    const auto row = static_cast<std::size_t>(std::clamp(members, 2, 8) - 2);
    return all * constants::cube_mesh_rings[row] / constants::cube_mesh_links;
  }
  return all * (members - 1) / std::max(1, node.gpus - 1);
}

double port_rate(const GroupShape& group, const Cluster& cluster) {
  check_parts(group, cluster);
  double slowest = std::numeric_limits<double>::infinity();
  for (std::size_t kind = 0; kind < cluster.kinds(); ++kind)
    if ((group.parts >> kind & 1) != 0)
      slowest =
          std::min(slowest, group.nodes > 1 ? nic_rate(cluster, kind)
                                            : gpu_port(group.most_per_node, cluster.kind(kind)));
  need_rate(slowest, group.nodes > 1 ? no_way_out : no_way_inside);
  return slowest;
}

void check_parts(const GroupShape& group, const Cluster& cluster) {
  if (group.parts == 0 || std::uint64_t{group.parts} >> cluster.kinds() != 0)
    throw std::invalid_argument("a group lies on kinds of node that the cluster has");
}

Paths paths_of(const GroupShape& group, const Cluster& cluster, std::size_t kind) {
  check_group(group);
  check_room(group, cluster);
  const Node& node = cluster.kind(kind);
  Paths paths{.generation = generation_of(node.device),
              .ranks = static_cast<double>(group.ranks),
              .nodes = static_cast<double>(group.nodes)};
  paths.local = paths.ranks / paths.nodes;
  paths.peers = group.most_per_node - 1;
  paths.nvlink = linked(group.most_per_node, node);
  paths.intra = intra_rate(group.most_per_node, paths.nvlink, node);
  paths.multicast = paths.nvlink && node.nvlink.multicast &&
                    group.least_per_node == group.most_per_node &&
                    group.most_per_node >= constants::nvls_ranks_least;
  if (group.most_per_node > 1) need_rate(paths.intra, no_way_inside);
  if (paths.nvlink) paths.slower_hop = (node.nvlink.latency - NvLink{}.latency).value / 1e-6;
  paths.direct = paths.nvlink && node.nvlink.kind == NvLink::Kind::mesh && !cube_mesh(node);
  paths.start_up = node.nvlink.launch.value_or(usual_start_up(paths)).value;
  paths.ramp = node.nvlink.ramp.value_or(constants::ring_ramp[paths.row()]);
  paths.switch_ramp = std::max(paths.ramp, constants::switch_ramp);
  paths.channels = 24;  // so many that no limit per channel binds inside a node
  paths.processors = paths.nvlink ? paths.channels : constants::blocks_per_path;
  if (group.nodes == 1) return paths;

  const double nics = nics_for(group.least_per_node, group.sharing, node);
  paths.inter = nics * nic_rate(cluster, kind);
  need_rate(paths.inter, no_way_out);
  paths.leaving = messages_per_nic(group, group.sharing, node) / nic_rate(cluster, kind);
  paths.in_network = cluster.fabric.collectives_in_network;
  paths.start_up += cluster.fabric.launch.value;
  paths.ramp = paths.switch_ramp = cluster.fabric.ramp.value_or(constants::network_ramp);
  // Few or slow channels are doubled.
  const bool doubled = nics <= 4 || paths.generation <= Generation::ampere;
  paths.channels = std::max(1.0, nics) * (doubled ? 2 : 1);
  paths.processors = constants::blocks_per_path * std::max(1.0, nics);
  paths.nic = node.nics.latency.value;
  paths.wire = cluster.fabric.latency.value *
               switches_between(cluster.nodes(), node.nics.count, cluster.fabric);
  return paths;
}

}  // namespace topology
