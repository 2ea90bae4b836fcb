// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/in_flight.hpp"

#include <algorithm>
#include <functional>

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

std::vector<std::vector<int>> in_flight_vectors(const std::vector<Slot>& slots, int chunks) {
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
  for (const auto& slot : slots) {
    auto& count = live[static_cast<std::size_t>(slot.chunk)];
    if (slot.pass == Pass::forward) {
      ++count;
      grew = true;
    } else if (releases(slot.pass)) {
      if (grew) keep();
      grew = false;
      --count;
    }
  }
  std::ranges::sort(peaks);
  return peaks;
}

}  // namespace strategies
