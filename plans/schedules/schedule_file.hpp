// SPDX-License-Identifier: Apache-2.0
// Orders written down: the CSV notation of PyTorch's pipelining package.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "plans/schedules/schedule.hpp"

namespace strategies {

struct WrittenOrder {
  Order order;
  Layout layout;
  int microbatches = 0;
};

struct OrderMistake {
  int line, column;  // from one, in bytes
  std::string text;
};

// Reads one line per device, one cell per pass, in order; empty cells are idle. A cell is the
// virtual stage, a letter and the microbatch: F forward, B whole backward, I backward of the input,
// W of the weights ("3F0"); "(3F1;4B0)OVERLAP_F_B" runs two together. The cells tell whether
// virtual stages sit in a loop or in a V. Calls `complain` with every cell that is no pass; if
// there is none, with every cell that is on the wrong device, runs twice or too early; if there is
// none of these either, with the first missing pass of each virtual stage. The result is valid only
// if it was not called. Does not look for deadlocks: walk(). At most most_passes are read.
WrittenOrder read_order(std::string_view csv,
                        const std::function<void(const OrderMistake&)>& complain);

inline constexpr std::size_t most_passes = 3'000'000;

}  // namespace strategies
