// SPDX-License-Identifier: Apache-2.0
// The kinds of pipeline schedules, and what each is by nature.
#pragma once
#include <optional>

#include "units/words.hpp"

namespace strategies {

enum class ScheduleKind {
  gpipe,
  one_f_one_b,
  interleaved,
  zb_h1,
  zb_h2,
  zb_v,
  v_half,
  v_min,
  dualpipe,
  dualpipe_v
};

constexpr auto words_of(ScheduleKind) {
  using enum ScheduleKind;
  return units::words<ScheduleKind>({{"gpipe", gpipe},
                                     {"1f1b", one_f_one_b},
                                     {"interleaved", interleaved},
                                     {"zb-h1", zb_h1},
                                     {"zb-h2", zb_h2},
                                     {"zb-v", zb_v},
                                     {"v-half", v_half},
                                     {"v-min", v_min},
                                     {"dualpipe", dualpipe},
                                     {"dualpipe-v", dualpipe_v}});
}

// Full-stage activations that a searched schedule may hold at once: p for zb_h1 and zb_v, 2p − 1
// for zb_h2, (p + 2) / 2 for v_half, (p + 4) / 3 for v_min; none for the others.
constexpr std::optional<int> memory_limit(ScheduleKind schedule, int stages) {
  switch (schedule) {
    case ScheduleKind::zb_h1:
    case ScheduleKind::zb_v:
      return stages;
    case ScheduleKind::zb_h2:
      return 2 * stages - 1;
    case ScheduleKind::v_half:
      return (stages + 2) / 2;
    case ScheduleKind::v_min:
      return (stages + 4) / 3;
    default:
      return std::nullopt;
  }
}

// Whether the order depends on the times of passes and is searched for. Others are fixed.
constexpr bool is_searched(ScheduleKind schedule) { return memory_limit(schedule, 1).has_value(); }

// Whether the schedule pairs forward and backward passes by nature, so that each runs under what
// the other exchanges.
constexpr bool pairs_always(ScheduleKind schedule) {
  return schedule == ScheduleKind::dualpipe || schedule == ScheduleKind::dualpipe_v;
}

// Whether gradients of inputs and of weights are passes of their own.
constexpr bool splits_gradients(ScheduleKind schedule) {
  return is_searched(schedule) || pairs_always(schedule);
}

// Whether the order of passes follows from the numbers of stages, chunks and microbatches, and each
// pass runs alone.
constexpr bool has_fixed_order(ScheduleKind schedule) {
  return !is_searched(schedule) && !pairs_always(schedule);
}

}  // namespace strategies
