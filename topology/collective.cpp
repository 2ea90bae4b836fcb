// SPDX-License-Identifier: Apache-2.0
//
// The model. Every algorithm and protocol that NCCL would offer the group has a latency L and a
// bandwidth B; a buffer of S bytes takes
//   t = start_up + L + T + ramp·√(L·T/(1 + T/(ramp_end·L))),  T = S/B,
// and the fastest counts. (NCCL chooses by L + S/B; to choose by t shifts the change of algorithm a
// little and makes the time monotone in S.) L and B follow NCCL's own cost table: rings over
// NVLink and NICs, double binary trees, reduction in the NVLink switch (NVLS) or in the network.
#include "topology/collective.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "topology/measured_collective.hpp"
#include "topology/paths.hpp"

namespace topology {
namespace {

using namespace constants;
using units::Seconds;

constexpr double us = 1e-6, GBps = 1e9;
constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::array<Protocol, 3> protocols{Protocol::low_latency, Protocol::low_latency_128,
                                            Protocol::simple};

double ramped(double latency, double transfer, double ramp) {
  const double filling = latency * transfer / (1 + transfer / (ramp_end * latency));
  return latency + transfer + ramp * std::sqrt(filling);
}

// Trees between nodes do not keep all NICs busy both ways; rings do.
double tree_payload(const Paths& paths) { return paths.nodes > 1 ? network_tree_share : 1; }

double on(double latency, double size, double bandwidth, double ramp) {
  return bandwidth > 0 ? ramped(latency, size / bandwidth, ramp) : never;
}

// One message between nodes: Simple waits once more for the NIC to flush.
double network_hop(const Paths& paths, const PerProtocol& table, std::size_t protocol) {
  const double flush = protocols[protocol] == Protocol::simple ? 2 : 1;
  const auto& used = paths.local <= 1 ? tree_network : table;
  return used[protocol] * us + flush * paths.nic + paths.wire;
}

// LL128 needs stores of 128 bytes that stay whole, which PCIe does not promise.
bool offered(const Paths& paths, std::size_t protocol) {
  return protocols[protocol] != Protocol::low_latency_128 || paths.nvlink;
}

double low_latency_limit(const Paths& paths) {
  const bool amd = paths.generation == Generation::ampere;
  const std::size_t cpu = amd ? 1 : 0;
  return low_latency_most[paths.spread() == 0 ? paths.row() : cpu][paths.spread()] * GBps;
}

double slowest(const Paths& paths) {
  if (paths.nodes <= 1) return paths.intra;
  return paths.intra > 0 ? std::min(paths.intra, paths.inter) : paths.inter;
}

double ring_bus(const Paths& paths, std::size_t protocol) {
  const double bus = slowest(paths);
  switch (protocols[protocol]) {
    case Protocol::low_latency:
      return std::min(low_latency_limit(paths), low_latency_share * bus);
    case Protocol::low_latency_128: {
      const double most = ring_128_per_channel[paths.row()][paths.spread()] * GBps;
      return std::min(ring_128_share * bus, paths.channels * most);
    }
    case Protocol::simple:
      return bus;
  }
  return bus;
}

// `crossings`: how often a byte passes from node to node on the way round.
double ring_latency(const Paths& paths, std::size_t protocol, double steps, double crossings) {
  double inside = (paths.nvlink ? ring_nvlink : ring_pcie)[protocol];
  if (paths.nodes > 1) inside = std::max(inside, post_overhead[protocol]);
  return (ring_base[protocol] + (steps - crossings) * inside) * us +
         crossings * network_hop(paths, ring_network, protocol);
}

struct Ring {
  double steps, crossings;  // hops in all, and those between nodes
  double share;             // algorithm over bus bandwidth
  bool all_reduce;
};

Ring ring_for(Collective collective, const Paths& paths) {
  const double n = paths.ranks, between = paths.nodes > 1 ? paths.nodes - 1 : 0;
  switch (collective) {
    case Collective::all_reduce:
      return {2 * (n - 1), 2 * between, n / (2 * (n - 1)), true};
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return {n - 1, between, n / (n - 1), false};
    case Collective::broadcast:
    case Collective::reduce:
      return {n, between, 1, false};
  }
  return {};
}

double ring_time(const Ring& ring, double size, const Paths& paths) {
  double best = never;
  for (std::size_t p = 0; p < protocols.size(); ++p) {
    if (!offered(paths, p)) continue;
    double latency = ring_latency(paths, p, ring.steps, ring.crossings);
    const bool large = size >= 64 * paths.channels * paths.ranks;
    if (ring.all_reduce && paths.nodes > 1 && large && protocols[p] == Protocol::simple)
      latency *= paths.generation == Generation::volta ? plateau_old : plateau;
    best = std::min(best,
                    on(latency, size, ring_bus(paths, p) * ring.share, paths.ramp * ramp_share[p]));
  }
  return best;
}

// Members that all have a link to each other scatter and gather in one step each, whatever their
// number.
double direct_time(const Ring& ring, double size, const Paths& paths) {
  double best = never;
  for (std::size_t p = 0; p < protocols.size(); ++p) {
    const double latency = ring_latency(paths, p, ring.all_reduce ? 2 : 1, 0);
    best = std::min(best,
                    on(latency, size, ring_bus(paths, p) * ring.share, paths.ramp * ramp_share[p]));
  }
  return best;
}

// Between the steps of the table the share is interpolated, so that time never falls with size.
double tree_share_at(double size, std::size_t protocol) {
  const auto& table = tree_by_size[protocol];
  const double step = std::clamp(std::log2(std::max(size, 1.0) / 64), 0.0, 23.0);
  const auto below = static_cast<std::size_t>(step);
  const auto above = std::min(below + 1, table.size() - 1);
  return table[below] + (table[above] - table[below]) * (step - static_cast<double>(below));
}

double tree_bus(const Paths& paths, std::size_t protocol) {
  // Between two nodes either tree uses its NICs in one direction only: twice the rate fits.
  double bus = slowest(paths);
  if (paths.nodes == 2 && paths.intra > 0) bus = std::min(paths.intra, 2 * paths.inter);
  const auto row = paths.row(), spread = paths.spread();
  switch (protocols[protocol]) {
    case Protocol::low_latency:
      return std::min(bus / tree_low_latency_divisor, low_latency_limit(paths));
    case Protocol::low_latency_128: {
      const double share = spread == 0 ? tree_128_one_node : tree_128_nodes;
      return std::min(bus * share, paths.channels * tree_128_per_channel[row][spread] * GBps);
    }
    case Protocol::simple:
      return std::min(bus * tree_share, paths.channels * tree_per_channel[row][spread] * GBps);
  }
  return bus;
}

double tree_time(double size, const Paths& paths) {
  double best = never;
  for (std::size_t p = 0; p < protocols.size(); ++p) {
    if (!offered(paths, p)) continue;
    const double inside = (paths.nvlink ? tree_nvlink : tree_pcie)[p] * us;
    const double between =
        paths.nodes > 1 ? std::log2(paths.nodes) * network_hop(paths, tree_network, p) : 0;
    const double latency = tree_base[p] * us + 2 * ((paths.local - 1) * inside + between);
    const double bandwidth =
        0.5 * tree_payload(paths) * tree_bus(paths, p) * tree_share_at(size, p);
    best = std::min(best, on(latency, size, bandwidth, paths.ramp * ramp_share[p]));
  }
  return best;
}

// Bus bandwidth of the reduction in the switch of one node.
double nvls_bus(const Paths& paths) {
  const double heads = std::min(paths.local, static_cast<double>(nvls_heads_most));
  const double reached =
      std::min(nvls_head[paths.row()] * GBps * paths.local, nvls_share[paths.row()] * paths.intra);
  return 2 * reached * nvls_efficiency[paths.row()] * (heads - 1) / heads;
}

double nvls_time(double size, const Paths& paths) {
  double latency = nvls * us, bus = nvls_bus(paths);
  if (paths.nodes > 1) {
    latency += 2 * std::log2(paths.nodes) * (nvls_tree_network * us + paths.nic + paths.wire);
    const double heads = std::min(paths.local, static_cast<double>(nvls_heads_most));
    bus = std::min({bus, paths.inter * (paths.nodes == 2 ? 2 : 1),
                    heads * nvls_tree_per_channel[paths.row()][paths.spread()] * GBps});
  }
  bus *= tree_payload(paths);
  return on(latency, size, bus * paths.ranks / (2 * (paths.ranks - 1)), paths.switch_ramp);
}

// Every byte enters and leaves a node once; the fabric adds them up.
double in_network_time(double size, const Paths& paths) {
  const double latency =
      (2 * (in_network_intra + in_network_per_gpu * (paths.local - 1)) + constants::in_network) *
          us +
      2 * paths.nic + paths.wire;
  double bandwidth = tree_payload(paths) * in_network_share * paths.inter;
  if (paths.local > 1)
    bandwidth =
        std::min(bandwidth, 0.5 * (paths.multicast ? nvls_bus(paths) : tree_share * paths.intra));
  return on(latency, size, bandwidth, paths.ramp);
}

// Every rank sends a different part of its share to each other rank, NVLink and NICs at once.
double all_to_all_time(double size, const Paths& paths) {
  const double to_each = size / paths.ranks;
  const double share = paths.nvlink ? peers_share : 1;
  const double inside = paths.local > 1 ? (paths.local - 1) * to_each / (share * paths.intra) : 0;
  const double outside =
      paths.nodes > 1 ? (paths.ranks - paths.local) * to_each * paths.local / paths.inter : 0;
  double best = never;
  for (std::size_t p : {std::size_t{0}, std::size_t{2}}) {
    const double hop = paths.nodes > 1 ? network_hop(paths, ring_network, p)
                                       : (paths.nvlink ? ring_nvlink : ring_pcie)[p] * us;
    const double latency = ring_base[p] * us + hop * std::ceil((paths.ranks - 1) / peers_per_batch);
    const double wire = protocols[p] == Protocol::simple ? 1 : low_latency_payload;
    best = std::min(best,
                    ramped(latency, std::max(inside, outside) / wire, paths.ramp * ramp_share[p]));
  }
  return best;
}

// Over rings, or without them where every member has a link to every other.
double passed_on(Collective collective, double size, const Paths& paths) {
  const auto ring = ring_for(collective, paths);
  return paths.direct && paths.nodes <= 1 ? direct_time(ring, size, paths)
                                          : ring_time(ring, size, paths);
}

double all_reduce_time(double size, const Paths& paths) {
  double best = std::min(passed_on(Collective::all_reduce, size, paths), tree_time(size, paths));
  if (paths.multicast && paths.generation >= Generation::hopper)
    best = std::min(best, nvls_time(size, paths));
  if (paths.in_network) best = std::min(best, in_network_time(size, paths));
  return best;
}

double textbook_steps(Collective collective, double ranks) {
  return (collective == Collective::all_reduce ? 2 : 1) * (ranks - 1);
}

constexpr std::array<std::string_view, 6> names{"all_reduce", "all_gather", "reduce_scatter",
                                                "all_to_all", "broadcast",  "reduce"};

}  // namespace

std::string_view to_text(Collective collective) {
  return names[static_cast<std::size_t>(collective)];
}

std::optional<Collective> parse_collective(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '-', '_');
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return {};
  return static_cast<Collective>(found - names.begin());
}

GroupShape shape_of(std::span<const std::int64_t> gpus, const Cluster& cluster) {
  if (gpus.empty()) throw std::invalid_argument("a group of no GPUs has no shape");
  std::map<std::int64_t, int> members;
  for (const auto gpu : gpus) ++members[gpu / cluster.node.gpus];
  GroupShape shape{.ranks = static_cast<int>(gpus.size()),
                   .nodes = static_cast<int>(members.size()),
                   .least_per_node = members.begin()->second,
                   .most_per_node = members.begin()->second};
  for (const auto& [node, count] : members) {
    shape.least_per_node = std::min(shape.least_per_node, count);
    shape.most_per_node = std::max(shape.most_per_node, count);
  }
  return shape;
}

Seconds collective_time(Collective collective, units::Bytes size, const GroupShape& group,
                        const Cluster& cluster) {
  if (group.ranks == 1) return {0};
  if (!cluster.fabric.measured.empty())
    if (const auto* table = measured_for(collective, group, cluster.fabric))
      return interpolated(*table, size);
  const auto paths = paths_of(group, cluster);
  const double started = paths.launch;
  switch (collective) {
    case Collective::all_reduce:
      return {started + all_reduce_time(size.value, paths)};
    case Collective::all_to_all:
      return {started + all_to_all_time(size.value, paths)};
    default:
      return {started + passed_on(collective, size.value, paths)};
  }
}

Seconds textbook_ring(Collective collective, units::Bytes size, int ranks,
                      units::BytesPerSecond bandwidth, Seconds latency) {
  if (ranks <= 1) return {0};
  if (!(bandwidth.value > 0)) throw std::invalid_argument("a ring needs a positive bandwidth");
  const double n = ranks;
  const bool whole = collective == Collective::broadcast || collective == Collective::reduce;
  const double steps = textbook_steps(collective, n);
  return (whole ? 1.0 : steps / n) * (size / bandwidth) + steps * latency;
}

Seconds transfer_time(units::Bytes size, std::int64_t from, std::int64_t to, const Cluster& cluster,
                      int sharing) {
  if (from == to) return {0};
  const Node& node = cluster.node;
  const bool same_node = from / node.gpus == to / node.gpus;
  const bool partners = node.nvlink.kind != NvLink::Kind::pairs || from / 2 == to / 2;
  const GroupShape pair{.ranks = 2,
                        .nodes = same_node ? 1 : 2,
                        .least_per_node = same_node ? 2 : 1,
                        .most_per_node = same_node ? 2 : 1,
                        .sharing = sharing};
  auto paths = paths_of(pair, cluster);
  if (same_node && !partners) {
    paths.nvlink = false;
    paths.intra = node.pcie.bandwidth.value;
  }
  const double bandwidth = same_node ? paths.intra : paths.inter;
  double best = never;
  for (std::size_t p : {std::size_t{0}, std::size_t{2}}) {
    const double hop = same_node ? (paths.nvlink ? ring_nvlink : ring_pcie)[p] * us
                                 : network_hop(paths, ring_network, p);
    const double wire = protocols[p] == Protocol::simple ? 1 : low_latency_payload;
    best = std::min(best, ring_base[p] * us + hop + size.value / (wire * bandwidth));
  }
  return {paths.launch + best};
}

}  // namespace topology
