// SPDX-License-Identifier: Apache-2.0
// The rate of fused attention on a device.
//
// Over the sequence s the rate saturates, f = f∞·s/(s + s½): 1/f is a straight line in 1/s. Between
// two measurements of a head dimension the line through them holds, outside the one through the
// nearest two, never falling with s; between head dimensions f is interpolated in log2. Tables
// that give forward and backward only together are split with backward = 0.88 of the forward rate.
// A kernel that was not measured runs at a published multiple of the rate of FlashAttention-2.
// Few heads leave processors idle: the rate is scaled by b/(b + 1.2·processors), b = blocks of 128
// query rows over all sequences and heads, relative to the 2,048 blocks of the measurements.
#pragma once
#include "topology/device.hpp"
#include "topology/evidence.hpp"
#include "units/kernel.hpp"
#include "units/quantity.hpp"

namespace topology {

// Rate at which the kernel's flops are executed. Layout forward is the forward pass, any other the
// backward pass. Positive peak required. O(measured attention).
units::FlopsPerSecond attention_rate(const units::Kernel& kernel, const Device& device);

// The evidence of that rate. The number of heads is no size of a table and changes nothing.
// O(measured attention)
Evidence attention_evidence(const units::Kernel& kernel, const Device& device);

}  // namespace topology
