// SPDX-License-Identifier: Apache-2.0
// DualPipe and its V form (DeepSeek-AI, DeepSeek-V3 technical report, 2024, section 3.2.1).
#include <array>
#include <utility>

#include "plans/schedule.hpp"

namespace strategies {

namespace {

// One stage's two directions: "near" enters the pipeline on this side, "far" has crossed the other
// stages first. Microbatches of a direction are taken in turn, so counters suffice.
class TwoWays {
 public:
  TwoWays(std::array<int, 2> chunk, std::array<int, 2> first)
      : chunk_(chunk), forwards_(first), backwards_(first) {}

  void forward(int way) { add(Pass::forward, way, forwards_); }
  void whole_backward(int way) { add(Pass::backward, way, backwards_); }
  // The weight pass waits in line until it is asked for.
  void backward(int way) {
    add(Pass::backward_input, way, backwards_);
    waiting_.push_back(slots_.back());
  }
  void weight() {
    const auto& slot = waiting_[done_++];
    slots_.push_back({Pass::backward_weight, slot.microbatch, slot.chunk});
  }
  void pair(int forward_way, int backward_way) {
    forward(forward_way);
    slots_.back().paired = true;
    whole_backward(backward_way);
  }
  std::vector<Slot> take() { return std::move(slots_); }

 private:
  void add(Pass pass, int way, std::array<int, 2>& next) {
    const auto w = static_cast<std::size_t>(way);
    slots_.push_back({pass, next[w]++, chunk_[w]});
  }
  std::array<int, 2> chunk_, forwards_, backwards_;
  std::vector<Slot> waiting_;
  std::size_t done_ = 0;
  std::vector<Slot> slots_;
};

constexpr int near = 0, far = 1;

// The eight phases of a stage that lies `inner` stages from the innermost and `outer` from the
// outermost, where each way has `count` microbatches.
std::vector<Slot> two_ways(TwoWays stage, int inner, int outer, int count) {
  for (int i = 0; i < 2 * inner; ++i) stage.forward(near);
  for (int i = 0; i <= outer; ++i) {
    stage.forward(near);
    stage.forward(far);
  }
  for (int i = 0; i < inner; ++i) {
    stage.backward(far);
    stage.weight();
    stage.forward(far);
  }
  for (int i = 2 * inner + outer + 1; i < count; ++i) {
    // The innermost stage meets its first backward too early to pair it.
    if (inner == 0 && i == outer + 1) {
      stage.forward(near);
      stage.whole_backward(far);
    } else {
      stage.pair(near, far);
    }
    stage.pair(far, near);
  }
  for (int i = 0; i < inner; ++i) {
    stage.whole_backward(far);
    stage.pair(far, near);
  }
  // From here on weight passes are kept back, to fill the bubbles of the end.
  for (int i = 0; i < 2 * (outer + 1); ++i) {
    const int way = i % 2 == 0 ? far : near;
    if (i <= outer)
      stage.whole_backward(way);
    else
      stage.backward(way);
  }
  for (int i = 0; i < inner; ++i) {
    stage.weight();
    stage.backward(near);
  }
  for (int i = 0; i <= outer; ++i) stage.weight();
  return stage.take();
}

}  // namespace

std::vector<Slot> dualpipe(int stage, int stages, int microbatches) {
  const int half = microbatches / 2, mirror = stages - 1 - stage;
  return stage < mirror ? two_ways({{0, 1}, {0, half}}, stages / 2 - 1 - stage, stage, half)
                        : two_ways({{1, 0}, {half, 0}}, stages / 2 - 1 - mirror, mirror, half);
}

std::vector<Slot> dualpipe_v(int stage, int stages, int microbatches) {
  return two_ways({{0, 1}, {0, 0}}, stages - 1 - stage, stage, microbatches);
}

}  // namespace strategies
