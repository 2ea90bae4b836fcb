// SPDX-License-Identifier: Apache-2.0
#include "topology/cluster.hpp"

#include <algorithm>

namespace topology {

std::size_t Cluster::kind_of_node(std::int64_t index) const {
  auto first = nodes();  // of the last kinds, walking backwards
  for (auto i = others.size(); i > 0; --i) {
    first -= others[i - 1].nodes;
    if (index >= first) return i;
  }
  return 0;
}

double Cluster::slowest_call_time() const {
  double slowest = node.host.call_time;
  for (const auto& part : others) slowest = std::max(slowest, part.node.host.call_time);
  return slowest;
}

double Cluster::slowdown_of(std::int64_t gpu) const {
  for (const auto& straggler : stragglers)
    if (std::ranges::binary_search(straggler.gpus, gpu)) return straggler.slowdown;
  return 1;
}

}  // namespace topology
