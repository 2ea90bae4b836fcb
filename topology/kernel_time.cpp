// SPDX-License-Identifier: Apache-2.0
#include "topology/kernel_time.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "topology/attention_rate.hpp"

namespace topology {
namespace {

using units::Kernel;
using units::Seconds;

// Gathers and scatters of rows by index reach this share of the streaming rate: on B200 0.50 and
// 0.51 of the specified bandwidth where other kernels reach 0.67 (MooreThreads/SimuMax @4dcaae5,
// configs/system/b200_bf16_ceperm.json).
constexpr double random_share = 0.75;

Seconds memory_time(const Kernel& kernel, const Device& device) {
  if (!(kernel.traffic.value > 0)) return {0};
  const double share = kernel.kind == Kernel::Kind::random ? random_share : 1.0;
  return kernel.traffic / (device.memory_bandwidth * (device.efficiency.memory * share));
}

}  // namespace

units::FlopsPerSecond KernelTimes::rate(const Kernel& kernel) const {
  if (!(device_->peak_of(kernel.precision).value > 0))
    throw std::invalid_argument(device_->name + " has no rate for the kernel's precision");
  if (std::min({kernel.batch, kernel.m, kernel.n, kernel.k}) < 1)
    throw std::invalid_argument("a product or attention needs sizes of at least one");
  return kernel.kind == Kernel::Kind::product ? products_.rate(kernel)
                                              : attention_rate(kernel, *device_);
}

Seconds KernelTimes::arithmetic_time(const Kernel& kernel) const {
  if (!(kernel.flops.value > 0)) return {0};
  if (kernel.kind == Kernel::Kind::product || kernel.kind == Kernel::Kind::attention)
    return kernel.flops / rate(kernel);
  return device_->vector_peak.value > 0 ? kernel.flops / device_->vector_peak : Seconds{0};
}

Seconds KernelTimes::of(const Kernel& kernel) const {
  const auto& efficiency = device_->efficiency;
  return (efficiency.kernel_gap +
          std::max(arithmetic_time(kernel), memory_time(kernel, *device_))) *
         efficiency.slowdown.of(kernel);
}

Evidence KernelTimes::evidence(const Kernel& kernel) const {
  const bool product = kernel.kind == Kernel::Kind::product;
  if (!product && kernel.kind != Kernel::Kind::attention) return Evidence::physics;
  const auto memory = memory_time(kernel, *device_);
  // No rate passes the peak, by which most kernels take longer than their traffic.
  const auto peak = device_->peak_of(kernel.precision) * device_->clock();
  if (!(kernel.flops > peak * memory) && arithmetic_time(kernel) < memory) return Evidence::physics;
  return product ? products_.evidence(kernel) : attention_evidence(kernel, *device_);
}

}  // namespace topology
