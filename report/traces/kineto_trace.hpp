// SPDX-License-Identifier: Apache-2.0
// One rank of a timeline in the shape of PyTorch's profiler (Kineto), for tools that read that:
// Holistic Trace Analysis, TensorBoard.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"

namespace report {

// Ranks that the timeline has, ascending.
std::vector<std::int64_t> ranks_of(const forecast::Timeline& timeline);

// Passes are their kernels, if the timeline has the steps of passes, else one kernel each.
// Communication, inside of passes too, is kernels whose names begin with "ncclKernel", copies to
// and from the host are "Memcpy", all on streams of device 0: by these names tools tell
// computation, communication and memory apart. The data loader is the host's. Microbatches and
// chunks are arguments, so that names repeat. A message names both its ranks on either side, if
// both are drawn; a receiving kernel begins with its data. "ProfilerStep#0" spans the step. Times
// as in trace.hpp; throws as that. A rank that the timeline does not have: std::invalid_argument.
std::string kineto_trace(const forecast::Timeline& timeline, std::int64_t rank,
                         std::int64_t world_size);

}  // namespace report
