// SPDX-License-Identifier: Apache-2.0
// Traces of real runs as PyTorch's profiler (Kineto) exports them.
#pragma once
#include <filesystem>
#include <streambuf>
#include <string>

#include "forecast/profile.hpp"

namespace scenarios {

// Chrome trace events as torch.profiler's export_chrome_trace writes them, of one rank. Read are
// `distributedInfo`, kernels, copies and sets (by their category), and steps: the GPU's own
// "ProfilerStep#N" annotations if there are any, else the host's. Kernels whose name holds "nccl"
// communicate, within the process group that they name as args["Process Group Description"] if its
// name tells which parallelism it is of, else as the collective that the kernel's name tells; the
// group's name, number and ranks, the elements, their format and the ranks of a message are kept,
// as far as they are told. Other kernels are sorted by the names of the libraries that have them.
// Reads text that may be compressed by gzip, as a stream: memory grows with GPU work, not with the
// file, of which 4 GiB are read once unpacked. Throws Error with the place of what is no JSON, and
// of every time that is none, by its event ("traceEvents[17].dur").
forecast::Profile read_profiler_trace(std::streambuf& text, const std::string& file_name);

// Reads the trace from a file.
forecast::Profile load_profiler_trace(const std::filesystem::path& file);

}  // namespace scenarios
