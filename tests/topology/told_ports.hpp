// SPDX-License-Identifier: Apache-2.0
// The ports that a message or a part of a ring uses, in words: "gpu0.nvlink:out 2*node0.nic1:in".
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "topology/ports.hpp"

namespace told_ports {

using topology::Cluster, topology::Ports, topology::PortUse;
using Gpus = std::vector<std::int64_t>;

inline std::string told(const Ports& ports, const std::vector<PortUse>& uses) {
  std::string text;
  for (const auto& [port, times] : uses) {
    if (!text.empty()) text += ' ';
    if (times > 1) text += std::to_string(times) + "*";
    text += ports.name(port);
  }
  return text;
}

inline std::string message(const Cluster& cluster, std::int64_t from, std::int64_t to) {
  const Ports ports(cluster);
  std::vector<PortUse> uses;
  ports.message(from, to, uses);
  return told(ports, uses);
}

inline std::string ring_part(const Cluster& cluster, const Gpus& before, const Gpus& here,
                             const Gpus& after, int nics) {
  const Ports ports(cluster);
  std::vector<PortUse> uses;
  ports.ring_part(before, here, after, nics, uses);
  return told(ports, uses);
}

}  // namespace told_ports
