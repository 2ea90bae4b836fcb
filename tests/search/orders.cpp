// SPDX-License-Identifier: Apache-2.0
#include "tests/search/orders.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

namespace search {

namespace {

using strategies::Pass;

// The number of labels kept per numbers of passes done in the first, narrow sweep, which finds a
// good order.
constexpr std::size_t narrow = 64;

// The numbers of passes that a stage has done. Microbatches are alike and each kind of pass takes
// them in turn, so these numbers describe all of its work.
struct Done {
  int forward = 0, backward = 0, weight = 0;
  friend auto operator<=>(const Done&, const Done&) = default;
};
using DoneByStage = std::vector<Done>;  // by stage

struct OrderLabel {
  DoneByStage counts;
  // `ready` is, by stage, when it can start its next pass. `outputs` and `gradients` are, by stage,
  // when its forward outputs arrive at the next stage and its input gradients at the stage before,
  // as far as those have not taken them. No arrival is earlier than its receiver is ready: earlier
  // would not help.
  std::vector<Picoseconds> ready;
  std::vector<std::vector<Picoseconds>> outputs, gradients;
  std::size_t before = 0;
  int stage = 0;
  Pass pass{};
  Picoseconds bound = 0;
};

bool no_later(const OrderLabel& a, const OrderLabel& b) {
  const auto each = [](const std::vector<Picoseconds>& x, const std::vector<Picoseconds>& y) {
    return std::ranges::equal(x, y, std::ranges::less_equal{});
  };
  return each(a.ready, b.ready) && std::ranges::equal(a.outputs, b.outputs, each) &&
         std::ranges::equal(a.gradients, b.gradients, each);
}

class OrderSearch {
 public:
  explicit OrderSearch(const SmallPipeline& pipeline)
      : pipeline_(pipeline), stages_(pipeline.stages.size()) {}

  std::optional<OptimalOrder> run(std::size_t most_labels) {
    sweep(narrow, most_labels);
    if (!sweep(std::numeric_limits<std::size_t>::max(), most_labels)) return std::nullopt;
    return std::move(best_);
  }

 private:
  const StageTimes& times(std::size_t stage) const { return pipeline_.stages[stage]; }

  // Adds passes one by one, from none done to all; false if there are too many labels.
  bool sweep(std::size_t most_per_level, std::size_t most_labels) {
    const auto passes = 3 * stages_ * static_cast<std::size_t>(pipeline_.microbatches);
    pool_.assign(1, {});
    auto& start = pool_.front();
    start.counts.resize(stages_);
    start.ready.assign(stages_, 0);
    start.outputs.resize(stages_);
    start.gradients.resize(stages_);
    std::vector<std::size_t> level{0};
    for (std::size_t done = 0; done < passes; ++done) {
      next_.clear();
      for (const auto label : level) extend(label);
      level.clear();
      for (const auto& [counts, labels] : next_)
        level.insert(level.end(), labels.begin(), labels.end());
      if (level.size() > most_per_level) {
        std::ranges::stable_sort(level, {}, [&](std::size_t i) { return pool_[i].bound; });
        level.resize(most_per_level);
      }
      if (pool_.size() > most_labels) return false;
    }
    for (const auto label : level) finish(label);
    return true;
  }

  void extend(std::size_t from) {
    for (std::size_t stage = 0; stage < stages_; ++stage)
      for (const auto pass : {Pass::forward, Pass::backward_input, Pass::backward_weight})
        if (may_run(pool_[from], stage, pass)) add(after(from, stage, pass));
  }
  bool may_run(const OrderLabel& label, std::size_t stage, Pass pass) const {
    const auto& done = label.counts[stage];
    switch (pass) {
      case Pass::forward:
        return done.forward < pipeline_.microbatches &&
               (stage == 0 || !label.outputs[stage - 1].empty()) &&
               (!pipeline_.limit || done.forward - done.weight < *pipeline_.limit);
      case Pass::backward_input:
        return done.backward < done.forward &&
               (stage + 1 == stages_ || !label.gradients[stage + 1].empty());
      default:
        return done.weight < done.backward;
    }
  }

  OrderLabel after(std::size_t from, std::size_t stage, Pass pass) const {
    OrderLabel label = pool_[from];
    label.before = from;
    label.stage = static_cast<int>(stage);
    label.pass = pass;
    auto& ready = label.ready[stage];
    const auto take = [&](std::vector<Picoseconds>& arrivals) {
      ready = std::max(ready, arrivals.front());
      arrivals.erase(arrivals.begin());
    };
    switch (pass) {
      case Pass::forward:
        if (stage > 0) take(label.outputs[stage - 1]);
        ready += times(stage).forward;
        ++label.counts[stage].forward;
        if (stage + 1 < stages_) label.outputs[stage].push_back(ready + pipeline_.latency);
        break;
      case Pass::backward_input:
        if (stage + 1 < stages_) take(label.gradients[stage + 1]);
        ready += times(stage).backward;
        ++label.counts[stage].backward;
        if (stage > 0) label.gradients[stage].push_back(ready + pipeline_.latency);
        break;
      default:
        ready += times(stage).weight;
        ++label.counts[stage].weight;
    }
    settle(label);
    return label;
  }
  void settle(OrderLabel& label) const {
    const auto clamp = [&](std::vector<Picoseconds>& arrivals, std::size_t receiver) {
      for (auto& time : arrivals) time = std::max(time, label.ready[receiver]);
    };
    for (std::size_t s = 0; s + 1 < stages_; ++s) {
      clamp(label.outputs[s], s + 1);
      clamp(label.gradients[s + 1], s);
    }
    label.bound = 0;
    for (std::size_t s = 0; s < stages_; ++s) label.bound = std::max(label.bound, bound(label, s));
  }
  // A lower bound on the makespan by stage s: all its remaining passes; the way of its last
  // gradient up to the first stage; the way of its last output down to the last stage and back up.
  Picoseconds bound(const OrderLabel& label, std::size_t s) const {
    const auto& done = label.counts[s];
    const auto m = pipeline_.microbatches;
    const auto& own = times(s);
    auto up = times(0).weight, round = times(0).weight;
    for (std::size_t u = 0; u < stages_; ++u) {
      const auto hop = u == s ? 0 : pipeline_.latency;
      if (u < s) up += times(u).backward + hop;
      if (u > s) round += times(u).forward + hop;
      round += times(u).backward + (u > 0 ? pipeline_.latency : 0);
    }
    const auto forward = label.ready[s] + (m - done.forward) * own.forward;
    const auto backward = forward + (m - done.backward) * own.backward;
    auto bound = backward + (m - done.weight) * own.weight;
    if (done.backward < m) bound = std::max(bound, backward + up);
    if (done.forward < m) bound = std::max(bound, forward + round);
    return bound;
  }

  void add(OrderLabel label) {
    if (best_ && label.bound >= best_->makespan) return;
    auto& same = next_[label.counts];
    for (const auto other : same)
      if (no_later(pool_[other], label)) return;
    std::erase_if(same, [&](std::size_t other) { return no_later(label, pool_[other]); });
    same.push_back(pool_.size());
    pool_.push_back(std::move(label));
  }

  void finish(std::size_t index) {
    const auto makespan = *std::ranges::max_element(pool_[index].ready);
    if (best_ && makespan >= best_->makespan) return;
    best_ = OptimalOrder{makespan, strategies::Order(stages_)};
    for (; index != 0; index = pool_[index].before) {
      const auto& label = pool_[index];
      const auto stage = static_cast<std::size_t>(label.stage);
      const auto& done = label.counts[stage];
      const int microbatch = label.pass == Pass::forward          ? done.forward
                             : label.pass == Pass::backward_input ? done.backward
                                                                  : done.weight;
      best_->order[stage].push_back({label.pass, microbatch - 1, 0});
    }
    for (auto& slots : best_->order) std::ranges::reverse(slots);
  }

  const SmallPipeline& pipeline_;
  std::size_t stages_;
  std::vector<OrderLabel> pool_;
  std::map<DoneByStage, std::vector<std::size_t>> next_;
  std::optional<OptimalOrder> best_;
};

}  // namespace

std::optional<OptimalOrder> optimal_order(const SmallPipeline& pipeline, std::size_t most_labels) {
  if (pipeline.stages.empty() || pipeline.stages.size() > 5 || pipeline.microbatches < 1 ||
      pipeline.microbatches > 15)
    throw std::invalid_argument("optimal orders are for 1 to 5 stages and 1 to 15 microbatches");
  if (pipeline.limit && *pipeline.limit < 1)
    throw std::invalid_argument("a stage must be allowed to hold one microbatch");
  return OrderSearch(pipeline).run(most_labels);
}

}  // namespace search
