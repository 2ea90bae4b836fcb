// SPDX-License-Identifier: Apache-2.0
#include "forecast/costs.hpp"

#include <algorithm>

#include "topology/collective.hpp"
#include "topology/kernel_time.hpp"

namespace forecast {

namespace {

// Over the GPU's own way to the host, and through its share of the host's memory.
units::Seconds host_copy_time(units::Bytes size, const topology::Node& node) {
  auto rate = node.pcie.bandwidth;
  if (node.host.memory_bandwidth.value > 0)
    rate = std::min(rate, node.host.memory_bandwidth / static_cast<double>(node.gpus));
  return node.pcie.latency + size / rate;
}

}  // namespace

strategies::Costs costs_on(const topology::Cluster& cluster) {
  return {.kernel =
              [&](const units::Kernel& kernel, const strategies::Gpu& gpu) {
                return gpu.slowdown * topology::kernel_time(kernel, cluster.kind(gpu.kind).device);
              },
          .collective =
              [&](topology::Collective kind, units::Bytes size, const topology::GroupShape& group) {
                return topology::collective_sending(kind, size, group, cluster);
              },
          .transfer =
              [&](units::Bytes size, std::int64_t from, std::int64_t to) {
                return topology::transfer_sending(size, from, to, cluster);
              },
          .host_copy =
              [&](units::Bytes size, const strategies::Gpu& gpu) {
                return host_copy_time(size, cluster.kind(gpu.kind));
              }};
}

}  // namespace forecast
