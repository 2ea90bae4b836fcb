// SPDX-License-Identifier: Apache-2.0
#include "forecast/costs.hpp"

#include "topology/collective.hpp"
#include "topology/kernel_time.hpp"

namespace forecast {

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
          .host =
              [&](const topology::HostWork& work, const strategies::Gpu& gpu) {
                return topology::host_time(work, cluster, gpu.kind);
              }};
}

}  // namespace forecast
