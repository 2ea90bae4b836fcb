// SPDX-License-Identifier: Apache-2.0
// Rotor's recurrence: the way from x_i and the gradient of x_(l+1) to the gradient of x_i either
// keeps an input x_j, runs on from there and comes back, or saves all of stage i and runs on.
#include <algorithm>

#include "tests/search/checkpointing.hpp"

namespace search {

namespace {

using OperationKind = ChainOperation::Kind;

class Persistent {
 public:
  explicit Persistent(const StageChain& chain)
      : chain_(chain),
        stages_(chain.stages()),
        table_(static_cast<std::size_t>(stages_ * stages_)) {
    for (int length = 0; length < stages_; ++length)
      for (int first = 0; first + length < stages_; ++first) fill(first, first + length);
  }

  std::optional<ChainPlan> plan(ByteCount limit) const {
    const auto& whole = steps(0, stages_ - 1);
    const auto end = std::ranges::upper_bound(whole, limit - chain_.input[0], {}, &Step::memory);
    if (end == whole.begin()) return std::nullopt;
    ChainPlan result{std::prev(end)->time, {}};
    write(0, stages_ - 1, static_cast<std::size_t>(end - whole.begin()) - 1, result.operations);
    return result;
  }

 private:
  // With `memory` beside x_i the stages take `time`. `kept` is the input kept, or −1 for all of
  // stage i; `behind` and `again` are the steps that run on from there, and that come after.
  struct Step {
    ByteCount memory;
    Picoseconds time;
    int kept = -1;
    std::size_t behind = 0, again = 0;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::vector<Step>& steps(int first, int last) { return table_[at(first * stages_ + last)]; }
  const std::vector<Step>& steps(int first, int last) const {
    return table_[at(first * stages_ + last)];
  }
  // The bytes of x_i, which are those of its gradient; the loss has no output.
  ByteCount input(int i) const { return i < stages_ ? chain_.input[at(i)] : 0; }
  Picoseconds forward(int i) const { return i + 1 < stages_ ? chain_.forward[at(i)] : 0; }
  ByteCount forward_transient(int i) const {
    return i + 1 < stages_ ? chain_.forward_transient[at(i)] : 0;
  }

  Step alone(int i) const {
    return {input(i + 1) + chain_.saved[at(i)] +
                std::max(forward_transient(i), input(i) + chain_.backward_transient[at(i)]),
            forward(i) + chain_.backward[at(i)]};
  }
  // The least memory in which the stages run forward while the gradient is held.
  ByteCount to_run(int first, int last) const {
    auto most = input(first + 1) + forward_transient(first);
    for (int j = first + 1; j < last; ++j)
      most = std::max(most, input(j) + input(j + 1) + forward_transient(j));
    return input(last + 1) + most;
  }

  void fill(int first, int last) {
    auto& result = steps(first, last);
    if (first == last) {
      result.push_back(alone(first));
      return;
    }
    const auto floor = to_run(first, last);
    Picoseconds way = 0;
    for (int kept = first + 1; kept <= last; ++kept) {
      way += forward(kept - 1);
      keep_input(first, last, kept, way, floor, result);
    }
    const auto single = alone(first);
    const auto& behind = steps(first + 1, last);
    for (std::size_t i = 0; i < behind.size(); ++i)
      result.push_back(
          {std::max({floor, single.memory, behind[i].memory + chain_.saved[at(first)]}),
           single.time + behind[i].time, -1, i, 0});
    prune(result);
  }
  // Merges the steps of both parts: the part whose next step needs less memory goes on.
  void keep_input(int first, int last, int kept, Picoseconds way, ByteCount floor,
                  std::vector<Step>& result) const {
    const auto& behind = steps(kept, last);
    const auto& again = steps(first, kept - 1);
    if (behind.empty() || again.empty()) return;
    const auto needs = [&](std::size_t i) { return behind[i].memory + input(kept); };
    for (std::size_t i = 0, k = 0;;) {
      result.push_back({std::max({floor, needs(i), again[k].memory}),
                        way + behind[i].time + again[k].time, kept, i, k});
      const bool more_behind = i + 1 < behind.size(), more_again = k + 1 < again.size();
      if (!more_behind && !more_again) return;
      const bool step_behind = more_behind && (!more_again || needs(i + 1) <= again[k + 1].memory);
      ++(step_behind ? i : k);
    }
  }
  static void prune(std::vector<Step>& steps) {
    std::ranges::stable_sort(steps, [](const Step& a, const Step& b) {
      return a.memory != b.memory ? a.memory < b.memory : a.time < b.time;
    });
    std::size_t size = 0;
    for (const auto& step : steps)
      if (size == 0 || step.time < steps[size - 1].time) steps[size++] = step;
    steps.resize(size);
  }

  void write(int first, int last, std::size_t step, std::vector<ChainOperation>& out) const {
    const auto& chosen = steps(first, last)[step];
    if (first == last) {
      out.push_back({OperationKind::forward_save, first});
      out.push_back({OperationKind::backward, first});
    } else if (chosen.kept < 0) {
      out.push_back({OperationKind::forward_save, first});
      write(first + 1, last, chosen.behind, out);
      out.push_back({OperationKind::backward, first});
    } else {
      out.push_back({OperationKind::forward_keep, first});
      for (int j = first + 1; j < chosen.kept; ++j) {
        out.push_back({OperationKind::forward_keep, j});
        out.push_back({OperationKind::drop_input, j});
      }
      write(chosen.kept, last, chosen.behind, out);
      write(first, chosen.kept - 1, chosen.again, out);
    }
  }

  const StageChain& chain_;
  int stages_;
  std::vector<std::vector<Step>> table_;  // by first and last stage; memory up, time down
};

}  // namespace

std::optional<ChainPlan> persistent_plan(const StageChain& chain, ByteCount limit) {
  return Persistent(chain).plan(limit);
}

}  // namespace search
