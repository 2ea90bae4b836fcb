// SPDX-License-Identifier: Apache-2.0
// How the caching allocator gives memory back to the driver.
#include <algorithm>
#include <vector>

#include "allocator/caching_allocator.hpp"

namespace allocator {

using Action = TraceEntry::Action;

void CachingAllocator::release(BlockId id) {
  const auto& block = blocks_[id];
  note(Action::segment_free, block.address, block.size, block.stream);
  addresses_.give_back(block.address);
  counts_.reserved.add(-block.size);
  ++counts_.driver_frees;
  blocks_.unlist(id);
  blocks_.remove(id);
}

// Gives back unused segments of the large pool while more is reserved than the threshold allows,
// first those that have been free for longer than the mean. The age of a block is counted in
// searches of its pool.
void CachingAllocator::collect_garbage() {
  if (!collects(settings_, limits_)) return;
  const auto most = static_cast<Size>(settings_.garbage_collection_threshold *
                                      static_cast<double>(*limits_.allowed));
  if (counts_.reserved.now <= most) return;
  const auto enough = counts_.reserved.now - most;
  auto& pool = blocks_.pool_of(false);
  const auto age = [&](BlockId id) { return pool.searches - blocks_[id].listed_at; };
  std::int64_t ages = 0, whole = 0;
  for (const auto& place : pool.free)
    if (!blocks_[place.block].is_split()) {
      ages += age(place.block);
      ++whole;
    }
  Size collected = 0;
  for (bool some = true; some && collected < enough && whole > 0;) {
    some = false;
    const double old = static_cast<double>(ages) / static_cast<double>(whole);
    const std::vector<FreeBlock> free(pool.free.begin(), pool.free.end());
    for (const auto& place : free) {
      const auto id = place.block;
      if (blocks_[id].is_split() || settings_.expandable_segments ||
          static_cast<double>(age(id)) < old)
        continue;
      some = true;
      collected += blocks_[id].size;
      ages -= age(id);
      --whole;
      release(id);
    }
  }
}

// With max_split_size only: gives back the smallest block of that size or more that would serve the
// request, or else the largest ones until they suffice together. Returns whether they suffice.
bool CachingAllocator::release_oversized(const Request& request) {
  if (!settings_.max_split_size || settings_.expandable_segments) return false;
  auto& pool = blocks_.pool_of(request.small);
  const auto wanted = std::max(request.size, *settings_.max_split_size);
  auto place = pool.free.at_least(request.stream, wanted);
  if (place != pool.free.end() && place->stream == request.stream) {
    release(place->block);
    return true;
  }
  Size released = 0;
  for (auto left = place - pool.free.begin(); released < wanted && left > 0; --left) {
    const auto largest = *(pool.free.begin() + left - 1);
    if (largest.stream != request.stream || largest.size < *settings_.max_split_size) break;
    released += largest.size;
    release(largest.block);
  }
  return released >= wanted;
}

void CachingAllocator::release_cached() {
  synchronize();
  finish_passed();
  for (const bool small : {false, true}) {
    std::vector<BlockId> free;
    for (const auto& place : blocks_.pool_of(small).free) free.push_back(place.block);
    for (const auto id : free)
      if (settings_.expandable_segments)
        unmap(id);
      else if (!blocks_[id].is_split())
        release(id);
  }
}

void CachingAllocator::empty_cache() { release_cached(); }

}  // namespace allocator
