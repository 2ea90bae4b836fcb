// SPDX-License-Identifier: Apache-2.0
// The time of one kernel on one device.
#pragma once
#include "topology/device.hpp"
#include "topology/evidence.hpp"
#include "topology/product_rate.hpp"
#include "units/kernel.hpp"

namespace topology {

// Times of kernels on one device, which must outlive it.
//
// Each is that of one kernel alone, without what the host takes to launch it:
//   kernel_gap + max(flops / (peak · efficiency(shape)), traffic / (bandwidth · memory
//   efficiency)).
// Efficiency comes from the device's measured tables, interpolated over the shape, with tile and
// wave quantisation between measurements; a device without tables falls back to its plateau.
class KernelTimes {
 public:
  explicit KernelTimes(const Device& device) : device_(&device), products_(device) {}
  // Throws std::invalid_argument if the device has no rate for the kernel's precision.
  // O(measurements) for a product.
  units::Seconds of(const units::Kernel& kernel) const;
  // The evidence of that time: the measurements that give the kernel's rate, or formulas if memory
  // limits it. Takes the same kernels. O(measurements).
  Evidence evidence(const units::Kernel& kernel) const;

 private:
  units::FlopsPerSecond rate(const units::Kernel& kernel) const;
  units::Seconds arithmetic_time(const units::Kernel& kernel) const;
  const Device* device_;
  ProductRates products_;
};
inline units::Seconds kernel_time(const units::Kernel& kernel, const Device& device) {
  return KernelTimes(device).of(kernel);
}

}  // namespace topology
