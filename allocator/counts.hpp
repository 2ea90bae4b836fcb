// SPDX-License-Identifier: Apache-2.0
// Bytes and events that an allocator counts, and the list of its actions.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "allocator/addresses.hpp"
#include "allocator/events.hpp"

namespace allocator {

// Bytes now, and the most there have been.
struct Gauge {
  Size now = 0, peak = 0;
  void add(Size size) {
    now += size;
    peak = std::max(peak, now);
  }
  friend bool operator==(const Gauge&, const Gauge&) = default;
};

// By how much peaks exceed what there was before.
struct Rise {
  Size requested = 0, allocated = 0;
};

struct Counts {
  Gauge requested;  // by the program, of blocks that are allocated or wait
  Gauge allocated;  // the blocks that serve them (torch.cuda.memory_allocated)
  Gauge active;     // these, and blocks that wait for other streams
  Gauge reserved;   // segments and pages (torch.cuda.memory_reserved)
  // Bytes reserved and not allocated when `allocated` first was at its peak: the cost of pieces
  // between tensors.
  Size unused_at_peak = 0;
  std::int64_t driver_allocations = 0, driver_frees = 0;  // segments, or ranges of pages
  std::int64_t retries = 0;  // requests made again after all that is unused was given back
  // Counts a block of `block` bytes that is handed out for a request of `of_request` bytes.
  void hand_out(Size of_request, Size block) {
    requested.add(of_request);
    if (allocated.now + block > allocated.peak)
      unused_at_peak = reserved.now - allocated.now - block;
    allocated.add(block);
    active.add(block);
  }
  // Hands out and frees the same bytes, while nothing waits.
  void rise(const Rise& by) {
    if (allocated.now + by.allocated > allocated.peak)
      unused_at_peak = reserved.now - allocated.now - by.allocated;
    requested.peak = std::max(requested.peak, requested.now + by.requested);
    allocated.peak = std::max(allocated.peak, allocated.now + by.allocated);
    active.peak = std::max(active.peak, active.now + by.allocated);
  }
  // Peaks are those since an earlier time, which had these. If two are equal, the first one counts.
  void include_peaks(const Counts& earlier) {
    if (earlier.allocated.peak >= allocated.peak) unused_at_peak = earlier.unused_at_peak;
    for (auto gauge : {&Counts::requested, &Counts::allocated, &Counts::active, &Counts::reserved})
      (this->*gauge).peak = std::max((this->*gauge).peak, (earlier.*gauge).peak);
  }
  friend bool operator==(const Counts&, const Counts&) = default;
};

// One thing that happened, as PyTorch's memory history has it.
struct TraceEntry {
  enum class Action : std::uint8_t {
    alloc,
    free_requested,
    free_completed,
    segment_alloc,
    segment_free,
    segment_map,
    segment_unmap,
    oom,  // `address`: the bytes that the device has left
  };
  Action action = Action::alloc;
  Address address = 0;
  Size size = 0;
  StreamId stream = 0;
  TensorId tensor = 0;  // of alloc, free_… and oom
  friend bool operator==(const TraceEntry&, const TraceEntry&) = default;
};
using Trace = std::vector<TraceEntry>;

// Memory that hangs together, as the driver gave it.
struct Segment {
  struct Part {
    enum class State : std::uint8_t { allocated, waiting, free };
    Address address = 0;
    Size size = 0, requested = 0;
    State state = State::free;
    TensorId tensor = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  StreamId stream = 0;
  bool small = false, expandable = false;
  std::vector<Part> parts;  // by address, without gaps
  friend bool operator==(const Segment&, const Segment&) = default;
};

}  // namespace allocator
