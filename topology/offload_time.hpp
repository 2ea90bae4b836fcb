// SPDX-License-Identifier: Apache-2.0
// The time of a host's work for its GPUs: on its processors, its memory and its disks.
#pragma once
#include "topology/cluster.hpp"
#include "units/quantity.hpp"

namespace topology {

// The work that one GPU asks of its node. All GPUs of the node ask for as much at once.
struct OffloadWork {
  units::Bytes moved;          // between device and host, one way
  units::Bytes touched;        // host memory that processors read and write
  units::Bytes read, written;  // of NVMe
};

// The time of a host's work for its GPUs, which streams through in pieces, so that the slowest part
// counts (Rajbhandari et al. 2021, section 6): the GPU's own PCIe, its share of the host's memory
// bandwidth (where that is known) and of the drives, which read or write. Parts that move nothing
// cost nothing, and need no bandwidth. O(1).
units::Seconds offload_time(const OffloadWork& work, const Cluster& cluster, std::size_t kind);

}  // namespace topology
