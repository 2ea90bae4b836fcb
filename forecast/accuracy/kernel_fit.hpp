// SPDX-License-Identifier: Apache-2.0
// The few numbers of a device, from kernels that were measured on it.
#pragma once
#include "forecast/accuracy/calibration_summary.hpp"
#include "topology/device.hpp"
#include "topology/measured.hpp"

namespace forecast {

// Fits plateau and half depth of products, plateau of attention, memory share and kernel gap of
// streams, each only if the table has kernels that depend on it. In each set `before` is the error
// of the device as given, `after` that of the fitted numbers, both without any table; `left_out` is
// that of the fitted numbers and the table, each row forecast from all others. Attention is taken
// to be measured with 16k tokens and a hidden size of 2048, as the tables of the catalog are.
// Throws std::invalid_argument for a table without rows or a device without the peak that they are
// a share of. O(rows²).
CalibrationSummary fit_kernels(const topology::Measured& measured, const topology::Device& device);

}  // namespace forecast
