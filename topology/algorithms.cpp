// SPDX-License-Identifier: Apache-2.0
//
// The model. Every algorithm and protocol that NCCL would offer the group has a latency L and a
// bandwidth B; a buffer of S bytes takes
//   t = start_up + L + T + ramp·√(L·T/(1 + T/(ramp_end·L))),  T = S/B,
// and the fastest counts. (NCCL chooses by L + S/B; to choose by t shifts the change of algorithm a
// little and makes the time monotone in S.) L and B follow NCCL's own cost table: rings over
// NVLink and NICs, double binary trees, reduction in the NVLink switch (NVLS) or in the network.
#include "topology/algorithms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace topology {
namespace {

using namespace constants;

constexpr double us = 1e-6, GBps = 1e9;
constexpr Cost never{std::numeric_limits<double>::infinity(), 0};
constexpr std::array<Protocol, 3> protocols{Protocol::low_latency, Protocol::low_latency_128,
                                            Protocol::simple};

Cost faster(const Cost& a, const Cost& b) { return b.time < a.time ? b : a; }

Cost after(double start, const Cost& cost) { return {start + cost.time, cost.transfer}; }

Cost ramped(double latency, double transfer, double ramp) {
  const double filling = latency * transfer / (1 + transfer / (ramp_end * latency));
  return {latency + transfer + ramp * std::sqrt(filling), transfer};
}

// The share of the bandwidth that trees use: between nodes they do not keep all NICs busy both
// ways, as rings do.
double tree_payload(const Paths& paths) { return paths.nodes > 1 ? network_tree_share : 1; }

Cost on(double latency, double size, double bandwidth, double ramp) {
  return bandwidth > 0 ? ramped(latency, size / bandwidth, ramp) : never;
}

// The time of one message between nodes: Simple waits once more for the NIC to flush.
double network_hop(const Paths& paths, const PerProtocol& table, std::size_t protocol) {
  const double flush = protocols[protocol] == Protocol::simple ? 2 : 1;
  const auto& used = paths.local <= 1 ? tree_network : table;
  return used[protocol] * us + flush * paths.nic + paths.wire;
}

// Whether the group is offered the protocol: LL128 needs stores of 128 bytes that stay whole, which
// PCIe does not promise.
bool offered(const Paths& paths, std::size_t protocol) {
  return protocols[protocol] != Protocol::low_latency_128 || paths.nvlink;
}

double low_latency_limit(const Paths& paths) {
  // Across nodes the CPU counts: nodes of Ampere GPUs have AMD's, all others count as Intel's.
  const std::size_t cpu = paths.generation == Generation::ampere ? 1 : 0;
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

// Microseconds of a hop between GPUs of one node.
double hop_inside(const Paths& paths, const PerProtocol& nvlink, const PerProtocol& pcie,
                  std::size_t protocol) {
  return std::max(0.0, (paths.nvlink ? nvlink : pcie)[protocol] + paths.slower_hop);
}

// `crossings`: how often a byte passes from node to node on the way round.
double ring_latency(const Paths& paths, std::size_t protocol, double steps, double crossings) {
  double inside = hop_inside(paths, ring_nvlink, ring_pcie, protocol);
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

Cost ring_cost(const Ring& ring, double size, const Paths& paths) {
  Cost best = never;
  for (std::size_t p = 0; p < protocols.size(); ++p) {
    if (!offered(paths, p)) continue;
    double latency = ring_latency(paths, p, ring.steps, ring.crossings);
    const bool large = size >= 64 * paths.channels * paths.ranks;
    if (ring.all_reduce && paths.nodes > 1 && large && protocols[p] == Protocol::simple)
      latency *= paths.generation == Generation::volta ? plateau_old : plateau;
    best = faster(best,
                  on(latency, size, ring_bus(paths, p) * ring.share, paths.ramp * ramp_share[p]));
  }
  return best;
}

// The cost where all members have a link to each other: they scatter and gather in one step each,
// whatever their number.
Cost direct_cost(const Ring& ring, double size, const Paths& paths) {
  Cost best = never;
  for (std::size_t p = 0; p < protocols.size(); ++p) {
    const double latency = ring_latency(paths, p, ring.all_reduce ? 2 : 1, 0);
    best = faster(best,
                  on(latency, size, ring_bus(paths, p) * ring.share, paths.ramp * ramp_share[p]));
  }
  return best;
}

// The share of a tree's bandwidth at this size: between the steps of the table it is interpolated,
// so that time never falls with size.
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

Cost tree_cost(double size, const Paths& paths) {
  Cost best = never;
  for (std::size_t p = 0; p < protocols.size(); ++p) {
    if (!offered(paths, p)) continue;
    const double inside = hop_inside(paths, tree_nvlink, tree_pcie, p) * us;
    const double between =
        paths.nodes > 1 ? std::log2(paths.nodes) * network_hop(paths, tree_network, p) : 0;
    const double latency = tree_base[p] * us + 2 * ((paths.local - 1) * inside + between);
    const double bandwidth =
        0.5 * tree_payload(paths) * tree_bus(paths, p) * tree_share_at(size, p);
    best = faster(best, on(latency, size, bandwidth, paths.ramp * ramp_share[p]));
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

Cost nvls_cost(double size, const Paths& paths) {
  double latency = (nvls + 2 * paths.slower_hop) * us, bus = nvls_bus(paths);
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
Cost in_network_cost(double size, const Paths& paths) {
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

// Every rank sends a different part of its share to each other rank, NVLink and NICs at once. The
// slowest node counts.
Cost all_to_all_cost(double size, const Paths& paths) {
  const double to_each = size / paths.ranks;
  const double share = paths.nvlink ? peers_share : 1;
  const double inside = paths.peers > 0 ? paths.peers * to_each / (share * paths.intra) : 0;
  const double outside = paths.leaving * to_each;
  Cost best = never;
  for (std::size_t p : {std::size_t{0}, std::size_t{2}}) {
    const double hop = paths.nodes > 1 ? network_hop(paths, ring_network, p)
                                       : hop_inside(paths, ring_nvlink, ring_pcie, p) * us;
    const double latency = ring_base[p] * us + hop * std::ceil((paths.ranks - 1) / peers_per_batch);
    const double wire = protocols[p] == Protocol::simple ? 1 : low_latency_payload;
    best =
        faster(best, ramped(latency, std::max(inside, outside) / wire, paths.ramp * ramp_share[p]));
  }
  return best;
}

// The cost over rings, or without them where every member has a link to every other.
Cost passed_on(Collective collective, double size, const Paths& paths) {
  const auto ring = ring_for(collective, paths);
  return paths.direct && paths.nodes <= 1 ? direct_cost(ring, size, paths)
                                          : ring_cost(ring, size, paths);
}

Cost all_reduce_cost(double size, const Paths& paths) {
  Cost best = faster(passed_on(Collective::all_reduce, size, paths), tree_cost(size, paths));
  if (paths.multicast && paths.generation >= Generation::hopper)
    best = faster(best, nvls_cost(size, paths));
  if (paths.in_network) best = faster(best, in_network_cost(size, paths));
  return best;
}

}  // namespace

Cost fastest(Collective collective, double size, const Paths& paths) {
  switch (collective) {
    case Collective::all_reduce:
      return after(paths.start_up, all_reduce_cost(size, paths));
    case Collective::all_to_all:
      return after(paths.start_up, all_to_all_cost(size, paths));
    default:
      return after(paths.start_up, passed_on(collective, size, paths));
  }
}

Cost message(double size, const Paths& paths) {
  const bool inside = paths.nodes <= 1;
  Cost best = never;
  for (std::size_t p : {std::size_t{0}, std::size_t{2}}) {
    const double hop = inside ? hop_inside(paths, ring_nvlink, ring_pcie, p) * us
                              : network_hop(paths, ring_network, p);
    const double wire = protocols[p] == Protocol::simple ? 1 : low_latency_payload;
    const double transfer = size / (wire * (inside ? paths.intra : paths.inter));
    best = faster(best, {ring_base[p] * us + hop + transfer, transfer});
  }
  return after(paths.start_up, best);
}

}  // namespace topology
