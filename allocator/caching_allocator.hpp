// SPDX-License-Identifier: Apache-2.0
// PyTorch's caching allocator of one device, without the device.
//
// A request is rounded up (settings.hpp) and served by the smallest free block of its pool and
// stream that is large enough, the one at the lowest address among equals. The rest of the block is
// split off if it has at least 512 bytes (small pool and expandable segments), otherwise if it has
// more than 1 MiB. Where no block is free, the driver is asked for a segment: 2 MiB for the small
// pool, 20 MiB for less than 10 MiB, else the size up to the next 2 MiB. If the driver has none,
// the allocator gives back blocks of max_split_size or more until they suffice, and asks again;
// then it waits for all that blocks wait for, gives back all segments that are wholly free, and
// asks for the last time. A block that is freed is joined with its free neighbours.
//
// Expandable segments are ranges of addresses, an eighth more than the device has memory, whose
// pages (2 MiB for the small pool, 20 MiB for the large) get memory when a block needs it; giving
// back takes the pages that lie wholly in free blocks.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "allocator/blocks.hpp"
#include "allocator/counts.hpp"

namespace allocator {

// Why a request for memory failed, in bytes.
struct Shortage {
  Size limit = 0;         // of what may be reserved
  Size block = 0;         // that it needs
  Size largest_free = 0;  // block of its pool and stream; 0: none is free
};

class CachingAllocator {
 public:
  // Appends every action to `trace`, unless null; the trace must outlive the allocator.
  CachingAllocator(const Settings& settings, const Limits& limits, Trace* trace = nullptr,
                   Addresses addresses = {});

  // Allocates a tensor; returns whether there was memory. Throws std::invalid_argument if the
  // tensor is there already or its size is negative. O(log blocks), except when memory is given
  // back.
  bool allocate(TensorId tensor, Size size, StreamId stream);
  // Allocates and frees at once, where a free block serves and no trace is written: then only peaks
  // may change, and true is returned. Otherwise nothing happens. O(log blocks)
  bool passing(Size size, StreamId stream);
  // free() and record_stream() throw std::invalid_argument where there is no such tensor.
  void free(TensorId tensor);
  void record_stream(TensorId tensor, StreamId stream);
  void passes(TensorId tensor, StreamId stream);
  void synchronize();
  void empty_cache();

  const Counts& counts() const { return counts_; }
  Shortage shortage(Size requested, StreamId stream) const;
  void reset_peaks();
  // The segments by address. O(blocks · log blocks), as the next function.
  std::vector<Segment> segments() const;
  // Everything that decides what later events do: equal states have equal futures.
  std::vector<std::int64_t> state() const;

 private:
  friend class Sections;  // lets peaks rise as events would

  struct Request {
    Size requested, size, segment;
    StreamId stream;
    bool small;
  };
  // A stream that a block waits for before it is free.
  struct Waiting {
    TensorId tensor;
    BlockId block;
    bool passed = false;
  };

  void note(TraceEntry::Action action, Address address, Size size, StreamId stream,
            TensorId tensor = 0);
  BlockId block_of(TensorId tensor) const;

  // The place of the free block that serves, or the pool's end.
  FreeBlocks::const_iterator best_free(const Request& request) const;
  BlockId search(const Request& request);
  BlockId from_driver(const Request& request);
  void reserve(Size size);
  void collect_garbage();
  bool release_oversized(const Request& request);
  void release_cached();
  void release(BlockId id);
  void hand_out(BlockId id, const Request& request, TensorId tensor);
  void give_back(BlockId id);
  void finish_passed();

  BlockId expand(const Request& request);
  BlockId room_for(const Request& request);
  BlockId map(BlockId id, Size size);
  void unmap(BlockId id);

  Settings settings_;
  Limits limits_;
  Trace* trace_;
  Blocks blocks_;
  Addresses addresses_;
  std::map<TensorId, std::vector<StreamId>> users_;  // other streams that use a tensor
  std::map<StreamId, std::deque<Waiting>> waiting_;  // in the order in which they were freed
  bool some_passed_ = false;
  std::vector<BlockId> of_tensor_;
  Counts counts_;
};

}  // namespace allocator
