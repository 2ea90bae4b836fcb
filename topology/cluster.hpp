// SPDX-License-Identifier: Apache-2.0
// Nodes joined by a fabric, as they are described.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/device.hpp"
#include "units/quantity.hpp"

namespace topology {

struct NvLink {
  enum class Kind { nvswitch, mesh, pairs, none };
  Kind kind = Kind::nvswitch;
  units::BytesPerSecond bandwidth;  // per GPU and direction, as specified
  units::Seconds latency{1e-6};     // one hop, GPU to GPU
  double efficiency = 0.8;          // payload over specified bandwidth
  bool multicast = false;           // reduction inside the switch (NVLS)
  // The cost of every collective beyond its hops, and how slowly it gains speed with size. Absent:
  // the values of the GPU's generation (collective_constants.hpp).
  std::optional<units::Seconds> launch;
  std::optional<double> ramp;
  friend bool operator==(const NvLink&, const NvLink&) = default;
};

struct Pcie {
  units::BytesPerSecond bandwidth{25e9};  // per GPU and direction, practical
  units::Seconds latency{1e-6};
  friend bool operator==(const Pcie&, const Pcie&) = default;
};

struct Nics {
  int count = 0;
  units::BytesPerSecond bandwidth;  // per NIC and direction
  units::Seconds latency{1e-6};
  friend bool operator==(const Nics&, const Nics&) = default;
};

struct Host {
  units::Bytes memory;
  units::BytesPerSecond memory_bandwidth;
  // Its time for a call of a training framework over that of the x86 servers to which the times of
  // software profiles are fitted.
  double call_time = 1;
  friend bool operator==(const Host&, const Host&) = default;
};

struct Nvme {
  units::Bytes capacity;
  units::BytesPerSecond read, write;
  friend bool operator==(const Nvme&, const Nvme&) = default;
};

struct Node {
  std::string name;
  int gpus = 8;
  int tray = 0;  // GPUs of a compute tray, where several make up what NVLink joins; 0: it is one
  Device device;
  NvLink nvlink;
  Pcie pcie;
  Nics nics;
  Host host;
  Nvme nvme;
  units::Watts power;
  units::Money price;
  std::string usual_fabric;  // catalog name, used when a cluster names none
  friend bool operator==(const Node&, const Node&) = default;
};

enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce };

// Results of nccl-tests on this fabric for groups of one shape.
struct MeasuredCollective {
  Collective collective = Collective::all_reduce;
  int ranks = 2, nodes = 1;
  std::vector<std::pair<units::Bytes, units::Seconds>> points;  // sizes rise; never empty
  friend bool operator==(const MeasuredCollective&, const MeasuredCollective&) = default;
};

struct Fabric {
  enum class Kind { fat_tree, rail_fat_tree, rail_only, dragonfly_plus, torus_3d, single_switch };
  std::string name;
  Kind kind = Kind::rail_fat_tree;
  units::BytesPerSecond link_bandwidth;  // per link and direction
  units::Seconds latency{1e-6};          // per hop
  std::optional<int> tiers;              // absent: as many as the size needs
  int radix = 40;                        // ports per switch
  std::vector<double> oversubscription;  // per tier, lowest first; empty: 1
  double efficiency = 0.9;               // payload over link rate
  bool collectives_in_network = false;   // SHARP
  units::Seconds launch{0};              // software adds it to a collective between nodes
  std::optional<double> ramp;            // as NvLink::ramp, between nodes; absent: network_ramp
  units::Watts switch_power;             // of one switch; 0 = not known
  units::Money switch_price;
  std::vector<MeasuredCollective> measured;
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

// GPUs of one kind of node among several.
struct Part {
  Node node;
  std::int64_t nodes = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

// These GPUs compute slower than their kind does: every kernel takes `slowdown` times as long.
struct Straggler {
  std::vector<std::int64_t> gpus;  // ascending
  double slowdown = 1;             // at least 1
  friend bool operator==(const Straggler&, const Straggler&) = default;
};

// A link that carries `factor` of what it should; 0: it has failed. Names: ports.hpp.
struct DegradedLink {
  std::string link;
  double factor = 1;
  friend bool operator==(const DegradedLink&, const DegradedLink&) = default;
};

// GPUs are numbered node by node: GPU i sits in node i / node.gpus.
struct Cluster {
  Node node;
  std::int64_t gpus = 0;
  Fabric fabric;
  double memory_fraction = 1.0;
  std::vector<Part> others;  // the last nodes, where they are of other kinds; as many GPUs in each
  std::vector<Straggler> stragglers;
  std::vector<DegradedLink> degraded_links;

  std::int64_t nodes() const { return (gpus + node.gpus - 1) / node.gpus; }
  // Kinds of node: 0 is `node`, i is others[i - 1].
  std::size_t kinds() const { return 1 + others.size(); }
  const Node& kind(std::size_t i) const { return i == 0 ? node : others[i - 1].node; }
  std::size_t kind_of_node(std::int64_t index) const;
  const Node& node_of(std::int64_t gpu) const { return kind(kind_of_node(gpu / node.gpus)); }
  double slowdown_of(std::int64_t gpu) const;  // 1 for most
  // Host::call_time of the slowest kind of node, for which the ranks on all others wait.
  double slowest_call_time() const;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

}  // namespace topology
