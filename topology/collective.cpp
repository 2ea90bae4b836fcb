// SPDX-License-Identifier: Apache-2.0
#include "topology/collective.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "topology/algorithms.hpp"
#include "topology/collective_times.hpp"
#include "topology/measured_collective.hpp"
#include "topology/paths.hpp"
#include "topology/surface_choice.hpp"
#include "topology/words.hpp"

namespace topology {
namespace {

using units::Seconds;

std::uint32_t part_of(std::int64_t node, const Cluster& cluster) {
  return std::uint32_t{1} << cluster.kind_of_node(node);
}

// The cost, of(kind), on the slowest kind of node that a group lies on, which holds back all of it.
template <class Of>
Cost slowest_kind(std::uint32_t parts, const Cluster& cluster, Of of) {
  Cost slowest;
  for (std::size_t kind = 0; kind < cluster.kinds(); ++kind) {
    if ((parts >> kind & 1) == 0) continue;
    const Cost cost = of(kind);
    if (cost.time > slowest.time) slowest = cost;
  }
  return slowest;
}

// The paths of the machine of the measurements.
Paths surveyed(Paths paths, const NvLink& nvlink) {
  paths.intra *= constants::surveyed_nvlink[paths.row()] * 1e9 *
                 constants::surveyed_efficiency[paths.row()] /
                 (nvlink.bandwidth.value * nvlink.efficiency);
  paths.start_up = constants::start_up[paths.row()] * 1e-6;
  paths.slower_hop = 0;
  paths.ramp = constants::ring_ramp[paths.row()];
  paths.switch_ramp = std::max(paths.ramp, constants::switch_ramp);
  return paths;
}

// Measured time of a collective over the model's, both on the machine of the measurements. Above
// the largest size both go on at its rate.
double measured_share(const RateSurface& surface, Collective collective, double size,
                      const Paths& machine) {
  const double most = surface.axes[1].back();
  const double within = std::min(size, most);
  const auto time = exchange_time(surface, machine.ranks, within);
  if (!time) return 1;
  return time->time.value / fastest(collective, within, machine).time;
}

// The surface that was measured of a group in a node of this kind; null if there is none.
const RateSurface* surface_inside(Collective collective, const Paths& paths, const Node& node) {
  const auto* surface = collective_surface(node.device, collective);
  const bool within = surface != nullptr && node.nvlink.kind == NvLink::Kind::nvswitch &&
                      paths.ranks <= surface->axes[0].back();
  return within ? surface : nullptr;
}

// `machine` is that of the surface's measurements; without a surface it does not matter.
Cost inside(Collective collective, double size, const Paths& paths, const RateSurface* surface,
            const Paths& machine) {
  auto cost = fastest(collective, size, paths);
  if (surface == nullptr) return cost;
  const double share = measured_share(*surface, collective, size, machine);
  return {cost.time * share, cost.transfer * share};
}

Cost modelled(Collective collective, double size, const GroupShape& group, const Cluster& cluster) {
  check_parts(group, cluster);
  return slowest_kind(group.parts, cluster, [&](std::size_t kind) {
    const auto paths = paths_of(group, cluster, kind);
    if (group.nodes > 1) return fastest(collective, size, paths);
    const auto& node = cluster.kind(kind);
    const auto* surface = surface_inside(collective, paths, node);
    return inside(collective, size, paths, surface,
                  surface == nullptr ? paths : surveyed(paths, node.nvlink));
  });
}

// The bytes that each port passes on, each way, if a ring moves them. All-to-all: each NIC of the
// slowest node, or each member inside a node.
double port_bytes(Collective collective, double size, const GroupShape& group,
                  const Cluster& cluster) {
  const int ports = ports_of(group, cluster);
  const double n = group.ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (n - 1) / n * size / ports;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return (n - 1) / n * size / ports;
    case Collective::broadcast:
    case Collective::reduce:
      return size / ports;
    case Collective::all_to_all:
      break;
  }
  const double messages = group.nodes > 1 ? messages_per_nic(group, 1, cluster.node) : n - 1;
  return messages / n * size;
}

// The bytes are those of a ring, or less for algorithms that move fewer (trees, reduction in
// switches): no more than the ports carry in the time of the transfer.
Sending sending(const Cost& cost, double bytes, double port, double processors = 0) {
  if (!(cost.transfer > 0)) return {{cost.time}, {0}, {port}, 0, processors};
  const double passed = std::min(bytes, cost.transfer * port);
  return {{cost.time - cost.transfer},
          {passed},
          {std::min(passed / cost.transfer, port)},
          0,
          processors};
}

// The share of a device's processors that a collective of the group holds; of several kinds of
// device, the largest.
double processors_held(const GroupShape& group, const Cluster& cluster) {
  double held = 0;
  for (std::size_t kind = 0; kind < cluster.kinds(); ++kind) {
    const int all = cluster.kind(kind).device.sms;
    if ((group.parts >> kind & 1) == 0 || all <= 0) continue;
    held = std::max(held, paths_of(group, cluster, kind).processors / all);
  }
  return std::min(held, 1.0);
}

}  // namespace

const MeasuredCollective* table_for(Collective collective, const GroupShape& group,
                                    const Cluster& cluster) {
  const bool even = group.least_per_node == group.most_per_node && group.sharing == 1;
  return even ? measured_for(collective, group.ranks, group.nodes, cluster.fabric) : nullptr;
}

std::string_view to_text(Collective collective) { return units::word(collective); }

std::optional<Collective> parse_collective(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '-', '_');
  for (const auto& [word, collective] : words_of(Collective{}))
    if (word == name) return collective;
  return {};
}

GroupShape shape_of(std::span<const std::int64_t> gpus, const Cluster& cluster) {
  if (gpus.empty()) throw std::invalid_argument("a group of no GPUs has no shape");
  std::vector<std::int64_t> nodes;
  nodes.reserve(gpus.size());
  for (const auto gpu : gpus) nodes.push_back(gpu / cluster.node.gpus);
  if (!std::ranges::is_sorted(nodes)) std::ranges::sort(nodes);
  GroupShape shape{.ranks = static_cast<int>(gpus.size()),
                   .nodes = 0,
                   .least_per_node = static_cast<int>(gpus.size()),
                   .most_per_node = 0,
                   .parts = 0};
  for (auto first = nodes.begin(); first != nodes.end();) {
    const auto last = std::find_if(first, nodes.end(), [&](auto node) { return node != *first; });
    const auto count = static_cast<int>(last - first);
    ++shape.nodes;
    shape.least_per_node = std::min(shape.least_per_node, count);
    shape.most_per_node = std::max(shape.most_per_node, count);
    shape.parts |= part_of(*first, cluster);
    first = last;
  }
  return shape;
}

int ports_of(const GroupShape& group, const Cluster& cluster) {
  if (group.nodes <= 1) return 1;
  return std::max(1, static_cast<int>(nics_for(group.least_per_node, 1, cluster.node)));
}

namespace {

template <class Sizes>
Evidence among(const Sizes& measured, double size) {
  if (std::ranges::any_of(measured, [&](double one) { return same_size(one, size); }))
    return Evidence::measured;
  return in_range(size, measured.front(), measured.back()) ? Evidence::interpolated
                                                           : Evidence::scaled;
}

Evidence evidence_inside(Collective collective, double size, const Paths& paths, const Node& node) {
  const auto* surface = surface_inside(collective, paths, node);
  if (surface == nullptr) return Evidence::physics;
  const auto sizes = surface->axes[1];
  const auto time = value_at(*surface, paths.ranks, std::clamp(size, sizes.front(), sizes.back()));
  if (!time) return Evidence::physics;
  const auto machine = surveyed(paths, node.nvlink);
  const auto& device = node.device;
  if (time->beyond || !same_size(machine.intra, paths.intra) ||
      !same_size(machine.start_up, paths.start_up) || !same_size(machine.ramp, paths.ramp) ||
      family_of(device.rates->name) != family_of(device.name))
    return Evidence::scaled;
  return weaker(among(surface->axes[0], paths.ranks), among(sizes, size));
}

}  // namespace

Evidence collective_evidence(Collective collective, units::Bytes size, const GroupShape& group,
                             const Cluster& cluster) {
  if (group.ranks == 1) return Evidence::physics;
  if (const auto* table = table_for(collective, group, cluster)) {
    std::vector<double> sizes;
    for (const auto& [measured, time] : table->points) sizes.push_back(measured.value);
    return among(sizes, size.value);
  }
  if (group.nodes > 1) return Evidence::physics;
  check_parts(group, cluster);
  auto weakest = Evidence::measured;
  for (std::size_t kind = 0; kind < cluster.kinds(); ++kind)
    if ((group.parts >> kind & 1) != 0)
      weakest =
          weaker(weakest, evidence_inside(collective, size.value, paths_of(group, cluster, kind),
                                          cluster.kind(kind)));
  return weakest;
}

Seconds collective_time(Collective collective, units::Bytes size, const GroupShape& group,
                        const Cluster& cluster) {
  if (group.ranks == 1) return {0};
  if (const auto* table = table_for(collective, group, cluster)) return interpolated(*table, size);
  return {modelled(collective, size.value, group, cluster).time};
}

CollectiveTimes::CollectiveTimes(const GroupShape& group, const Cluster& cluster) : group_(group) {
  if (group.ranks == 1) return;
  check_parts(group, cluster);
  for (std::size_t kind = 0; kind < cluster.kinds(); ++kind) {
    if ((group.parts >> kind & 1) == 0) continue;
    const auto& node = cluster.kind(kind);
    auto& part = parts_.emplace_back(Part{paths_of(group, cluster, kind), {}, {}});
    if (group.nodes > 1) continue;
    part.surveyed = surveyed(part.paths, node.nvlink);
    for (const auto& [word, collective] : words_of(Collective{}))
      part.surfaces[static_cast<std::size_t>(collective)] =
          surface_inside(collective, part.paths, node);
  }
  for (const auto& [word, collective] : words_of(Collective{}))
    tables_[static_cast<std::size_t>(collective)] = table_for(collective, group, cluster);
}

Seconds CollectiveTimes::of(Collective collective, units::Bytes size) const {
  if (group_.ranks == 1) return {0};
  const auto index = static_cast<std::size_t>(collective);
  if (tables_[index] != nullptr) return interpolated(*tables_[index], size);
  double slowest = 0;
  for (const auto& part : parts_)
    slowest = std::max(
        slowest,
        inside(collective, size.value, part.paths, part.surfaces[index], part.surveyed).time);
  return {slowest};
}

Sending collective_sending(Collective collective, units::Bytes size, const GroupShape& group,
                           const Cluster& cluster) {
  const double port = port_rate(group, cluster);
  if (group.ranks == 1) return sending({}, 0, port);
  const double bytes = port_bytes(collective, size.value, group, cluster);
  const auto held = processors_held(group, cluster);
  if (const auto* table = table_for(collective, group, cluster)) {
    const double time = interpolated(*table, size).value;
    return sending({time, std::min(time, bytes / port)}, bytes, port, held);
  }
  return sending(modelled(collective, size.value, group, cluster), bytes, port, held);
}

namespace {

bool same_node(std::int64_t from, std::int64_t to, const Cluster& cluster) {
  return from / cluster.node.gpus == to / cluster.node.gpus;
}

// Two GPUs as a group.
GroupShape pair_of(std::int64_t from, std::int64_t to, const Cluster& cluster, int sharing) {
  const int together = same_node(from, to, cluster) ? 2 : 1;
  return {.ranks = 2,
          .nodes = 3 - together,
          .least_per_node = together,
          .most_per_node = together,
          .sharing = sharing,
          .parts = part_of(from / cluster.node.gpus, cluster) |
                   part_of(to / cluster.node.gpus, cluster)};
}

// Whether two GPUs of a node meet over PCIe, because bridges join partners only.
bool over_pcie(std::int64_t from, std::int64_t to, const Cluster& cluster) {
  return same_node(from, to, cluster) && from / 2 != to / 2 &&
         cluster.node_of(from).nvlink.kind == NvLink::Kind::pairs;
}

Cost transfer_cost(units::Bytes size, std::int64_t from, std::int64_t to, const Cluster& cluster,
                   int sharing) {
  const auto pair = pair_of(from, to, cluster, sharing);
  return slowest_kind(pair.parts, cluster, [&](std::size_t kind) {
    auto paths = paths_of(pair, cluster, kind);
    if (over_pcie(from, to, cluster)) {
      paths.nvlink = false;
      paths.intra = cluster.kind(kind).pcie.bandwidth.value;
    }
    return message(size.value, paths);
  });
}

}  // namespace

Seconds transfer_time(units::Bytes size, std::int64_t from, std::int64_t to, const Cluster& cluster,
                      int sharing) {
  if (from == to) return {0};
  return {transfer_cost(size, from, to, cluster, sharing).time};
}

Sending transfer_sending(units::Bytes size, std::int64_t from, std::int64_t to,
                         const Cluster& cluster) {
  const auto pair = pair_of(from, to, cluster, 1);
  if (from == to) return sending({}, 0, port_rate(shape_of({&from, 1}, cluster), cluster));
  const double port = over_pcie(from, to, cluster) ? cluster.node_of(from).pcie.bandwidth.value
                                                   : port_rate(pair, cluster);
  return sending(transfer_cost(size, from, to, cluster, 1), size.value / ports_of(pair, cluster),
                 port, processors_held(pair, cluster));
}

}  // namespace topology
