// SPDX-License-Identifier: Apache-2.0
// The ports that messages on a cluster share: those of GPUs and NICs, and the cables above switches
// if they can be too few.
//
// A port carries its capacity in each direction. The cables from one switch to the tier above count
// as one port: routing spreads over them evenly (adaptive, or by equal-cost hashing of many flows).
// Tiers that can carry whatever comes from below bind nobody and are left out. A torus routes by
// dimension, x before y before z, the shorter way round.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/fabric_counts.hpp"

namespace topology {

struct Port {
  enum class Kind : std::uint8_t { nvlink, pcie, nic, leaf_spine, spine_core, torus };
  Kind kind = Kind::nic;
  bool out = true;         // away from the GPU: upwards
  std::int64_t index = 0;  // of the GPU; the NIC (node × NICs + its number); the leaf; the pod or
                           // dragonfly group; the torus link (6 × node + 2 × dimension + backwards)
  friend auto operator<=>(const Port&, const Port&) = default;
};

std::string_view to_text(Port::Kind kind);  // "nvlink", "leaf_spine"

// A port that a message or collective crosses, and how many of its shares cross it.
struct PortUse {
  Port port;
  std::uint32_t times = 1;
  friend bool operator==(const PortUse&, const PortUse&) = default;
};

class Ports {
 public:
  // Throws std::invalid_argument where a degraded link does not exist, or where links that failed
  // cut a GPU off. The cluster must outlive it. O(degraded links).
  explicit Ports(const Cluster& cluster);
  explicit Ports(Cluster&&) = delete;

  // Bytes per second, each way.
  double capacity(const Port& port) const;
  // "nic3.2:out": NIC 2 of node 3, towards the fabric; "gpu17.nvlink:in"; "leaf4:up"; "pod0:down";
  // "node5.x+" (torus). A link that degrades may leave out the direction: both; or name one cable:
  // "leaf4-spine1".
  std::string name(const Port& port) const;
  // A complaint about the name of a link, with the nearest name that exists; nothing if the link
  // exists.
  std::optional<std::string> complaint(std::string_view link) const;
  // Whether two names mean the same port or a part of it, other than two cables of one.
  bool overlap(std::string_view a, std::string_view b) const;

  // Adds the ports that one message crosses, per NIC that it uses; a port may be added twice. Adds
  // nothing if from == to.
  void message(std::int64_t from, std::int64_t to, std::vector<PortUse>& uses) const;
  // Adds the ports that the members of one node cross in a ring: `here` all lie on one node,
  // `before` and `after` on the nodes from which and to which the ring passes; both are empty where
  // the group has only this node. `nics` as ports_of (collective.hpp). Bytes are counted per NIC
  // used.
  void ring_part(std::span<const std::int64_t> before, std::span<const std::int64_t> here,
                 std::span<const std::int64_t> after, int nics, std::vector<PortUse>& uses) const;

  // Adds the ports that an all-to-all crosses in a group on several nodes: `nodes` are its members,
  // node by node. Every member sends one message to every other; messages that leave a node spread
  // evenly over `nics` of its NICs, by rail after they went over NVLink to the GPU next to the
  // receiver's rail. Uses are counted in shares of a message, `nics` of each; returns the number of
  // shares that pass each NIC of the fullest node, each way. O(members · GPUs of a node); on a
  // torus O(nodes² · hops).
  std::uint32_t all_to_all(std::span<const std::vector<std::int64_t>> nodes, int nics,
                           std::vector<PortUse>& uses) const;

  // The number of consecutive nodes that share ports of switches with no others: to exchange one
  // such unit for another changes nothing. 0: there is no such number below the whole cluster.
  std::int64_t unit() const { return unit_; }
  // The lowest GPU behind a port.
  std::int64_t lowest_gpu(const Port& port) const;
  // A port that does not carry what it should: its number among those of its kind and direction
  // behind the same lowest GPU, and the share that is left.
  struct Degraded {
    Port port;
    std::int64_t number = 0;
    double factor = 1;
  };
  std::vector<Degraded> degraded() const;

 private:
  struct Named {  // one link name, understood
    std::vector<Port> ports;
    double share = 1;        // of the ports' capacity that the link is
    std::string_view cable;  // "spine2": the other end, where it is one cable
  };
  void count_switches();
  void find_unit();
  void degrade();
  void check_connected() const;

  std::optional<Named> named(std::string_view link) const;
  std::optional<Port> taken(std::string_view& text) const;
  std::optional<double> share_to(const Port& port, std::string_view& text) const;

  double sound_capacity(const Port& port) const;
  std::int64_t number_of(const Port& port) const;
  // The place of a NIC's leaf among those of its block.
  std::int64_t place_of_leaf(std::int64_t nic) const {
    return nic % cluster_.node.nics.count / leaves_.leaf_rails;
  }
  std::int64_t leaf_of(std::int64_t nic) const;
  std::int64_t pod_of(std::int64_t leaf) const { return leaf / pod_leaves_; }
  // The NICs next to the GPUs, each once, at most `most`; the next that works instead of one that
  // failed.
  std::vector<std::int64_t> nics_near(std::span<const std::int64_t> gpus, std::size_t most) const;
  // Adds the flows of an all-to-all on one node.
  void pass_on(std::span<const std::int64_t> here, std::span<const std::int64_t> elsewhere_at,
               std::int64_t nics, std::vector<PortUse>& uses) const;
  bool linked(std::int64_t a, std::int64_t b) const;
  // Whether the GPU's way to its NIC counts: it is shared with its neighbours, or degraded.
  bool counts_pcie(std::int64_t gpu, bool out) const;
  bool failed(const Port& port) const;
  void across(std::int64_t from_nic, std::int64_t to_nic, bool leaves, bool enters,
              std::vector<PortUse>& uses) const;
  void around(std::int64_t from_node, std::int64_t to_node, std::vector<PortUse>& uses) const;

  const Cluster& cluster_;
  std::map<Port, double> factor_;  // of those that are degraded
  bool rails_ = false, torus_ = false;
  bool leaves_bind_ = false, pods_bind_ = false;
  Leaves leaves_{.block_nodes = 1, .blocks = 1, .leaf_rails = 1, .count = 1};
  std::int64_t spines_ = 0, pod_leaves_ = 1, pods_ = 0;  // spines of a leaf; pods 0: there are none
  std::array<std::int64_t, 3> box_{1, 1, 1};
  double leaf_capacity_ = 0, pod_capacity_ = 0;  // of all cables upwards; 0: there are none
  std::int64_t unit_ = 1;
};

}  // namespace topology
