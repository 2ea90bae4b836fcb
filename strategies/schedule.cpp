// SPDX-License-Identifier: Apache-2.0
#include "strategies/schedule.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace strategies {

namespace {

// Alternates once `warmup` forwards are done: forwards and backwards each in their given order.
std::vector<Slot> alternate(const std::vector<Slot>& forwards, const std::vector<Slot>& backwards,
                            int warmup) {
  const auto total = forwards.size();
  const auto ahead = std::min(static_cast<std::size_t>(std::max(0, warmup)), total);
  std::vector<Slot> slots(forwards.begin(), forwards.begin() + static_cast<std::ptrdiff_t>(ahead));
  slots.reserve(2 * total);
  for (auto i = ahead; i < total; ++i) {
    slots.push_back(forwards[i]);
    slots.push_back(backwards[i - ahead]);
  }
  slots.insert(slots.end(), backwards.begin() + static_cast<std::ptrdiff_t>(total - ahead),
               backwards.end());
  return slots;
}

bool releases(Pass pass) { return pass == Pass::backward || pass == Pass::backward_weight; }

}  // namespace

std::vector<Slot> gpipe(int microbatches) {
  std::vector<Slot> slots;
  for (int m = 0; m < microbatches; ++m) slots.push_back({Pass::forward, m, 0});
  for (int m = 0; m < microbatches; ++m) slots.push_back({Pass::backward, m, 0});
  return slots;
}

std::vector<Slot> one_f_one_b(int stage, int stages, int microbatches) {
  std::vector<Slot> forwards, backwards;
  for (int m = 0; m < microbatches; ++m) {
    forwards.push_back({Pass::forward, m, 0});
    backwards.push_back({Pass::backward, m, 0});
  }
  return alternate(forwards, backwards, stages - 1 - stage);
}

std::vector<Slot> interleaved(int stage, int stages, int chunks, int microbatches) {
  const int groups = (microbatches + stages - 1) / stages;
  std::vector<Slot> forwards, backwards;
  for (int group = 0; group < groups; ++group)
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (int m = group * stages; m < (group + 1) * stages; ++m) {
        forwards.push_back({Pass::forward, m, chunk});
        backwards.push_back({Pass::backward, m, chunks - 1 - chunk});
      }
  auto slots = alternate(forwards, backwards, 2 * (stages - 1 - stage) + (chunks - 1) * stages);
  std::erase_if(slots, [&](const Slot& slot) { return slot.microbatch >= microbatches; });
  return slots;
}

Order order_of(ScheduleKind schedule, int stages, int chunks, int microbatches) {
  if (stages < 1) throw std::invalid_argument("a pipeline needs at least one stage");
  if (microbatches < 1) throw std::invalid_argument("a step needs at least one microbatch");
  if (chunks < 1) throw std::invalid_argument("a stage needs at least one model chunk");
  if (chunks > 1 && schedule != ScheduleKind::interleaved)
    throw std::invalid_argument("only the interleaved schedule runs several chunks per stage");
  Order order;
  for (int stage = 0; stage < stages; ++stage)
    order.push_back(schedule == ScheduleKind::gpipe ? gpipe(microbatches)
                    : chunks == 1                   ? one_f_one_b(stage, stages, microbatches)
                                  : interleaved(stage, stages, chunks, microbatches));
  return order;
}

double peak_in_flight(const std::vector<Slot>& slots, int chunks) {
  int held = 0, most = 0;
  for (const auto& slot : slots) {
    if (slot.pass == Pass::forward) most = std::max(most, ++held);
    if (releases(slot.pass)) --held;
  }
  return static_cast<double>(most) / chunks;
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
