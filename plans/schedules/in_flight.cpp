// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/in_flight.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace strategies {

namespace {

bool releases(Pass pass) { return pass == Pass::backward || pass == Pass::backward_weight; }

}  // namespace

double peak_in_flight(const std::vector<Slot>& slots, int parts) {
  int held = 0, most = 0;
  for (const auto& slot : slots) {
    if (slot.pass == Pass::forward) most = std::max(most, ++held);
    if (releases(slot.pass)) --held;
  }
  return static_cast<double>(most) / parts;
}

namespace {

std::vector<std::vector<int>> vectors_of(const std::vector<Slot>& slots, int chunks,
                                         bool pairs_take_turns) {
  std::vector<std::vector<int>> peaks;
  std::vector<int> live(static_cast<std::size_t>(chunks), 0);
  bool grew = false;
  const auto covers = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::ranges::equal(a, b, std::greater_equal<>{});
  };
  const auto keep = [&] {
    if (std::ranges::any_of(peaks, [&](const auto& peak) { return covers(peak, live); })) return;
    std::erase_if(peaks, [&](const auto& peak) { return covers(live, peak); });
    peaks.push_back(live);
  };
  bool in_pair = false;  // as the second
  for (const auto& slot : slots) {
    if (pairs_take_turns && slot.paired && std::exchange(grew, false)) keep();
    auto& count = live[static_cast<std::size_t>(slot.chunk)];
    if (slot.pass == Pass::forward) {
      ++count;
      grew = true;
    } else if (releases(slot.pass)) {
      if (in_pair) {
        --count;
        keep();
      } else {
        if (grew) keep();
        --count;
      }
      grew = false;
    }
    in_pair = pairs_take_turns && slot.paired;
  }
  std::ranges::sort(peaks);
  return peaks;
}

}  // namespace

std::vector<std::vector<int>> in_flight_vectors(const std::vector<Slot>& slots, int chunks) {
  return vectors_of(slots, chunks, false);
}

std::vector<std::vector<int>> least_in_flight_vectors(const std::vector<Slot>& slots, int chunks) {
  return vectors_of(slots, chunks, true);
}

}  // namespace strategies
