// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>

#include "tests/topology/wiring.hpp"
#include "topology/paths.hpp"

namespace oracle {
namespace {

using LinkKind = Link::Kind;

// The number of cables between each two of the eight GPUs of the hybrid cube mesh (DGX-1V,
// nvidia-smi topo -m).
constexpr std::array<std::array<int, 8>, 8> cube{{{0, 1, 1, 2, 2, 0, 0, 0},
                                                  {1, 0, 2, 1, 0, 2, 0, 0},
                                                  {1, 2, 0, 2, 0, 0, 1, 0},
                                                  {2, 1, 2, 0, 0, 0, 0, 1},
                                                  {2, 0, 0, 0, 0, 1, 1, 2},
                                                  {0, 2, 0, 0, 1, 0, 2, 1},
                                                  {0, 0, 1, 0, 1, 2, 0, 2},
                                                  {0, 0, 0, 1, 2, 1, 2, 0}}};

void need(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void check(const Cluster& cluster) {
  const Node& node = cluster.node;
  need(cluster.gpus > 0, "a cluster needs at least one GPU");
  need(node.gpus > 0, "a node needs at least one GPU");
  need(cluster.gpus <= 1 << 20, "a network of more than 1,048,576 GPUs is not drawn");
  const bool several = std::min<std::int64_t>(node.gpus, cluster.gpus) > 1;
  if (several && node.nvlink.kind != NvLink::Kind::none)
    need(node.nvlink.bandwidth.value > 0 && node.nvlink.efficiency > 0,
         "the NVLink bandwidth must be more than zero");
  need(node.pcie.bandwidth.value > 0, "the PCIe bandwidth must be more than zero");
  if (cluster.nodes() == 1) return;
  need(node.nics.count > 0, "several nodes need at least one NIC each");
  need(node.nics.bandwidth.value > 0, "the NIC bandwidth must be more than zero");
  need(cluster.fabric.link_bandwidth.value > 0 && cluster.fabric.efficiency > 0,
       "the link bandwidth of the fabric must be more than zero");
  need(cluster.fabric.radix >= 2, "a switch needs at least two ports");
}

void wire_mesh(Wiring& wiring, std::uint32_t first, int gpus, const Node& node) {
  const bool partial = cube_mesh(node);
  const double cables = partial ? topology::constants::cube_mesh_links : node.gpus - 1;
  const auto one = node.nvlink.bandwidth * (node.nvlink.efficiency / cables);
  for (int a = 0; a < gpus; ++a)
    for (int b = a + 1; b < gpus; ++b) {
      const int count =
          partial ? cube[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] : 1;
      if (count > 0)
        wiring.join(first + static_cast<std::uint32_t>(a), first + static_cast<std::uint32_t>(b),
                    LinkKind::nvlink, count * one, node.nvlink.latency);
    }
}

void wire_nvlink(Wiring& wiring, std::uint32_t first, int gpus, const Node& node,
                 const std::string& number) {
  const auto rate = node.nvlink.bandwidth * node.nvlink.efficiency;
  switch (node.nvlink.kind) {
    case NvLink::Kind::nvswitch: {
      const auto hub = wiring.add("nvswitch" + number);
      for (int i = 0; i < gpus; ++i)  // the switch is half of the way
        wiring.join(first + static_cast<std::uint32_t>(i), hub, LinkKind::nvlink, rate,
                    node.nvlink.latency / 2);
      break;
    }
    case NvLink::Kind::mesh:
      wire_mesh(wiring, first, gpus, node);
      break;
    case NvLink::Kind::pairs:
      for (int i = 0; i + 1 < gpus; i += 2)
        wiring.join(first + static_cast<std::uint32_t>(i),
                    first + static_cast<std::uint32_t>(i + 1), LinkKind::nvlink, rate,
                    node.nvlink.latency);
      break;
    case NvLink::Kind::none:
      break;
  }
}

void wire_host(Wiring& wiring, std::uint32_t first, int gpus, const Node& node,
               const std::string& number) {
  const bool joined =
      node.nvlink.kind == NvLink::Kind::nvswitch || node.nvlink.kind == NvLink::Kind::mesh;
  if (joined || gpus < 2) return;
  const auto host = wiring.add("pcie" + number);
  for (int i = 0; i < gpus; ++i)
    wiring.join(first + static_cast<std::uint32_t>(i), host, LinkKind::pcie, node.pcie.bandwidth,
                node.pcie.latency / 2);
}

// Wires NICs: NIC j serves the GPUs nearest to it; with more NICs than GPUs a GPU has several.
void wire_nics(Wiring& wiring, std::vector<Plug>& plugs, std::int64_t at, std::uint32_t first,
               int gpus, const Node& node) {
  const int count = node.nics.count;
  for (int j = 0; j < count; ++j) {
    const auto nic = wiring.add("nic" + std::to_string(at) + "." + std::to_string(j));
    plugs.push_back({nic, at, j});
    bool served = false;
    for (int i = 0; i < gpus; ++i) {
      const bool near =
          count >= node.gpus ? j * node.gpus / count == i : i * count / node.gpus == j;
      if (near)
        wiring.join(first + static_cast<std::uint32_t>(i), nic, LinkKind::pcie, node.pcie.bandwidth,
                    node.pcie.latency);
      served = served || near;
    }
    if (!served)  // in a last node that is partly empty
      wiring.join(first, nic, LinkKind::pcie, node.pcie.bandwidth, node.pcie.latency);
  }
}

}  // namespace

std::uint32_t Wiring::add(std::string name) {
  vertices.push_back(std::move(name));
  return static_cast<std::uint32_t>(vertices.size() - 1);
}

void Wiring::join(std::uint32_t a, std::uint32_t b, Link::Kind kind,
                  units::BytesPerSecond bandwidth, units::Seconds latency) {
  links.push_back({kind, vertices[a], vertices[b], bandwidth, latency});
  links.push_back({kind, vertices[b], vertices[a], bandwidth, latency});
  ends.push_back({a, b});
  ends.push_back({b, a});
}

std::vector<Plug> wire_nodes(Wiring& wiring, const Cluster& cluster) {
  check(cluster);
  for (std::int64_t gpu = 0; gpu < cluster.gpus; ++gpu) wiring.add("gpu" + std::to_string(gpu));
  std::vector<Plug> plugs;
  for (std::int64_t at = 0; at < cluster.nodes(); ++at) {
    const std::int64_t begin = at * cluster.node.gpus;
    const int gpus =
        static_cast<int>(std::min<std::int64_t>(cluster.node.gpus, cluster.gpus - begin));
    const auto first = static_cast<std::uint32_t>(begin);
    wire_nvlink(wiring, first, gpus, cluster.node, std::to_string(at));
    wire_host(wiring, first, gpus, cluster.node, std::to_string(at));
    if (cluster.nodes() > 1) wire_nics(wiring, plugs, at, first, gpus, cluster.node);
  }
  return plugs;
}

}  // namespace oracle
