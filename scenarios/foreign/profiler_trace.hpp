// SPDX-License-Identifier: Apache-2.0
// Traces of real runs as PyTorch's profiler (Kineto) exports them.
#pragma once
#include <filesystem>
#include <streambuf>
#include <string>

#include "forecast/profile.hpp"

namespace scenarios {

// Reads the Chrome trace events of one rank, as torch.profiler's export_chrome_trace writes them:
// `distributedInfo`, kernels, copies and sets (by their category), and steps, which are the GPU's
// own "ProfilerStep#N" annotations if there are any, else the host's. Kernels whose name holds
// "nccl" communicate. Their kind is the parallelism of the process group in args["Process Group
// Description"] if the group's name tells it, else the collective in the kernel's name. The group's
// name, number and ranks, the elements, their format and the ranks of a message are kept, as far as
// the trace gives them. Other kernels are sorted by the names of the libraries that have them.
// Reads text that may be compressed by gzip, as a stream: memory grows with GPU work, not with the
// file, of which 4 GiB are read once unpacked. Throws Error with the place where the text is no
// JSON, and for every time that is no time, with its event ("traceEvents[17].dur").
forecast::Profile read_profiler_trace(std::streambuf& text, const std::string& file_name);

// Reads the trace from a file.
forecast::Profile load_profiler_trace(const std::filesystem::path& file);

}  // namespace scenarios
