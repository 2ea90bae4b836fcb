// SPDX-License-Identifier: Apache-2.0
// The service that flows have received, and when they will have all that they need (private to
// flows.cpp).
#pragma once
#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "sim/flows/flows_heap.hpp"
#include "sim/flows/water_levels.hpp"

namespace sim {

inline constexpr Ticks too_far = std::numeric_limits<Ticks>::max() / 2;

// The service that a flow may lack and still be in time, a thousandth of a tick: rates are rounded
// down.
inline Units slack(Units rate) { return rate >> 10; }

// The time that `needed` takes at the rate, at most too_far.
inline Ticks ticks_for(Int128 needed, Units rate) {
  if (rate == 0) return too_far;
  const Int128 wait = (needed - slack(rate) + rate - 1) / rate;
  return wait <= 0 ? 0 : static_cast<Ticks>(std::min<Int128>(wait, too_far));
}

// The service that a link has given to a flow that it has held from the start, in units of
// bandwidth times ticks.
struct Service {
  Int128 given = 0;  // until `since`
  Units rate = 0;
  Ticks since = 0;
  bool stale = false;        // its next completion has to be found again
  PlacedHeap<Int128> paths;  // that it holds, by `given` at their next completion

  void catch_up(Ticks now) {
    given += static_cast<Int128>(rate) * (now - since);
    since = now;
  }
  Ticks next_completion() const {
    if (paths.empty()) return too_far;
    return std::min(since + ticks_for(paths.top().key - given, rate), too_far);
  }
};

// Flows that start together on a path.
struct Member {
  Int128 mark;  // service of the path by which they are done
  FlowId id;
  std::int64_t count;
  bool operator>(const Member& other) const {
    return mark > other.mark || (mark == other.mark && id > other.id);
  }
};

// Flows on equal links. A path is at service given(seat) + lead, or lead when it has no seat.
struct Class {
  std::uint32_t seat = WaterLevels::nobody;
  bool stirred = false;
  bool busy = false;
  Int128 lead = 0;
  Member next{};              // to complete, when busy
  std::vector<Member> later;  // a heap

  void add(Member member) {
    if (busy) {
      if (next > member) std::swap(next, member);
      later.push_back(member);
      std::ranges::push_heap(later, std::greater<>());
    } else {
      next = member;
      busy = true;
    }
  }
  void pop() {
    busy = !later.empty();
    if (!busy) return;
    std::ranges::pop_heap(later, std::greater<>());
    next = later.back();
    later.pop_back();
  }
};

}  // namespace sim
