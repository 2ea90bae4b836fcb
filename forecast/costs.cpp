// SPDX-License-Identifier: Apache-2.0
#include "forecast/costs.hpp"

#include <utility>
#include <vector>

#include "topology/collective.hpp"
#include "topology/kernel_time.hpp"

namespace forecast {

strategies::Costs costs_on(const topology::Cluster& cluster) {
  std::vector<topology::KernelTimes> times;
  for (std::size_t kind = 0; kind < cluster.kinds(); ++kind)
    times.emplace_back(cluster.kind(kind).device);
  return {.kernel =
              [times = std::move(times)](const units::Kernel& kernel, const strategies::Gpu& gpu) {
                return gpu.slowdown * times[gpu.kind].of(kernel);
              },
          .collective =
              [&](topology::Collective kind, units::Bytes size, const topology::GroupShape& group) {
                return topology::collective_sending(kind, size, group, cluster);
              },
          .transfer =
              [&](units::Bytes size, std::int64_t from, std::int64_t to) {
                return topology::transfer_sending(size, from, to, cluster);
              },
          .host =
              [&](const topology::OffloadWork& work, const strategies::Gpu& gpu) {
                return topology::offload_time(work, cluster, gpu.kind);
              }};
}

}  // namespace forecast
