// SPDX-License-Identifier: Apache-2.0
// The caching allocator's state as others read it: its segments, its peaks, the reason of a
// shortage.
#include <algorithm>
#include <iterator>
#include <limits>

#include "allocator/caching_allocator.hpp"

namespace allocator {

void CachingAllocator::reset_peaks() {
  for (auto* gauge : {&counts_.requested, &counts_.allocated, &counts_.active, &counts_.reserved})
    gauge->peak = gauge->now;
  counts_.unused_at_peak = counts_.reserved.now - counts_.allocated.now;
}

Shortage CachingAllocator::shortage(Size requested, StreamId stream) const {
  Shortage shortage{
      .limit = limits_.allowed ? std::min(*limits_.allowed, limits_.device) : limits_.device,
      .block = rounded(requested, settings_)};
  const auto& free = blocks_.pool_of(is_small(shortage.block)).free;
  const auto beyond = free.at_least(stream, std::numeric_limits<Size>::max());
  if (beyond != free.begin() && std::prev(beyond)->stream == stream)
    shortage.largest_free = std::prev(beyond)->size;
  return shortage;
}

std::vector<Segment> CachingAllocator::segments() const {
  using State = Segment::Part::State;
  std::vector<Segment> segments;
  for (const auto id : blocks_.by_address()) {
    const auto& block = blocks_[id];
    if (!block.mapped) continue;
    if (block.before == no_block || !blocks_[block.before].mapped)
      segments.push_back({block.stream, block.small, settings_.expandable_segments, {}});
    const auto state = block.allocated   ? State::allocated
                       : block.waits > 0 ? State::waiting
                                         : State::free;
    segments.back().parts.push_back(
        {block.address, block.size, block.requested, state, block.tensor});
  }
  return segments;
}

std::vector<std::int64_t> CachingAllocator::state() const {
  std::vector<std::int64_t> words;
  for (const auto id : blocks_.by_address()) {
    const auto& block = blocks_[id];
    const auto flags = (block.allocated ? 1 : 0) + (block.mapped ? 2 : 0) + (block.small ? 4 : 0);
    for (const std::int64_t word :
         {block.address, block.segment, block.size, block.requested, std::int64_t{block.stream},
          std::int64_t{block.tensor}, std::int64_t{flags}})
      words.push_back(word);
    const bool may_be_collected = block.is_free() && !block.is_split() && !block.small;
    if (collects(settings_, limits_) && may_be_collected)
      words.push_back(blocks_.pool_of(false).searches - block.listed_at);
  }
  for (const auto& [tensor, users] : users_) {
    words.insert(words.end(), {tensor, static_cast<std::int64_t>(users.size())});
    words.insert(words.end(), users.begin(), users.end());
  }
  for (const auto& [stream, queue] : waiting_)
    for (const auto& waiting : queue) {
      const auto at = blocks_[waiting.block].address;
      words.insert(words.end(), {stream, waiting.tensor, at, waiting.passed ? 1 : 0});
    }
  return words;
}

}  // namespace allocator
