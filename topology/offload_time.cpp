// SPDX-License-Identifier: Apache-2.0
#include "topology/offload_time.hpp"

#include <algorithm>

namespace topology {

// A vectorised loop over long arrays reaches 0.5 to 0.7 of the host's memory bandwidth (mem).
constexpr double streaming_share = 0.6;

units::Seconds offload_time(const OffloadWork& work, const Cluster& cluster, std::size_t kind) {
  const auto& node = cluster.kind(kind);
  const auto gpus = static_cast<double>(std::min<std::int64_t>(node.gpus, cluster.gpus));
  units::Seconds time;
  const auto also = [&](units::Seconds part) { time = std::max(time, part); };
  if (work.moved.value > 0) {
    also(node.pcie.latency + work.moved / node.pcie.bandwidth);
    if (node.host.memory_bandwidth.value > 0) also(gpus * work.moved / node.host.memory_bandwidth);
  }
  if (work.touched.value > 0)
    also(gpus * work.touched / (streaming_share * node.host.memory_bandwidth));
  units::Seconds drives;
  if (work.read.value > 0) drives += gpus * work.read / node.nvme.read;
  if (work.written.value > 0) drives += gpus * work.written / node.nvme.write;
  also(drives);
  return time;
}

}  // namespace topology
