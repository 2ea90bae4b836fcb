// SPDX-License-Identifier: Apache-2.0
// The blocks that segments are cut into, each beside its neighbours, and the lists that free ones
// are searched in.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "allocator/addresses.hpp"
#include "allocator/events.hpp"

namespace allocator {

using BlockId = std::uint32_t;
inline constexpr BlockId no_block = 0xffffffffu;

struct Block {
  Address address = 0;
  Address segment = 0;  // where its segment begins
  Size size = 0, requested = 0;
  StreamId stream = 0;
  TensorId tensor = 0;                          // while allocated, and while it waits
  BlockId before = no_block, after = no_block;  // in its segment
  bool small = false;
  bool mapped = true;  // of an expandable segment: it has memory
  bool allocated = false;
  std::uint32_t waits = 0;     // number of streams that it waits for since it was freed
  std::int64_t listed_at = 0;  // searches of its pool when it became free
  bool is_free() const { return !allocated && waits == 0; }
  bool is_split() const { return before != no_block || after != no_block; }
};

// The place of a block among free ones: by stream, then size, then address; among those without
// memory sizes count for nothing.
struct FreeBlock {
  StreamId stream = 0;
  Size size = 0;
  Address address = 0;
  BlockId block = no_block;
  friend bool operator<(const FreeBlock& a, const FreeBlock& b) {
    if (a.stream != b.stream) return a.stream < b.stream;
    return a.size != b.size ? a.size < b.size : a.address < b.address;
  }
};

// Free blocks in order. Few are free at once, so that a row is faster than a tree: O(log places) to
// find one, O(places) to add or to take one away, 32 bytes each to move.
class FreeBlocks {
 public:
  using const_iterator = std::vector<FreeBlock>::const_iterator;
  const_iterator begin() const { return places_.begin(); }
  const_iterator end() const { return places_.end(); }
  const_iterator lower_bound(const FreeBlock& place) const {
    return std::lower_bound(places_.begin(), places_.end(), place);
  }
  // The first block of that size or more of this stream, or what stands behind all such.
  const_iterator at_least(StreamId stream, Size size) const {
    return std::partition_point(places_.begin(), places_.end(), [&](const FreeBlock& place) {
      return place.stream != stream ? place.stream < stream : place.size < size;
    });
  }
  void insert(const FreeBlock& place) { places_.insert(lower_bound(place), place); }
  void erase(const_iterator at) { places_.erase(at); }
  void erase(const FreeBlock& place) {  // which is there
    erase(lower_bound(place));
  }
  // The block `at` became smaller.
  void shrink(const_iterator at, const FreeBlock& to) {
    const auto place = places_.begin() + (at - places_.begin());
    const auto before = std::lower_bound(places_.begin(), place, to);
    std::move_backward(before, place, place + 1);
    *before = to;
  }

 private:
  std::vector<FreeBlock> places_;
};

// Free blocks of up to 1 MiB, or those beyond.
struct Pool {
  FreeBlocks free, unmapped;
  std::int64_t searches = 0;
};

// Blocks by number, and which of them are listed as free; numbers of blocks that are gone are used
// again.
class Blocks {
 public:
  Block& operator[](BlockId id) { return blocks_[id]; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }
  BlockId add(Block block);
  void remove(BlockId id);
  // Cuts a block in two. The first `size` bytes become a new block, which is returned and is like
  // the old one in all but size; the rest keeps the number.
  BlockId cut_front(BlockId id, Size size);
  // The same of a listed block that has memory: the rest stays listed, the new block is not.
  BlockId take_front(FreeBlocks::const_iterator listed, Size size);
  // `into` grows over its neighbour `gone`, which is no more.
  void join(BlockId into, BlockId gone);
  std::vector<BlockId> by_address() const;

  Pool& pool_of(bool small) { return pools_[small ? 0 : 1]; }
  const Pool& pool_of(bool small) const { return pools_[small ? 0 : 1]; }
  void list(BlockId id);
  void unlist(BlockId id);
  // A free block grows over a neighbour if that exists, is listed, and has memory like it, or none
  // like it.
  void join_free(BlockId into, BlockId neighbour);

 private:
  FreeBlock place_of(BlockId id) const;

  std::vector<Block> blocks_;
  std::vector<BlockId> spare_;
  std::array<Pool, 2> pools_;  // small, large
};

}  // namespace allocator
