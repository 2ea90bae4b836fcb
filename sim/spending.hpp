// SPDX-License-Identifier: Apache-2.0
// The accounts of all actors around periods that are left out. Private to the room.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/play.hpp"
#include "sim/recurrence.hpp"
#include "sim/spent.hpp"

namespace sim {

// The account of all actors at a mark: what each has spent, and when its lanes are free.
struct Spending {
  std::vector<Spent> of_actor;
  std::vector<Picoseconds> busy, done;
  std::vector<LaneTimes> free;
};

inline Spent spent_between(const Spending& from, const Spending& to, std::size_t actor) {
  auto spent = to.of_actor[actor];
  return spent.add(from.of_actor[actor], -1);
}

// The recurrence of the program, and the accounts at three marks: those around its last two steady
// periods.
struct LeftOut {
  const Recurrence* recurrence;  // null: nothing is left out
  std::vector<Spending> spending = {};

  bool is_mark(std::uint32_t op) const {
    if (recurrence == nullptr) return false;
    const auto last = recurrence->last.op, end = recurrence->end.op;
    return op == last - (end - last) || op == last || op == end;
  }
  bool spent_alike() const {
    const auto &first = spending[0], &second = spending[1], &third = spending[2];
    for (std::size_t actor = 0; actor < first.busy.size(); ++actor)
      if (third.busy[actor] - second.busy[actor] != second.busy[actor] - first.busy[actor] ||
          third.done[actor] - second.done[actor] != recurrence->period ||
          second.done[actor] - first.done[actor] != recurrence->period ||
          third.done[actor] < recurrence->window_begin ||  // what no trace has may still go on
          spent_between(second, third, actor) != spent_between(first, second, actor))
        return false;
    return true;
  }
};

}  // namespace sim
