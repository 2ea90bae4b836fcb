// SPDX-License-Identifier: Apache-2.0
// Orders written down: the CSV notation of PyTorch's pipelining package.
#pragma once
#include <string_view>

#include "strategies/schedule.hpp"

namespace strategies {

struct WrittenOrder {
  Order order;
  Layout layout;
  int microbatches = 0;
};

// One line per device, one cell per pass, in order; empty cells are idle. A cell is the virtual
// stage, a letter and the microbatch: F forward, B whole backward, I backward of the input, W of
// the weights ("3F0"); "(3F1;4B0)OVERLAP_F_B" runs two together. Where the virtual stages sit, in a
// loop or in a V, is read from the cells. Throws std::invalid_argument, with "line L, cell C: "
// where a cell is at fault: not a pass, a virtual stage on the wrong device, a pass twice or
// missing. Does not look for deadlocks: walk().
WrittenOrder read_order(std::string_view csv);

}  // namespace strategies
