// SPDX-License-Identifier: Apache-2.0
// Memory of a real run, as a snapshot of PyTorch's caching allocator tells it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace forecast {

struct SnapshotSegment {
  std::int64_t device = 0, address = 0, size = 0, stream = 0;
  std::int64_t allocated = 0, active = 0, requested = 0;  // bytes of its blocks
  bool small = false, expandable = false;
  std::size_t blocks = 0;
  friend bool operator==(const SnapshotSegment&, const SnapshotSegment&) = default;
};

// The memory of one device, bytes. Peaks are those of the time that its list of events covers: the
// sum of segments and blocks at the end, followed back from there.
struct SnapshotDevice {
  std::int64_t reserved = 0, allocated = 0, requested = 0;  // at the end
  std::int64_t most_reserved = 0, most_requested = 0;
  std::int64_t events = 0, out_of_memory = 0;
  // If nothing was allocated after the last event of no memory: the bytes that it asked for, and
  // all bytes asked for with it; else 0.
  std::int64_t refused = 0, wanted = 0;
  friend bool operator==(const SnapshotDevice&, const SnapshotDevice&) = default;
};

struct MemorySnapshot {
  std::vector<SnapshotDevice> devices;  // those that have segments, or events
  std::vector<SnapshotSegment> segments;
  std::string settings;  // PYTORCH_CUDA_ALLOC_CONF, where the snapshot tells
};

}  // namespace forecast
