// SPDX-License-Identifier: Apache-2.0
// What nccl-tests and rccl-tests print, read as measurements of a fabric.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "topology/cluster.hpp"

namespace scenarios {

// The standard output of all_reduce_perf, all_gather_perf, reduce_scatter_perf, alltoall_perf,
// broadcast_perf or reduce_perf, or several of them one after the other: the rank list (`# Rank`),
// then one row per size, of which the time out of place counts. Rows of one size are averaged.
// What the lines do not say is taken from the measurements: `link_bandwidth` is the best bus
// bandwidth over the ranks of a node. Other lines (of mpirun, of NCCL_DEBUG) are passed over, and
// so is the tag that mpirun puts before a line. Throws Error with the place of every mistake.
topology::Fabric read_nccl_tests(std::string_view text, const std::string& file_name);

topology::Fabric load_nccl_tests(const std::filesystem::path& file);

}  // namespace scenarios
