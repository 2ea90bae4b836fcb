// SPDX-License-Identifier: Apache-2.0
// One accelerator as a data sheet, and the few numbers that say how much of it kernels reach.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/kernel.hpp"
#include "units/quantity.hpp"

namespace topology {

struct DeviceRates;  // rate_surface.hpp

// The chip of a device, by its name or that of a table: "a100-80gb-sxm" is of the family "a100".
// The exported kinds compute as their originals do.
std::string_view family_of(std::string_view device);

// A measured matrix product: `efficiency` = achieved rate / dense peak of its precision.
struct MeasuredProduct {
  units::Kernel::Layout layout;
  std::int64_t batch, m, n, k;
  double efficiency;
  friend bool operator==(const MeasuredProduct&, const MeasuredProduct&) = default;
};

// A measured fused attention; `pass` tells forward from forward and backward together. `fused`
// absent: whichever kernel the device has.
struct MeasuredAttention {
  enum class Pass { forward, backward, both };
  Pass pass;
  std::int64_t head_dim, sequence;
  bool causal;
  double efficiency;
  std::optional<units::FusedAttention> fused = {};
  friend bool operator==(const MeasuredAttention&, const MeasuredAttention&) = default;
};

// The source of a device's measured kernels: a table of the catalog, or a file of the user.
struct KernelSource {
  std::string file;    // empty: nothing was measured
  std::string digest;  // of the text of a user's file, 16 hexadecimal digits; empty: the catalog's
  friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

// Times as long as measured tables, surfaces and formulas say that kernels take, by kind.
struct Slowdown {
  double products = 1, attention = 1;
  double experts = 1;  // products of experts, which `products` does not slow down
  double others = 1;   // kernels without matrix products
  double of(const units::Kernel& kernel) const;
  friend bool operator==(const Slowdown&, const Slowdown&) = default;
};

// The share of a data sheet's figures that real kernels reach. Fractions of the specified figure;
// meanings in docs/model/kernels.md. Tables may be empty: then the plain roofline with
// `product_plateau` serves.
struct Efficiency {
  double product_plateau = 0.75;    // large matrix products over the dense peak
  double product_half_depth = 160;  // k at which a product loses half: k / (k + half_depth)
  double attention_plateau = 0.5;   // fused attention, forward, long sequences
  double memory = 0.85;             // large streaming kernels over the specified bandwidth
  double sustained_clock = 1.0;  // sustained over benchmark clock in long runs; see Device::clock()
  units::Watts measured_power;   // power limit that these shares hold under; 0 = not known
  units::Seconds kernel_gap{2e-6};  // start-up and tail of every kernel on the device
  Slowdown slowdown;
  std::vector<MeasuredProduct> products;
  std::vector<MeasuredAttention> attention;
  KernelSource kernels;  // of both tables
  friend bool operator==(const Efficiency&, const Efficiency&) = default;
};

struct Device {
  std::string name;
  units::Bytes memory;         // as labelled
  units::Bytes usable_memory;  // memory that the driver lets a process see
  units::BytesPerSecond memory_bandwidth;
  // Dense peak by precision, indexed by units::Precision; 0 = the device lacks it.
  std::array<units::FlopsPerSecond, 7> peak{};
  units::FlopsPerSecond vector_peak;  // fp32 arithmetic outside the matrix units
  int sms = 0;                        // streaming multiprocessors (or compute units)
  units::Watts power;
  units::Money price;  // 0 = not known
  Efficiency efficiency;
  // Measurements of inference frameworks on the device; null if there are none. They price kernels
  // of which `efficiency` has no table.
  const DeviceRates* rates = nullptr;

  units::FlopsPerSecond peak_of(units::Precision precision) const {
    return peak[static_cast<std::size_t>(precision)];
  }
  // Clock of products and attention over that of the benchmarks. Under a lower power limit it falls
  // with the root of the power: dynamic power grows with the clock times the square of the voltage,
  // and the voltage with the clock, though not from zero. It does not rise with a higher limit.
  double clock() const;
  // Whether a table was measured on this chip. Tables of users were; those of the catalog tell by
  // their names.
  bool measured_itself(const KernelSource& kernels) const;
  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace topology
