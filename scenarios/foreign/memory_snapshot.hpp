// SPDX-License-Identifier: Apache-2.0
// Snapshots of PyTorch's caching allocator (torch.cuda.memory._dump_snapshot) of real runs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace scenarios {

// One entry of `device_traces`, of which each device has a list.
struct SnapshotEvent {
  std::string_view action;  // "alloc", "free_requested", "free_completed", "segment_alloc", …
  std::size_t device = 0;   // lists with events are counted from 0 in the file's order
  std::int64_t address = 0, size = 0, stream = 0;
};

struct SnapshotSegment {
  std::int64_t device = 0, address = 0, size = 0, stream = 0;
  std::int64_t allocated = 0, active = 0, requested = 0;  // bytes of its blocks
  bool small = false, expandable = false;
  std::size_t blocks = 0;
  friend bool operator==(const SnapshotSegment&, const SnapshotSegment&) = default;
};

// Of one device, bytes. What was the most is said of the time that its list of events covers: the
// sum of segments and blocks at the end, and from there back.
struct SnapshotDevice {
  std::int64_t reserved = 0, allocated = 0, requested = 0;  // at the end
  std::int64_t most_reserved = 0, most_requested = 0;
  std::int64_t events = 0, out_of_memory = 0;
  friend bool operator==(const SnapshotDevice&, const SnapshotDevice&) = default;
};

struct MemorySnapshot {
  std::vector<SnapshotDevice> devices;  // those that have segments, or events
  std::vector<SnapshotSegment> segments;
  std::string settings;  // PYTORCH_CUDA_ALLOC_CONF, where the snapshot tells
};

// Reads a pickle of plain values (pickle.hpp) as a stream: memory grows with segments, and by 4
// bytes for each container in the file. Each event is shown to `visit`, if there is one, in order.
// Throws Error, whose text begins with the byte where the file is wrong ("byte 17: …").
MemorySnapshot read_memory_snapshot(
    std::streambuf& in, const std::string& file_name,
    const std::function<void(const SnapshotEvent&)>& visit = nullptr);

// The same from a file.
MemorySnapshot load_memory_snapshot(const std::filesystem::path& file);

}  // namespace scenarios
