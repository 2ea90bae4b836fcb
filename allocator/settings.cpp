// SPDX-License-Identifier: Apache-2.0
#include "allocator/settings.hpp"

#include <algorithm>
#include <bit>

#include "units/ceil_div.hpp"

namespace allocator {

namespace {

int log2_floor(Size size) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size))) - 1;
}

int divisions_at(Size size, const Settings& settings) {
  const int interval = std::clamp(log2_floor(size) - log2_floor(mib), 0, division_intervals - 1);
  return settings.roundup_power2_divisions[static_cast<std::size_t>(interval)];
}

Size multiple_above(Size size, Size of) { return units::ceil_div(size, of) * of; }

}  // namespace

Size rounded(Size requested, const Settings& settings) {
  if (requested < least_block) return least_block;
  const Size divisions = divisions_at(requested, settings);
  if (divisions <= 1 || requested <= least_block * divisions)
    return multiple_above(requested, least_block);
  // Above 512 bytes · divisions, the power of two below the request divides into whole bytes.
  return multiple_above(requested, (Size{1} << log2_floor(requested)) >> log2_floor(divisions));
}

Size segment_for(Size rounded_size) {
  if (is_small(rounded_size)) return small_segment;
  if (rounded_size < least_own_segment) return large_segment;
  return multiple_above(rounded_size, segment_multiple);
}

}  // namespace allocator
