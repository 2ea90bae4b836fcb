// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "forecast/memory_replay.hpp"

namespace report {

// A pickle (protocol 2) as torch.cuda.memory._dump_snapshot writes it, for pytorch.org/memory_viz:
// `segments` with their blocks, `device_traces` of one device, `allocator_settings`. A tensor's
// name and category stand where PyTorch has the innermost frame of its call stack. Bytes and
// addresses are whole numbers. O(entries)
std::string memory_snapshot(const forecast::MemoryHistory& history);

}  // namespace report
