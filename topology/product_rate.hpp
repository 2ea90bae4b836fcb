// SPDX-License-Identifier: Apache-2.0
// The rate of matrix products on a device, from its shape model and its measurements.
//
// Model of a product without measurements, as a share of the dense peak:
//   e = min( plateau · k/(k + r·half_depth) · T,  F/P · W/Q )
// T is the share of the processors' tile slots that carry work: `batch` products of m × n are cut
// into tiles of 128 × 128 that run in waves of one per processor; k may be cut into r = 1, 2 or 4
// parts where m × n fills no wave; the best cut counts. The second term is the roofline (F flops, Q
// bytes of operands and result once).
// Measurements correct it: c = measured e / model e, the kernel's start-up taken out of the
// measured time; c is averaged with weights 1/d⁴ over the distance d in octaves of m, n, k and
// batch, other layouts standing `layout_distance` further off. The geometric mean of all c takes
// part as if it lay `fade` octaves away, so it prevails far from every measurement.
//
// Where a precision or the products of experts have no such table, but the device has a surface of
// them (rate_surface.hpp), c = surface / model e at the same sizes, or at the nearest that were
// measured, beyond which the model goes on alone. Surfaces come from inference frameworks on cool
// devices: `join` is the geometric mean of table / surface over the dense products of the table,
// and 1 without a table, where the clock alone joins them to training.
#pragma once
#include <array>
#include <vector>

#include "topology/device.hpp"
#include "topology/evidence.hpp"
#include "units/kernel.hpp"
#include "units/quantity.hpp"

namespace topology {

struct RateSurface;

// The largest share of the dense peak that any kernel is taken to reach.
constexpr double most_of_peak = 0.95;

// Rates of one device's products. The device must outlive it.
class ProductRates {
 public:
  explicit ProductRates(const Device& device);  // O(measured products)

  // Sustained rate of a product while it runs, start-up excluded. At a measured shape
  // kernel_gap + flops / rate is the measured time. Positive peak required. O(measured products).
  units::FlopsPerSecond rate(const units::Kernel& kernel) const;
  // The evidence of that rate. O(measured products)
  Evidence evidence(const units::Kernel& kernel) const;

  // The place of a shape among others: logarithms of its sizes to base 2.
  struct LogShape {
    units::Kernel::Layout layout;
    double batch, m, n, k;
  };

 private:
  struct Measured {
    LogShape place;
    double correction;
  };
  struct Surfaces {
    const RateSurface* dense = nullptr;                    // that counts; null: none
    std::array<const RateSurface*, 2> experts{};           // the faster counts
    units::Precision of_experts = units::Precision::bf16;  // that they were measured in
  };
  double correction(const LogShape& here) const;
  double surface_or_table(const units::Kernel& kernel) const;
  // The surfaces that price a kernel; the first null: the table does.
  std::array<const RateSurface*, 2> surfaces_of(const units::Kernel& kernel) const;
  bool is_one_by_one(const units::Kernel& kernel) const;
  Evidence of_table(const units::Kernel& kernel) const;
  Evidence of_surface(const units::Kernel& kernel, const RateSurface& surface) const;
  void join_surfaces();
  double table_over_surface() const;

  const Device* device_;
  std::vector<Measured> measured_;
  double mean_ = 1;                     // geometric, of all corrections
  std::array<Surfaces, 7> surfaces_{};  // by precision
  double join_ = 1;
  bool has_experts_ = false;  // in the table
};

}  // namespace topology
