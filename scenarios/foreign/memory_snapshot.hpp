// SPDX-License-Identifier: Apache-2.0
// Snapshots of PyTorch's caching allocator (torch.cuda.memory._dump_snapshot) of real runs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <streambuf>
#include <string>
#include <string_view>

#include "forecast/memory_snapshot.hpp"

namespace scenarios {

// One entry of `device_traces`, of which each device has a list.
struct SnapshotEvent {
  std::string_view action;  // "alloc", "free_requested", "free_completed", "segment_alloc", …
  std::size_t device = 0;   // lists with events are counted from 0 in the file's order
  std::int64_t address = 0, size = 0, stream = 0;
};

// Reads a pickle of plain values (pickle.hpp) as a stream: memory grows with segments, and by 4
// bytes for each container in the file. Each event is shown to `visit`, if there is one, in order.
// Throws Error, whose text begins with the byte where the file is wrong ("byte 17: …").
forecast::MemorySnapshot read_memory_snapshot(
    std::streambuf& in, const std::string& file_name,
    const std::function<void(const SnapshotEvent&)>& visit = nullptr);

// Reads the snapshot from a file.
forecast::MemorySnapshot load_memory_snapshot(const std::filesystem::path& file);

}  // namespace scenarios
