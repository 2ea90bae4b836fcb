// SPDX-License-Identifier: Apache-2.0
// The cluster as a graph of GPUs, switches and NICs, cable by cable, with routes: the oracle for
// the counts of topology/fabric_plan.hpp and the loads of topology/ports.hpp.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/cluster.hpp"
#include "units/quantity.hpp"

namespace oracle {

using topology::Cluster;
using topology::Fabric;
using topology::Node;
using topology::NvLink;

enum class LinkId : std::uint32_t {};

// One direction of a cable. A full-duplex cable is two links.
struct Link {
  enum class Kind { nvlink, pcie, nic, leaf_spine, spine_core };
  Kind kind;
  std::string from, to;  // vertex names: "gpu12", "nvswitch1", "nic1.3", "leaf0", "spine2"
  units::BytesPerSecond bandwidth;
  units::Seconds latency;
};

// The GPUs, NVLink or NVSwitch, PCIe, NICs, leaf and spine switches of one cluster. Invariant:
// every GPU reaches every other.
class Network {
 public:
  explicit Network(const Cluster& cluster);
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  const std::vector<Link>& links() const;
  // The links crossed from GPU to GPU, in order: a way of fewest hops, among these one that arrives
  // over NVLink, with ties broken by a fixed hash of the ends (deterministic equal-cost routing).
  // Empty when from == to. O(links) the first time per source. Throws std::invalid_argument if the
  // cluster has no such GPU.
  std::vector<LinkId> route(std::int64_t from_gpu, std::int64_t to_gpu) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace oracle
