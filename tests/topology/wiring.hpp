// SPDX-License-Identifier: Apache-2.0
// The cables of a cluster as a plain list, which graph.cpp makes a graph.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/topology/graph.hpp"

namespace oracle {

// A list of cables. Vertices are numbered in the order in which they are added: first the GPUs, so
// vertex i is GPU i. A cable is two links, one after the other: link i ^ 1 is the other direction
// of link i.
struct Wiring {
  struct Ends {
    std::uint32_t from, to;
  };
  std::vector<std::string> vertices;
  std::vector<Link> links;
  std::vector<Ends> ends;  // vertices of each link

  std::uint32_t add(std::string name);
  void join(std::uint32_t a, std::uint32_t b, Link::Kind kind, units::BytesPerSecond bandwidth,
            units::Seconds latency);
};

// One NIC of the cluster: its vertex and its place.
struct Plug {
  std::uint32_t vertex;
  std::int64_t node;
  int rail;  // number of the NIC in its node
};

// Adds the GPUs, NVLink, PCIe and NICs of every node. Throws std::invalid_argument on impossible
// numbers.
std::vector<Plug> wire_nodes(Wiring& wiring, const Cluster& cluster);

// Adds switches and their cables. A switch pair with several cables has one link of their sum; the
// core switches above one spine count as one. Throws where the fabric has too few tiers for the
// ports.
void wire_fabric(Wiring& wiring, const std::vector<Plug>& plugs, const Cluster& cluster);

}  // namespace oracle
