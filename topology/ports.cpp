// SPDX-License-Identifier: Apache-2.0
#include "topology/ports.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "topology/fabric_counts.hpp"
#include "topology/paths.hpp"
#include "units/ceil_div.hpp"

namespace topology {
namespace {

using PortKind = Port::Kind;

using units::ceil_div;

void add_use(std::vector<PortUse>& uses, const Port& port, std::size_t times = 1) {
  uses.push_back({port, static_cast<std::uint32_t>(times)});
}

std::string numbered(const char* what, std::int64_t number) {
  return what + std::to_string(number);
}

// A GPU's port to another GPU of its node: NVLink where it joins the two, else PCIe.
Port local(std::int64_t gpu, bool out, bool linked) {
  return {linked ? PortKind::nvlink : PortKind::pcie, out, gpu};
}

// Whether a GPU reaches its NIC and its neighbours over one port.
bool on_pcie_only(const Cluster& cluster, std::int64_t gpu) {
  const auto kind = cluster.node_of(gpu).nvlink.kind;
  return kind == NvLink::Kind::none || kind == NvLink::Kind::pairs;
}

}  // namespace

std::string_view to_text(Port::Kind kind) {
  constexpr std::array<std::string_view, 6> names{"nvlink",     "pcie",       "nic",
                                                  "leaf_spine", "spine_core", "torus"};
  return names[static_cast<std::size_t>(kind)];
}

Ports::Ports(const Cluster& cluster) : cluster_(cluster) {
  if (cluster.nodes() > 1) {
    count_switches();
    find_unit();
  }
  degrade();
  check_connected();
  if (cluster.nodes() > 1) find_unit();
}

// Switches and their capacities as tests/topology/fabric_wiring.cpp wires them.
void Ports::count_switches() {
  const auto& fabric = cluster_.fabric;
  const std::int64_t nics = cluster_.node.nics.count, nodes = cluster_.nodes();
  const double cable = fabric.link_bandwidth.value * fabric.efficiency;
  const std::int64_t half = std::max(1, fabric.radix / 2);
  const auto count_leaves = [&](int ports_down) {
    leaves_ = leaves_of(nodes, nics, ports_down, rails_);
  };
  switch (fabric.kind) {
    case Fabric::Kind::single_switch:
    case Fabric::Kind::rail_only:
      rails_ = fabric.kind == Fabric::Kind::rail_only;
      leaves_ = {nodes, 1, rails_ ? 1 : nics, rails_ ? nics : 1};
      break;
    case Fabric::Kind::torus_3d: {
      torus_ = true;
      const auto box = torus_box(nodes);
      box_ = {box.x, box.y, box.z};
      break;
    }
    case Fabric::Kind::dragonfly_plus:
      count_leaves(static_cast<int>(half));
      pod_leaves_ = half;
      pods_ = ceil_div(leaves_.count, half);
      spines_ = half;
      leaf_capacity_ = static_cast<double>(half) * cable;
      pod_capacity_ = leaf_capacity_ * static_cast<double>(half);
      break;
    case Fabric::Kind::fat_tree:
    case Fabric::Kind::rail_fat_tree: {
      rails_ = fabric.kind == Fabric::Kind::rail_fat_tree;
      const auto [down, up] = leaf_ports(fabric);
      count_leaves(down);
      const int tiers = tiers_needed(leaves_.count, fabric);
      if (tiers == 1) break;
      leaf_capacity_ = up * cable;
      spines_ =
          tiers == 2 ? std::max<std::int64_t>(1, ceil_div(leaves_.count * up, fabric.radix)) : up;
      if (tiers == 2) break;
      // Tiers above the third are taken as wide enough.
      const double over = oversubscription(fabric, 1);
      pod_leaves_ = half;
      pods_ = ceil_div(leaves_.count, half);
      pod_capacity_ = leaf_capacity_ * static_cast<double>(half) / over;
    }
  }
  if (torus_ || leaf_capacity_ == 0) return;
  const auto on_leaf = std::min(leaves_.block_nodes, nodes) * leaves_.leaf_rails;
  double below = 0;
  for (std::size_t i = 0; i < cluster_.kinds(); ++i)
    below = std::max(below, static_cast<double>(on_leaf) * nic_rate(cluster_, i));
  constexpr double enough = 1 - 1e-9;
  leaves_bind_ = leaf_capacity_ < below * enough;
  const double from_pod = static_cast<double>(pod_leaves_) * std::min(below, leaf_capacity_);
  pods_bind_ = pods_ > 1 && pod_capacity_ < from_pod * enough;
}

void Ports::find_unit() {
  unit_ = 1;
  if (leaves_bind_) unit_ = leaves_.block_nodes;
  if (pods_bind_) {
    unit_ = pod_leaves_ % leaves_.in_block() == 0
                ? pod_leaves_ / leaves_.in_block() * leaves_.block_nodes
                : 0;
  }
  if (torus_) unit_ = 0;
}

void Ports::degrade() {
  for (const auto& [link, factor] : cluster_.degraded_links) {
    if (const auto wrong = complaint(link)) throw std::invalid_argument(*wrong);
    const auto what = *named(link);
    for (const auto& port : what.ports) {
      auto& left = factor_.try_emplace(port, 1.0).first->second;
      left = std::max(0.0, left - what.share * (1 - factor));
      leaves_bind_ = leaves_bind_ || port.kind == PortKind::leaf_spine;
      pods_bind_ = pods_bind_ || port.kind == PortKind::spine_core;
    }
  }
}

bool Ports::failed(const Port& port) const {
  const auto found = factor_.find(port);
  return found != factor_.end() && found->second <= 0;
}

void Ports::check_connected() const {
  const auto cut_off = [](const std::string& what) {
    throw std::invalid_argument("the links that failed cut " + what +
                                " off from the rest of the cluster");
  };
  for (const auto& [port, left] : factor_) {
    if (left > 0) continue;
    if (port.kind == PortKind::torus)
      throw std::invalid_argument(
          "the routes of a torus do not go round a link that failed: give " + name(port) +
          " a factor above zero");
    const bool spare =
        port.kind == PortKind::nvlink && on_pcie_only(cluster_, port.index);  // PCIe remains
    if (spare) continue;
    if (port.kind != PortKind::nic) cut_off(name(port).substr(0, name(port).find_first_of(".:")));
    const std::int64_t count = cluster_.node.nics.count, node = port.index / count;
    bool works = false;
    for (std::int64_t nic = node * count; nic < (node + 1) * count; ++nic)
      works = works || !(failed({PortKind::nic, true, nic}) || failed({PortKind::nic, false, nic}));
    if (!works) cut_off(numbered("node ", node));
  }
}

double Ports::sound_capacity(const Port& port) const {
  const auto& fabric = cluster_.fabric;
  switch (port.kind) {
    case PortKind::nvlink: {
      const auto& nvlink = cluster_.node_of(port.index).nvlink;
      return nvlink.bandwidth.value * nvlink.efficiency;
    }
    case PortKind::pcie:
      return cluster_.node_of(port.index).pcie.bandwidth.value;
    case PortKind::nic: {
      const auto node = port.index / cluster_.node.nics.count;
      return nic_rate(cluster_, cluster_.kind_of_node(node));
    }
    case PortKind::leaf_spine:
      return leaf_capacity_;
    case PortKind::spine_core:
      return pod_capacity_;
    case PortKind::torus:
      return fabric.link_bandwidth.value * fabric.efficiency;
  }
  return 0;
}

double Ports::capacity(const Port& port) const {
  const auto degraded = factor_.find(port);
  return sound_capacity(port) * (degraded == factor_.end() ? 1.0 : degraded->second);
}

std::int64_t Ports::lowest_gpu(const Port& port) const {
  const std::int64_t per_node = cluster_.node.gpus;
  const auto of_leaf = [&](std::int64_t leaf) {
    return leaf / leaves_.in_block() * leaves_.block_nodes * per_node;
  };
  switch (port.kind) {
    case PortKind::nvlink:
    case PortKind::pcie:
      return port.index;
    case PortKind::nic:
      return port.index / cluster_.node.nics.count * per_node;
    case PortKind::leaf_spine:
      return of_leaf(port.index);
    case PortKind::spine_core:
      return of_leaf(port.index * pod_leaves_);
    case PortKind::torus:
      return port.index / 6 * per_node;
  }
  return 0;
}

std::int64_t Ports::number_of(const Port& port) const {
  switch (port.kind) {
    case PortKind::nvlink:
    case PortKind::pcie:
      return 0;
    case PortKind::nic:
      return port.index % cluster_.node.nics.count;
    case PortKind::leaf_spine:
      return port.index % leaves_.in_block();
    case PortKind::spine_core:
      return port.index;
    case PortKind::torus:
      return port.index % 6;
  }
  return 0;
}

std::vector<Ports::Degraded> Ports::degraded() const {
  std::vector<Degraded> all;
  for (const auto& [port, left] : factor_) all.push_back({port, number_of(port), left});
  return all;
}

std::int64_t Ports::leaf_of(std::int64_t nic) const {
  const std::int64_t count = cluster_.node.nics.count;
  const auto block = nic / count / leaves_.block_nodes;
  return block * leaves_.in_block() + place_of_leaf(nic);
}

std::vector<std::int64_t> Ports::nics_near(std::span<const std::int64_t> gpus,
                                           std::size_t most) const {
  const std::int64_t count = cluster_.node.nics.count, per_node = cluster_.node.gpus;
  const auto first = gpus.front() / per_node * count;
  const auto works = [&](std::int64_t nic) {
    return !failed({PortKind::nic, true, nic}) && !failed({PortKind::nic, false, nic});
  };
  std::vector<std::int64_t> near;
  for (const auto gpu : gpus) {
    const auto at = gpu % per_node;
    // NIC j serves GPU i where j · GPUs / NICs = i, or, with fewer NICs, i · NICs / GPUs = j.
    auto nic = count >= per_node ? ceil_div(at * count, per_node) : at * count / per_node;
    for (; nic < count && near.size() < most; ++nic) {
      if (std::ranges::find(near, first + nic) == near.end()) near.push_back(first + nic);
      const bool next_serves = count >= per_node && (nic + 1) * per_node / count == at;
      if (!next_serves) break;
    }
  }
  if (!factor_.empty())
    for (auto& nic : near)
      while (!works(nic)) nic = first + (nic - first + 1) % count;
  return near;
}

bool Ports::linked(std::int64_t a, std::int64_t b) const {
  switch (cluster_.node_of(a).nvlink.kind) {
    case NvLink::Kind::nvswitch:
    case NvLink::Kind::mesh:
      return true;
    case NvLink::Kind::pairs:
      return a / 2 == b / 2 && !failed({PortKind::nvlink, true, a}) &&
             !failed({PortKind::nvlink, false, b});
    case NvLink::Kind::none:
      return false;
  }
  return false;
}

bool Ports::counts_pcie(std::int64_t gpu, bool out) const {
  return on_pcie_only(cluster_, gpu) || factor_.contains({PortKind::pcie, out, gpu});
}

void Ports::message(std::int64_t from, std::int64_t to, std::vector<PortUse>& uses) const {
  if (from == to) return;
  const std::int64_t per_node = cluster_.node.gpus;
  if (from / per_node == to / per_node) {
    add_use(uses, local(from, true, linked(from, to)));
    add_use(uses, local(to, false, linked(from, to)));
    return;
  }
  // By rail a message goes to the GPU next to the receiver's rail first, over NVLink.
  auto leaves_at = from;
  if (rails_ && cluster_.node_of(from).nvlink.kind == NvLink::Kind::nvswitch)
    leaves_at = from / per_node * per_node + to % per_node;
  const auto out = nics_near({&leaves_at, 1}, ~std::size_t{0});
  const auto in = nics_near({&to, 1}, ~std::size_t{0});
  if (leaves_at != from && out.front() % cluster_.node.nics.count !=
                               nics_near({&from, 1}, 1).front() % cluster_.node.nics.count) {
    add_use(uses, local(from, true, true), out.size());
    add_use(uses, local(leaves_at, false, true), out.size());
  }
  if (counts_pcie(leaves_at, true)) add_use(uses, {PortKind::pcie, true, leaves_at}, out.size());
  if (counts_pcie(to, false)) add_use(uses, {PortKind::pcie, false, to}, out.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    add_use(uses, {PortKind::nic, true, out[c]});
    across(out[c], in[c % in.size()], true, true, uses);
    add_use(uses, {PortKind::nic, false, in[c % in.size()]});
  }
}

void Ports::ring_part(std::span<const std::int64_t> before, std::span<const std::int64_t> here,
                      std::span<const std::int64_t> after, int nics,
                      std::vector<PortUse>& uses) const {
  const auto members = here.size();
  const bool alone = before.empty();
  const bool paired = cluster_.node_of(here.front()).nvlink.kind == NvLink::Kind::pairs &&
                      members <= 2 && linked(here.front(), here.back());
  const bool by_nvlink = !on_pcie_only(cluster_, here.front()) || paired;
  // Each channel leaves out one of the hops between members, where it goes through the NIC.
  const auto channels = static_cast<std::size_t>(nics);
  const auto inside = alone ? 1 : (channels * (members - 1) + members - 1) / members;
  const auto times = by_nvlink ? inside : alone ? 1 : channels;
  for (const auto gpu : here)
    for (const bool out : {true, false}) {
      if (times > 0 && (members > 1 || !by_nvlink))
        add_use(uses, local(gpu, out, by_nvlink), times);
      // Each NIC is reached by the members next to it.
      if (!alone && by_nvlink && counts_pcie(gpu, out))
        add_use(uses, {PortKind::pcie, out, gpu}, (channels + members - 1) / members);
    }
  if (alone) return;
  const auto own = nics_near(here, channels);
  const auto from = nics_near(before, channels), to = nics_near(after, channels);
  for (std::size_t c = 0; c < own.size(); ++c) {
    add_use(uses, {PortKind::nic, true, own[c]});
    across(own[c], to[c % to.size()], true, false, uses);
    add_use(uses, {PortKind::nic, false, own[c]});
    across(from[c % from.size()], own[c], false, true, uses);
  }
}

// Adds the ports above the NICs that are crossed on the way up, and on the way down.
void Ports::across(std::int64_t from_nic, std::int64_t to_nic, bool leaves, bool enters,
                   std::vector<PortUse>& uses) const {
  if (torus_) {
    if (leaves)
      around(from_nic / cluster_.node.nics.count, to_nic / cluster_.node.nics.count, uses);
    return;
  }
  if (!leaves_bind_ && !pods_bind_) return;
  const auto from = leaf_of(from_nic), to = leaf_of(to_nic);
  if (from == to) return;
  if (leaves_bind_ && leaves) add_use(uses, {PortKind::leaf_spine, true, from});
  if (leaves_bind_ && enters) add_use(uses, {PortKind::leaf_spine, false, to});
  if (!pods_bind_ || pod_of(from) == pod_of(to)) return;
  if (leaves) add_use(uses, {PortKind::spine_core, true, pod_of(from)});
  if (enters) add_use(uses, {PortKind::spine_core, false, pod_of(to)});
}

void Ports::around(std::int64_t from, std::int64_t to, std::vector<PortUse>& uses) const {
  std::int64_t stride = 1, at = from;
  for (std::int64_t dimension = 0; dimension < 3; ++dimension) {
    const auto size = box_[static_cast<std::size_t>(dimension)];
    const auto forward = (to / stride % size - at / stride % size + size) % size;
    const bool back = forward > size - forward;
    for (auto hops = back ? size - forward : forward; hops > 0; --hops) {
      add_use(uses, {PortKind::torus, true, 6 * at + 2 * dimension + (back ? 1 : 0)});
      const auto place = at / stride % size;
      at += ((place + (back ? size - 1 : 1)) % size - place) * stride;
    }
    stride *= size;
  }
}

}  // namespace topology
