// SPDX-License-Identifier: Apache-2.0
// Collectives looked up in what was measured on a fabric.
#pragma once
#include "topology/cluster.hpp"

namespace topology {

// The table of this collective among `ranks` ranks on `nodes` nodes, each with equally many, alone
// on its NICs; null if the fabric has none.
const MeasuredCollective* measured_for(Collective collective, int ranks, int nodes,
                                       const Fabric& fabric);

// Between two sizes the time is a straight line of log time over log size. Below the first size it
// continues the first line, but never rises towards smaller sizes; above the last size the
// bandwidth stays. Throws std::invalid_argument if the table is empty, or its sizes do not rise.
units::Seconds interpolated(const MeasuredCollective& table, units::Bytes size);

}  // namespace topology
