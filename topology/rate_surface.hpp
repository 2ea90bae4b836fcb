// SPDX-License-Identifier: Apache-2.0
// Measurements of kernels and exchanges on devices, as values on grids of sizes. The numbers are
// constants of the program, made from scenarios/catalog/rates when it is built; docs/rates.md says
// how they were made, from what, and how well they hold.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "units/quantity.hpp"

namespace topology {

// Axes and values by kind:
//   product     m, n, k of (m × k)·(k × n)                                      TFLOP/s
//   attention   head size, sequences × heads, length; forward, causal           TFLOP/s
//   experts     √(hidden × width), experts on the device, rows of an expert;
//               the products of one layer, forward                              TFLOP/s
//   collective  GPUs, bytes of the whole buffer                                 µs
//   exchange    of token copies: multiprocessors, hidden size, messages (token copies between two
//               ranks)                                                          GB/s
//               or ranks, tokens of a rank                                      µs
struct RateSurface {
  enum class Kind { product, attention, experts, collective, exchange };
  enum class Numbers { bf16, fp8, fp8_block, nvfp4 };
  enum class Unit { teraflops, gigabytes, microseconds };
  Kind kind;
  std::string_view kernel;  // "cublas", "trtllm:cutlass:balanced", "all_reduce:nccl-2.29.2"
  Numbers numbers;
  Unit unit;
  std::array<std::span<const double>, 3> axes;  // rising; the third may be empty
  std::span<const float> values;                // along the last axis first; 0: nothing measured
};

// The surfaces of one device, whose name is that of its file in scenarios/catalog/rates.
struct DeviceRates {
  std::string_view name;
  std::string_view source, date, licence;
  std::span<const RateSurface> surfaces;
  // Returns null if there is none. O(surfaces).
  const RateSurface* find(RateSurface::Kind kind, std::string_view kernel,
                          RateSurface::Numbers numbers) const;
};

std::span<const DeviceRates> measured_rates();  // sorted by name
// The rates of the device with this name; null if it has none. O(devices).
const DeviceRates* measured_rates(std::string_view name);

// A value of a surface. `beyond`: its sizes are outside of the grid, where the nearest edge counts,
// or beside a node that nobody measured, which then takes no part.
struct RateAt {
  double value;  // in the surface's unit
  bool beyond;
};

// The value of a surface at these sizes. Between nodes its logarithm is a straight line in the
// logarithm of each size. The third size is ignored where there is no third axis. Nothing if none
// of the nodes around was measured. Sizes are positive. O(nodes of an axis).
std::optional<RateAt> value_at(const RateSurface& surface, double first, double second,
                               double third = 1);

struct MeasuredTime {
  units::Seconds time;
  bool beyond;  // as above
};

// The time of a collective or an exchange that was measured in µs, by its two axes; nothing where
// nothing was measured.
std::optional<MeasuredTime> exchange_time(const RateSurface& surface, double ranks, double size);

}  // namespace topology
