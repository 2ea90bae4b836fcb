// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/zero_bubble_length.hpp"

namespace strategies {

namespace {

class LinePlayer {
 public:
  LinePlayer(const LineInput& input, const Order& order)
      : in_(input),
        order_(order),
        edges_(input),
        stages_(order.size()),
        forward_(static_cast<std::size_t>(input.layout.virtual_stages() * input.microbatches), -1),
        backward_(forward_) {}
  Length play() {
    std::vector<int> ready;
    for (int stage = in_.layout.stages; stage-- > 0;) ready.push_back(stage);
    while (!ready.empty()) {
      const int stage = ready.back();
      ready.pop_back();
      run(stage, ready);
    }
    Length length;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const auto& stage = stages_[i];
      if (stage.next < order_[i].size()) return {never, never, never};
      length.ends += stage.free;
      length.makespan = std::max(length.makespan, stage.free);
      length.span = std::max(length.span, stage.free - stage.began);
    }
    return length;
  }

 private:
  struct Stage {
    std::int64_t free = 0, began = -1;
    std::size_t next = 0;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::size_t cell(int virtual_stage, int microbatch) const {
    return index(virtual_stage * in_.microbatches + microbatch);
  }
  // Runs the slots of a stage as long as they can run, and adds the stages that wait for them to
  // `ready`.
  void run(int stage, std::vector<int>& ready) {
    auto& here = stages_[index(stage)];
    const auto& slots = order_[index(stage)];
    const auto& times = in_.times[index(stage)];
    for (; here.next < slots.size(); ++here.next) {
      const auto& slot = slots[here.next];
      const auto& chunk = edges_.of(stage, slot.chunk);
      if (slot.pass == Pass::backward_weight) {
        here.free += times.weight;
        continue;
      }
      const bool ahead = slot.pass == Pass::forward;
      auto& ends = ahead ? forward_ : backward_;
      const auto& from = ahead ? chunk.before : chunk.behind;
      auto start = here.free;
      if (from.virtual_stage >= 0) {
        const auto end = ends[cell(from.virtual_stage, slot.microbatch)];
        if (end < 0) return;
        start = std::max(start, end + from.latency);
      }
      if (here.began < 0) here.began = start;
      here.free = start + (ahead ? times.forward : times.backward);
      ends[cell(chunk.virtual_stage, slot.microbatch)] = here.free;
      const auto& to = ahead ? chunk.behind : chunk.before;
      if (to.virtual_stage >= 0 && to.stage != stage) ready.push_back(to.stage);
    }
  }

  const LineInput& in_;
  const Order& order_;
  Edges edges_;
  std::vector<Stage> stages_;
  std::vector<std::int64_t> forward_, backward_;  // ends, by virtual stage and microbatch
};

}  // namespace

Length length_of(const LineInput& input, const Order& order) {
  return LinePlayer(input, order).play();
}

}  // namespace strategies
