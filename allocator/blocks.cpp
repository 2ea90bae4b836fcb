// SPDX-License-Identifier: Apache-2.0
#include "allocator/blocks.hpp"

#include <algorithm>

namespace allocator {

BlockId Blocks::add(Block block) {
  if (spare_.empty()) {
    blocks_.push_back(block);
    return static_cast<BlockId>(blocks_.size() - 1);
  }
  const auto id = spare_.back();
  spare_.pop_back();
  blocks_[id] = block;
  return id;
}

void Blocks::remove(BlockId id) {
  blocks_[id] = {.size = 0};
  spare_.push_back(id);
}

BlockId Blocks::cut_front(BlockId id, Size size) {
  auto front = blocks_[id];
  front.size = size;
  front.after = id;
  const auto first = add(front);
  auto& rest = blocks_[id];
  if (rest.before != no_block) blocks_[rest.before].after = first;
  rest.before = first;
  rest.address += size;
  rest.size -= size;
  return first;
}

BlockId Blocks::take_front(FreeBlocks::const_iterator listed, Size size) {
  const auto rest = listed->block;
  const auto front = cut_front(rest, size);
  auto& pool = pool_of(blocks_[rest].small);
  blocks_[rest].listed_at = pool.searches;
  pool.free.shrink(listed, place_of(rest));
  return front;
}

void Blocks::join(BlockId into, BlockId gone) {
  auto& grows = blocks_[into];
  const auto& ends = blocks_[gone];
  if (grows.before == gone) {
    grows.address = ends.address;
    grows.before = ends.before;
    if (grows.before != no_block) blocks_[grows.before].after = into;
  } else {
    grows.after = ends.after;
    if (grows.after != no_block) blocks_[grows.after].before = into;
  }
  grows.size += ends.size;
  remove(gone);
}

std::vector<BlockId> Blocks::by_address() const {
  std::vector<BlockId> ids;
  for (BlockId id = 0; id < blocks_.size(); ++id)
    if (blocks_[id].size > 0) ids.push_back(id);
  std::ranges::sort(ids, {}, [&](BlockId id) { return blocks_[id].address; });
  return ids;
}

FreeBlock Blocks::place_of(BlockId id) const {
  const auto& block = blocks_[id];
  return {block.stream, block.mapped ? block.size : 0, block.address, id};
}

void Blocks::list(BlockId id) {
  auto& block = blocks_[id];
  auto& pool = pool_of(block.small);
  if (block.mapped) block.listed_at = pool.searches;
  (block.mapped ? pool.free : pool.unmapped).insert(place_of(id));
}

void Blocks::unlist(BlockId id) {
  const auto& block = blocks_[id];
  auto& pool = pool_of(block.small);
  (block.mapped ? pool.free : pool.unmapped).erase(place_of(id));
}

void Blocks::join_free(BlockId into, BlockId neighbour) {
  if (neighbour == no_block || !blocks_[neighbour].is_free() ||
      blocks_[neighbour].mapped != blocks_[into].mapped)
    return;
  unlist(neighbour);
  join(into, neighbour);
}

}  // namespace allocator
