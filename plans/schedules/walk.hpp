// SPDX-License-Identifier: Apache-2.0
// Visiting slots in an order that respects their dependencies.
#pragma once
#include <stdexcept>
#include <vector>

#include "plans/schedules/order.hpp"
#include "plans/schedules/schedule_layout.hpp"

namespace strategies {

// The passes of each microbatch that have been visited, by virtual stage.
class Visited {
 public:
  Visited(const Layout& layout, int microbatches)
      : layout_(layout),
        last_(layout.virtual_stages() - 1),
        microbatches_(static_cast<std::size_t>(microbatches)),
        forward_(static_cast<std::size_t>(layout.virtual_stages()) * microbatches_),
        backward_(forward_.size()) {}

  bool ready(int stage, const Slot& slot) const {
    const int v = virtual_stage_of(stage, slot.chunk, layout_);
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
    const int v = virtual_stage_of(stage, slot.chunk, layout_);
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
  Layout layout_;
  int last_;
  std::size_t microbatches_;
  std::vector<bool> forward_, backward_;
};

// Visits all slots that can be visited; returns false if some slots wait for ever.
template <class Visit>
bool try_walk(const Order& order, const Layout& layout, int microbatches, Visit visit) {
  Visited visited(layout, microbatches);
  std::vector<std::size_t> next(order.size(), 0);
  const auto ready = [&](int stage, const std::vector<Slot>& slots, std::size_t position) {
    return visited.ready(stage, slots[position]) &&
           (!slots[position].paired || visited.ready(stage, slots[position + 1]));
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (int stage = 0; stage < layout.stages; ++stage) {
      const auto& slots = order[static_cast<std::size_t>(stage)];
      auto& position = next[static_cast<std::size_t>(stage)];
      if (position == slots.size() || !ready(stage, slots, position)) continue;
      for (bool paired = true; paired;) {
        const auto& slot = slots[position++];
        paired = slot.paired;
        visit(stage, slot);
        visited.mark(stage, slot);
        moved = true;
      }
    }
  }
  for (std::size_t stage = 0; stage < order.size(); ++stage)
    if (next[stage] < order[stage].size()) return false;
  return true;
}

inline bool can_run(const Order& order, const Layout& layout, int microbatches) {
  return try_walk(order, layout, microbatches, [](int, const Slot&) {});
}

// Visits every slot of every stage once, each stage in its own order, a slot only after what it
// depends on: a forward after the forward of the virtual stage before; a backward after its own
// forward and the backward of the virtual stage behind; a weight pass after its backward; a pair
// after what either waits for. Stages take turns, lowest first, each with one slot or one pair: the
// visiting order is deterministic, and repeats itself where the orders of all stages do. Calls
// visit(stage, slot); the partner of a paired slot comes in the next call. Throws
// std::invalid_argument if the orders wait for each other for ever. O(slots · stages).
template <class Visit>
void walk(const Order& order, const Layout& layout, int microbatches, Visit visit) {
  if (!try_walk(order, layout, microbatches, visit))
    throw std::invalid_argument("the schedule's stages wait for each other for ever");
}

// The same for chunks in a loop.
template <class Visit>
void walk(const Order& order, int chunks, int microbatches, Visit visit) {
  walk(order, Layout{Layout::Kind::loop, static_cast<int>(order.size()), chunks}, microbatches,
       visit);
}

}  // namespace strategies
