// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "topology/device.hpp"
#include "units/kernel.hpp"

namespace topology {

// Time of one kernel alone on the device, without what the host takes to launch it:
//   kernel_gap + max(flops / (peak · efficiency(shape)), traffic / (bandwidth · memory
//   efficiency)).
// Efficiency comes from the device's measured tables, interpolated over the shape, with tile and
// wave quantisation between measurements; a device without tables falls back to its plateau.
// Throws std::invalid_argument if the device has no rate for the kernel's precision.
// O(measurements) for a product; no state.
units::Seconds kernel_time(const units::Kernel& kernel, const Device& device);

}  // namespace topology
