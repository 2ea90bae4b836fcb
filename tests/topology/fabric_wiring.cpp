// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/topology/wiring.hpp"
#include "topology/fabric_counts.hpp"
#include "topology/paths.hpp"
#include "units/ceil_div.hpp"

namespace oracle {
namespace {

using LinkKind = Link::Kind;
using Switches = std::vector<std::uint32_t>;

using units::ceil_div;

class Weaver {
 public:
  Weaver(Wiring& wiring, const std::vector<Plug>& plugs, const Cluster& cluster)
      : wiring_(wiring),
        plugs_(plugs),
        cluster_(cluster),
        fabric_(cluster.fabric),
        rails_(cluster.node.nics.count),
        cable_(fabric_.link_bandwidth * fabric_.efficiency) {}

  void single_switch() {
    const auto hub = wiring_.add("leaf0");
    for (const auto& nic : plugs_) plug(nic, hub);
  }

  void rail_only() {
    const auto leaves = add("leaf", rails_);
    for (const auto& nic : plugs_) plug(nic, leaves[static_cast<std::size_t>(nic.rail)]);
  }

  // Wires a fat tree. The ports of a switch are split down to up as the oversubscription of its
  // tier says.
  void fat_tree(bool rails) {
    const auto [down, up] = topology::leaf_ports(fabric_);
    const auto leaves = leaves_for(down, rails);
    const int tiers = topology::tiers_needed(std::ssize(leaves), fabric_);
    if (tiers == 1) return;
    if (tiers > 3) throw std::invalid_argument("a fabric of more than three tiers is not drawn");
    if (tiers == 2) {
      const auto spines =
          add("spine", std::max<std::int64_t>(1, ceil_div(std::ssize(leaves) * up, fabric_.radix)));
      trunk(leaves, spines, up);
    } else {
      pods(leaves, up);
    }
  }

  // Wires a dragonfly. Leaves and spines of a group are joined all to all, and spine i of a group
  // to spine i of all others, sharing the spine's other ports.
  void dragonfly_plus() {
    const int half = std::max(1, fabric_.radix / 2);
    const auto leaves = leaves_for(half, false);
    const auto groups = ceil_div(std::ssize(leaves), half);
    const auto spines = add("spine", groups * half);
    for (std::int64_t g = 0; g < groups; ++g)
      trunk(part(leaves, g * half, half), part(spines, g * half, half), half);
    for (std::int64_t a = 0; a < groups; ++a)
      for (std::int64_t b = a + 1; b < groups; ++b)
        for (std::int64_t i = 0; i < half; ++i)
          join(spines[static_cast<std::size_t>(a * half + i)],
               spines[static_cast<std::size_t>(b * half + i)], LinkKind::spine_core,
               static_cast<double>(half) / static_cast<double>(groups - 1));
  }

  // Wires a torus of one router per node; the nodes fill the box of least circumference that holds
  // them exactly.
  void torus_3d() {
    const std::int64_t nodes = cluster_.nodes();
    const auto routers = add("leaf", nodes);
    for (const auto& nic : plugs_) plug(nic, routers[static_cast<std::size_t>(nic.node)]);
    const auto [x, y, z] = topology::torus_box(nodes);
    ring(routers, x, 1);
    ring(routers, y, x);
    ring(routers, z, x * y);
  }

 private:
  Switches add(const char* name, std::int64_t count) {
    Switches switches;
    for (std::int64_t i = 0; i < count; ++i)
      switches.push_back(wiring_.add(name + std::to_string(i)));
    return switches;
  }

  static Switches part(const Switches& all, std::int64_t from, std::int64_t count) {
    const auto end = std::min<std::int64_t>(std::ssize(all), from + count);
    return {all.begin() + from, all.begin() + std::max(from, end)};
  }

  void plug(const Plug& nic, std::uint32_t to) {
    wiring_.join(nic.vertex, to, LinkKind::nic, units::BytesPerSecond{nic_rate(cluster_)},
                 cluster_.node.nics.latency);
  }

  void join(std::uint32_t a, std::uint32_t b, LinkKind kind, double cables) {
    wiring_.join(a, b, kind, cables * cable_, fabric_.latency);
  }

  // Adds leaves with `down` ports for NICs. By rail, every leaf takes one NIC of each of `down`
  // nodes, or of several rails of fewer nodes; otherwise whole nodes share leaves.
  Switches leaves_for(int down, bool rails) {
    const std::int64_t nodes = cluster_.nodes();
    const auto counted = topology::leaves_of(nodes, rails_, down, rails);
    const auto leaves = add("leaf", counted.count);
    for (const auto& nic : plugs_) {
      const std::int64_t block = nic.node / counted.block_nodes;
      plug(nic, leaves[static_cast<std::size_t>(block * counted.in_block() +
                                                nic.rail / counted.leaf_rails)]);
    }
    return leaves;
  }

  // Spreads the `up` cables of every leaf evenly over the spines.
  void trunk(const Switches& leaves, const Switches& spines, int up) {
    const double cables = static_cast<double>(up) / static_cast<double>(spines.size());
    for (const auto leaf : leaves)
      for (const auto spine : spines) join(leaf, spine, LinkKind::leaf_spine, cables);
  }

  void pods(const Switches& leaves, int up) {
    const std::int64_t half = std::max(1, fabric_.radix / 2);
    const std::int64_t count = ceil_div(std::ssize(leaves), half);
    const auto spines = add("spine", count * up);
    const auto cores = add("core", up);
    for (std::int64_t p = 0; p < count; ++p) {
      const auto mine = part(spines, p * up, up);
      trunk(part(leaves, p * half, half), mine, up);
      for (std::size_t i = 0; i < mine.size(); ++i)
        join(mine[i], cores[i], LinkKind::spine_core,
             static_cast<double>(half) / topology::oversubscription(fabric_, 1));
    }
  }

  // Closes `size` routers that lie `stride` apart into rings.
  void ring(const Switches& routers, std::int64_t size, std::int64_t stride) {
    if (size < 2) return;
    for (std::int64_t at = 0; at < std::ssize(routers); ++at) {
      const std::int64_t place = at / stride % size;
      if (size == 2 && place == 1) continue;  // two routers have one cable, not one each way round
      const std::int64_t next = at + ((place + 1) % size - place) * stride;
      join(routers[static_cast<std::size_t>(at)], routers[static_cast<std::size_t>(next)],
           LinkKind::leaf_spine, 1);
    }
  }

  Wiring& wiring_;
  const std::vector<Plug>& plugs_;
  const Cluster& cluster_;
  const Fabric& fabric_;
  int rails_;
  units::BytesPerSecond cable_;
};

}  // namespace

void wire_fabric(Wiring& wiring, const std::vector<Plug>& plugs, const Cluster& cluster) {
  if (plugs.empty()) return;
  Weaver weaver(wiring, plugs, cluster);
  switch (cluster.fabric.kind) {
    case Fabric::Kind::single_switch:
      return weaver.single_switch();
    case Fabric::Kind::rail_only:
      return weaver.rail_only();
    case Fabric::Kind::fat_tree:
      return weaver.fat_tree(false);
    case Fabric::Kind::rail_fat_tree:
      return weaver.fat_tree(true);
    case Fabric::Kind::dragonfly_plus:
      return weaver.dragonfly_plus();
    case Fabric::Kind::torus_3d:
      return weaver.torus_3d();
  }
}

}  // namespace oracle
