// SPDX-License-Identifier: Apache-2.0
// The evidence that the price of a kernel or a collective rests on.
#pragma once
#include <algorithm>
#include <cstdint>

namespace topology {

// Kinds of evidence, the best first; docs/rates.md says what counts as which.
//   measured      of this device, at this shape: every size within 5 % of one that was measured
//   interpolated  inside the range that was measured of this device, pass and precision
//   scaled        from another device's measurements, another pass, precision or shape of kernel,
//                 or from the edge of the range
//   physics       by formulas and data sheets alone, with constants that were fitted to other
//                 things
enum class Evidence : std::uint8_t { measured, interpolated, scaled, physics };
inline constexpr std::size_t evidences = 4;

// The evidence of two prices together.
constexpr Evidence weaker(Evidence a, Evidence b) { return std::max(a, b); }

// The ratio up to which two sizes count as one.
inline constexpr double same_within = 1.05;
constexpr bool same_size(double a, double b) {
  return a <= b * same_within && b <= a * same_within;
}
// Sizes from `least` to `most`, and those that count as one of these.
constexpr bool in_range(double size, double least, double most) {
  return size * same_within >= least && size <= most * same_within;
}

}  // namespace topology
