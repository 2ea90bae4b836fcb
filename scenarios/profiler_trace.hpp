// SPDX-License-Identifier: Apache-2.0
// Traces of real runs as PyTorch's profiler (Kineto) exports them.
#pragma once
#include <filesystem>
#include <istream>
#include <string>

#include "forecast/profile.hpp"

namespace scenarios {

// Chrome trace events as torch.profiler's export_chrome_trace writes them, of one rank. Read are
// `distributedInfo`, kernels, copies and sets (by their category), and steps: the GPU's own
// "ProfilerStep#N" annotations if there are any, else the host's. Kernels whose name holds "nccl"
// communicate, within the process group that they name as args["Process Group Description"] if its
// name tells which parallelism it is of, else as the collective that the kernel's name tells.
// Streams through the text: memory grows with GPU work, not with the file. Throws Error with the
// place of what is no JSON, and with the event ("traceEvents[17].dur") of what is no time.
forecast::Profile read_profiler_trace(std::istream& text, const std::string& file_name);

// The same from a file, which may be compressed by gzip.
forecast::Profile load_profiler_trace(const std::filesystem::path& file);

}  // namespace scenarios
