// SPDX-License-Identifier: Apache-2.0
// The output of nccl-tests and rccl-tests, read as measurements of a fabric.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "topology/cluster.hpp"
#include "topology/collective.hpp"

namespace scenarios {

// Values that a log does not print, the same for all of its tests.
struct NcclTestsHints {
  std::optional<int> ranks, nodes;
  std::optional<topology::Collective> collective;
};

// Parses arguments of --set: "ranks=16,nodes=2", "collective=all_gather". Throws Error with the
// place of every mistake ("--set 1").
NcclTestsHints nccl_tests_hints(std::span<const std::string> sets);

// Reads the standard output of all_reduce_perf, all_gather_perf, reduce_scatter_perf,
// alltoall_perf, broadcast_perf or reduce_perf, or of several of them one after the other: the rank
// list (`# Rank`), which `hints` may stand in for, then one row per size, whose out-of-place time
// counts, with the columns of any release (before 2.11 there was no root). Rows of one size are
// averaged. Values that no line prints are taken from the measurements: `link_bandwidth` is the
// best bus bandwidth over the ranks of a node in a test of several nodes, and 0 without such a
// test: one node measures the links inside of it. Other lines (of mpirun, of NCCL_DEBUG) are passed
// over, and so is the tag that mpirun ("[1,0]<stdout>:") or srun -l ("0: ") puts before a line.
// Throws Error with the place of every mistake, and if a hint contradicts the log.
topology::Fabric read_nccl_tests(std::string_view text, const std::string& file_name,
                                 const NcclTestsHints& hints = {});

topology::Fabric load_nccl_tests(const std::filesystem::path& file,
                                 const NcclTestsHints& hints = {});

}  // namespace scenarios
