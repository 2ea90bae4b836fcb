// SPDX-License-Identifier: Apache-2.0
// Segments that grow: addresses first, memory page by page.
#include <algorithm>

#include "allocator/caching_allocator.hpp"
#include "units/ceil_div.hpp"

namespace allocator {

using Action = TraceEntry::Action;

// An expandable segment reserves nine eighths of the device's memory, in bytes of addresses.
constexpr Size addresses_over_memory(Size memory) { return memory + memory / 8; }

// Returns the first block of a row of blocks, free or without memory, that is long enough together;
// makes a segment if there is none.
BlockId CachingAllocator::room_for(const Request& request) {
  const auto is_free = [&](BlockId id) { return id != no_block && blocks_[id].is_free(); };
  auto& unmapped = blocks_.pool_of(request.small).unmapped;
  for (auto place = unmapped.at_least(request.stream, 0);
       place != unmapped.end() && place->stream == request.stream; ++place) {
    auto first = place->block;
    if (is_free(blocks_[first].before)) first = blocks_[first].before;
    Size room = 0;
    for (auto id = first; room < request.size && is_free(id); id = blocks_[id].after)
      room += blocks_[id].size;
    if (room >= request.size) return first;
  }
  const auto page = page_of(request.small);
  const auto most = std::max(request.size, addresses_over_memory(limits_.device));
  const auto size = units::ceil_div(most, page) * page;
  const auto address = addresses_.take(size);
  const auto id = blocks_.add({.address = address,
                               .segment = address,
                               .size = size,
                               .stream = request.stream,
                               .small = request.small,
                               .mapped = false});
  blocks_.list(id);
  return id;
}

BlockId CachingAllocator::expand(const Request& request) {
  auto found = room_for(request);
  if (!blocks_[found].mapped) found = map(found, std::min(blocks_[found].size, request.size));
  while (found != no_block && blocks_[found].size < request.size) {
    const auto next = blocks_[found].after;
    const auto missing = request.size - blocks_[found].size;
    found = map(next, std::min(missing, blocks_[next].size));
  }
  if (found == no_block) return no_block;
  blocks_.unlist(found);
  return found;
}

// Gets memory from the driver for at least the first `size` bytes of a block that has none. Returns
// the block that now has it, joined with its free neighbours, or no_block where the driver had no
// more.
BlockId CachingAllocator::map(BlockId id, Size size) {
  const auto page = page_of(blocks_[id].small);
  const auto memory = units::ceil_div(size, page) * page;
  if (counts_.reserved.now + memory > limits_.device) return no_block;
  blocks_.unlist(id);
  if (memory < blocks_[id].size) {
    const auto front = blocks_.cut_front(id, memory);
    blocks_.list(id);
    id = front;
  }
  auto& block = blocks_[id];
  block.mapped = true;
  reserve(memory);
  note(Action::segment_map, block.address, memory, block.stream);
  blocks_.join_free(id, block.before);
  blocks_.join_free(id, blocks_[id].after);
  blocks_.list(id);
  return id;
}

// Takes the memory from all pages that lie wholly in the free block, and removes the segment if the
// block then is all of it.
void CachingAllocator::unmap(BlockId id) {
  const auto page = page_of(blocks_[id].small);
  const auto address = blocks_[id].address;
  const auto base = blocks_[id].segment;
  const auto begin = base + units::ceil_div(address - base, page) * page;
  const auto end = base + (address + blocks_[id].size - base) / page * page;
  if (begin >= end) return;
  blocks_.unlist(id);
  if (begin > address) blocks_.list(blocks_.cut_front(id, begin - address));
  if (const auto after = blocks_[id].address + blocks_[id].size - end; after > 0) {
    const auto middle = blocks_.cut_front(id, end - begin);
    blocks_.list(id);
    id = middle;
  }
  auto& block = blocks_[id];
  block.mapped = false;
  counts_.reserved.add(begin - end);
  ++counts_.driver_frees;
  note(Action::segment_unmap, block.address, block.size, block.stream);
  blocks_.join_free(id, block.before);
  blocks_.join_free(id, blocks_[id].after);
  if (blocks_[id].is_split()) return blocks_.list(id);
  addresses_.give_back(blocks_[id].address);
  blocks_.remove(id);
}

}  // namespace allocator
