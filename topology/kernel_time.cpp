// SPDX-License-Identifier: Apache-2.0
#include "topology/kernel_time.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "topology/attention_rate.hpp"
#include "topology/product_rate.hpp"

namespace topology {
namespace {

using units::Kernel;
using units::Seconds;

// Gathers and scatters by index reach this share of the streaming rate: rows of an embedding are
// contiguous for a few kilobytes, but atomic additions and sorting of the indices are not. (mem)
constexpr double random_share = 0.6;

units::FlopsPerSecond rate(const Kernel& kernel, const Device& device) {
  if (!(device.peak_of(kernel.precision).value > 0))
    throw std::invalid_argument(device.name + " has no rate for the kernel's precision");
  if (std::min({kernel.batch, kernel.m, kernel.n, kernel.k}) < 1)
    throw std::invalid_argument("a product or attention needs sizes of at least one");
  return kernel.kind == Kernel::Kind::product ? product_rate(kernel, device)
                                              : attention_rate(kernel, device);
}

Seconds memory_time(const Kernel& kernel, const Device& device) {
  if (!(kernel.traffic.value > 0)) return {0};
  const double share = kernel.kind == Kernel::Kind::random ? random_share : 1.0;
  return kernel.traffic / (device.memory_bandwidth * (device.efficiency.memory * share));
}

Seconds arithmetic_time(const Kernel& kernel, const Device& device) {
  if (!(kernel.flops.value > 0)) return {0};
  if (kernel.kind == Kernel::Kind::product || kernel.kind == Kernel::Kind::attention)
    return kernel.flops / rate(kernel, device);
  return device.vector_peak.value > 0 ? kernel.flops / device.vector_peak : Seconds{0};
}

}  // namespace

Seconds kernel_time(const Kernel& kernel, const Device& device) {
  return device.efficiency.kernel_gap +
         std::max(arithmetic_time(kernel, device), memory_time(kernel, device));
}

}  // namespace topology
