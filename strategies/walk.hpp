// SPDX-License-Identifier: Apache-2.0
// Visiting slots in an order that respects their dependencies (included by pipeline.hpp).
#pragma once
#include <stdexcept>
#include <vector>

#include "strategies/schedule.hpp"

namespace strategies {

// Which passes of which microbatch have been visited, per virtual stage.
class Visited {
 public:
  Visited(int stages, int chunks, int microbatches)
      : stages_(stages),
        last_(stages * chunks - 1),
        microbatches_(static_cast<std::size_t>(microbatches)),
        forward_(static_cast<std::size_t>(stages * chunks) * microbatches_),
        backward_(forward_.size()) {}

  bool ready(int stage, const Slot& slot) const {
    const int v = slot.chunk * stages_ + stage;
    switch (slot.pass) {
      case Pass::forward:
        return v == 0 || forward_[at(v - 1, slot)];
      case Pass::backward_weight:
        return backward_[at(v, slot)];
      default:
        return forward_[at(v, slot)] && (v == last_ || backward_[at(v + 1, slot)]);
    }
  }
  void mark(int stage, const Slot& slot) {
    const int v = slot.chunk * stages_ + stage;
    if (slot.pass == Pass::forward)
      forward_[at(v, slot)] = true;
    else if (slot.pass != Pass::backward_weight)
      backward_[at(v, slot)] = true;
  }

 private:
  std::size_t at(int virtual_stage, const Slot& slot) const {
    return static_cast<std::size_t>(virtual_stage) * microbatches_ +
           static_cast<std::size_t>(slot.microbatch);
  }
  int stages_, last_;
  std::size_t microbatches_;
  std::vector<bool> forward_, backward_;
};

// Visits what can be visited; false if some slots wait for ever.
template <class Visit>
bool try_walk(const Order& order, int chunks, int microbatches, Visit visit) {
  const auto stages = static_cast<int>(order.size());
  Visited visited(stages, chunks, microbatches);
  std::vector<std::size_t> next(order.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int stage = 0; stage < stages; ++stage) {
      const auto& slots = order[static_cast<std::size_t>(stage)];
      auto& position = next[static_cast<std::size_t>(stage)];
      while (position < slots.size() && visited.ready(stage, slots[position])) {
        visit(stage, slots[position]);
        visited.mark(stage, slots[position++]);
        moved = true;
      }
    }
  }
  for (std::size_t stage = 0; stage < order.size(); ++stage)
    if (next[stage] < order[stage].size()) return false;
  return true;
}

inline bool can_run(const Order& order, int chunks, int microbatches) {
  return try_walk(order, chunks, microbatches, [](int, const Slot&) {});
}

template <class Visit>
void walk(const Order& order, int chunks, int microbatches, Visit visit) {
  if (!try_walk(order, chunks, microbatches, visit))
    throw std::invalid_argument("the schedule's stages wait for each other for ever");
}

}  // namespace strategies
