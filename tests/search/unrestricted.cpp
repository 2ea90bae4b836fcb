// SPDX-License-Identifier: Apache-2.0
// A* over the stored tensors. A state is the gradient reached, and the set of inputs and saved sets
// in memory. The bound on the time that remains is the sum of all backward passes to come and, for
// every saved set that is not there, of its forward pass once.
#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "tests/search/checkpointing.hpp"

namespace search {

namespace {

using OperationKind = ChainOperation::Kind;
using Set = std::uint32_t;

struct State {
  int gradient = 0;  // of x_gradient; only stages below it are left
  Set inputs = 0;    // bit i: x_i
  Set saved = 0;     // bit i: the saved set of stage i
  friend auto operator<=>(const State&, const State&) = default;
};

constexpr Set bit(int i) { return Set{1} << i; }

class Unrestricted {
 public:
  Unrestricted(const StageChain& chain, ByteCount limit)
      : chain_(chain), stages_(chain.stages()), limit_(limit) {}

  UnrestrictedPlan run(std::size_t most_states) {
    if (stages_ > 31) return {};
    reach({stages_, bit(0), 0}, 0, 0, {OperationKind::forward_save, 0});
    while (!open_.empty()) {
      const auto [bound, index] = open_.top();
      open_.pop();
      const auto node = nodes_[index];
      if (best_.at(node.state) < node.time) continue;
      if (node.state.gradient == 0) return {true, plan(index)};
      if (nodes_.size() > most_states) return {};
      expand(node, index);
    }
    return {true, std::nullopt};
  }

 private:
  struct Node {
    State state;
    Picoseconds time;
    std::size_t before;
    ChainOperation operation;
  };
  struct Open {
    Picoseconds bound;
    std::size_t node;
    // The top of the queue has the least bound; among equals it is the newest, which is the
    // deepest.
    bool operator<(const Open& other) const {
      return bound != other.bound ? bound > other.bound : node < other.node;
    }
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  ByteCount input(int i) const { return i < stages_ ? chain_.input[at(i)] : 0; }
  Picoseconds forward(int i) const { return i + 1 < stages_ ? chain_.forward[at(i)] : 0; }
  static bool available(const State& state, int i) {
    return state.inputs & bit(i) || (i > 0 && state.saved & bit(i - 1));
  }
  ByteCount stored(const State& state) const {
    auto bytes = input(state.gradient);
    for (int i = 0; i < stages_; ++i) {
      if (state.inputs & bit(i)) bytes += input(i);
      if (state.saved & bit(i)) bytes += chain_.saved[at(i)];
    }
    return bytes;
  }
  Picoseconds remaining(const State& state) const {
    Picoseconds time = 0;
    for (int i = 0; i < state.gradient; ++i)
      time += chain_.backward[at(i)] + (state.saved & bit(i) ? 0 : forward(i));
    return time;
  }

  void reach(const State& state, Picoseconds time, std::size_t before, ChainOperation operation) {
    const auto [found, fresh] = best_.try_emplace(state, time);
    if (!fresh && found->second <= time) return;
    found->second = time;
    open_.push({time + remaining(state), nodes_.size()});
    nodes_.push_back({state, time, before, operation});
  }

  void expand(const Node& node, std::size_t index) {
    const auto& state = node.state;
    const auto bytes = stored(state);
    for (int i = 0; i < state.gradient; ++i) {
      if (available(state, i)) run_forward(node, index, i, bytes);
      auto less = state;
      if (state.inputs & bit(i)) {
        less.inputs ^= bit(i);
        reach(less, node.time, index, {OperationKind::drop_input, i});
      }
      less = state;
      if (state.saved & bit(i)) {
        less.saved ^= bit(i);
        reach(less, node.time, index, {OperationKind::drop_saved, i});
      }
    }
    const int last = state.gradient - 1;
    if (!(state.saved & bit(last)) || !available(state, last) ||
        bytes + input(last) + chain_.backward_transient[at(last)] > limit_)
      return;
    const State next{last, state.inputs & (bit(last) - 1), state.saved & (bit(last) - 1)};
    reach(next, node.time + chain_.backward[at(last)], index, {OperationKind::backward, last});
  }
  void run_forward(const Node& node, std::size_t index, int i, ByteCount bytes) {
    if (i + 1 < stages_) bytes += chain_.forward_transient[at(i)];
    auto more = node.state;
    more.saved |= bit(i);
    if (more != node.state && bytes + chain_.saved[at(i)] <= limit_)
      reach(more, node.time + forward(i), index, {OperationKind::forward_save, i});
    if (i + 1 >= node.state.gradient || available(node.state, i + 1)) return;
    more = node.state;
    more.inputs |= bit(i + 1);
    if (bytes + input(i + 1) <= limit_)
      reach(more, node.time + forward(i), index, {OperationKind::forward_keep, i});
  }

  ChainPlan plan(std::size_t index) const {
    ChainPlan result{nodes_[index].time, {}};
    for (; index != 0; index = nodes_[index].before)
      result.operations.push_back(nodes_[index].operation);
    std::ranges::reverse(result.operations);
    return result;
  }

  const StageChain& chain_;
  int stages_;
  ByteCount limit_;
  std::vector<Node> nodes_;
  std::map<State, Picoseconds> best_;
  std::priority_queue<Open> open_;
};

}  // namespace

UnrestrictedPlan unrestricted_plan(const StageChain& chain, ByteCount limit,
                                   std::size_t most_states) {
  return Unrestricted(chain, limit).run(most_states);
}

std::optional<CheckpointPlan> checkpoint_plan(const StageChain& chain, ByteCount limit,
                                              std::size_t most_states) {
  auto persistent = persistent_plan(chain, limit);
  auto unrestricted = unrestricted_plan(chain, limit, most_states);
  if (unrestricted.plan && (!persistent || unrestricted.plan->time <= persistent->time))
    return CheckpointPlan{std::move(*unrestricted.plan), true};
  if (!persistent) return std::nullopt;
  return CheckpointPlan{std::move(*persistent), unrestricted.finished};
}

}  // namespace search
