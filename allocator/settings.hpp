// SPDX-License-Identifier: Apache-2.0
// The settings of PyTorch's caching allocator (PYTORCH_CUDA_ALLOC_CONF), and the sizes that follow
// from them: c10/cuda/CUDACachingAllocator.cpp and CUDAAllocatorConfig.cpp of PyTorch 2.1 to 2.11.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace allocator {

using Size = std::int64_t;  // bytes

inline constexpr Size kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

inline constexpr Size least_block = 512;        // all sizes are rounded up to a multiple of it
inline constexpr Size largest_small = mib;      // rounded sizes up to here come from the small pool
inline constexpr Size small_segment = 2 * mib;  // size of the request to the driver for them
inline constexpr Size large_segment = 20 * mib;
inline constexpr Size least_own_segment = 10 * mib;  // from here on a segment is as large as asked
inline constexpr Size segment_multiple = 2 * mib;    // rounded up to a multiple of this

// Powers of two from 1 MiB on that have divisions of their own; the last one holds for all above.
inline constexpr int division_intervals = 16;

struct Settings {
  // max_split_size_mb: blocks of this size or more are neither split nor given to smaller requests.
  std::optional<Size> max_split_size;
  // A block that is not split may be larger than asked for by less than this.
  Size max_non_split_rounding = large_segment;
  // roundup_power2_divisions: the number of parts of each power of two, to whose bounds sizes are
  // rounded up; entry i is for sizes from 2^i MiB to twice that, entry 0 for those below too. 0 and
  // 1: multiples of 512 bytes.
  std::array<int, division_intervals> roundup_power2_divisions{};
  // Share of Limits::allowed above which segments that nothing uses are given back before a new one
  // is asked for; 0: never.
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  friend bool operator==(const Settings&, const Settings&) = default;
};

// The memory that a process can have.
struct Limits {
  Size device = 0;  // bytes that the driver has for it
  // torch.cuda.set_per_process_memory_fraction, in bytes: the allocator asks for no more. Segments
  // are collected only where it is set.
  std::optional<Size> allowed;
};

// Whether segments are given back by their age.
constexpr bool collects(const Settings& settings, const Limits& limits) {
  return limits.allowed && settings.garbage_collection_threshold > 0;
}

// The size of the block for a request of `requested` bytes.
Size rounded(Size requested, const Settings& settings);
constexpr bool is_small(Size rounded_size) { return rounded_size <= largest_small; }
// The size of the segment that a block of this rounded size needs if no block is free.
Size segment_for(Size rounded_size);
// The size of a page of expandable segments.
constexpr Size page_of(bool small) { return small ? small_segment : large_segment; }

}  // namespace allocator
