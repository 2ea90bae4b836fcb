// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/zero_bubble_rules.hpp"

#include <cmath>

namespace strategies {

namespace {

using Decision = Line::Decision;

std::int64_t share(double part, std::int64_t of) {
  return std::llround(part * static_cast<double>(of));
}

// The least gap that a weight pass fills, if it may hold up what comes next by this share of
// itself.
std::int64_t least_gap(const ChunkTimes& times, double delay) {
  return times.weight - share(delay, times.weight);
}

// One decision of greedy().
class Greedy {
 public:
  Greedy(const Line& line, const Greed& rules, int stage, std::int64_t now)
      : line_(line),
        in_(line.input()),
        rules_(rules),
        stage_(stage),
        now_(now),
        times_(in_.times[static_cast<std::size_t>(stage)]) {
    for (int chunk = 0; chunk < in_.layout.chunks; ++chunk) {
      const auto c = static_cast<std::size_t>(chunk);
      forward_[c] = line.forward_ready(stage, chunk);
      backward_[c] = line.backward_ready(stage, chunk);
      if (!room(chunk)) {
        blocked_ = blocked_ || forward_[c] <= now;
        forward_[c] = never;
      }
    }
  }

  Decision decide() const {
    if (rules_.backlog > 0 && line_.waiting(stage_) >= rules_.backlog && !ready(backward_))
      return {true, Pass::backward_weight};
    const auto chosen = choose();
    const auto backward = std::ranges::min(backward_), forward = std::ranges::min(forward_);
    if (chosen.run) {
      const bool soon =
          backward > now_ && backward <= now_ + share(rules_.lookahead, times_.forward);
      if (chosen.pass == Pass::forward && soon) return {.run = false, .until = backward};
      return chosen;
    }
    const auto next = std::min(backward, forward);
    const bool gap = next >= now_ + least_gap(times_, rules_.delay);
    if (line_.waiting(stage_) > 0 && (blocked_ || gap)) return {true, Pass::backward_weight};
    return {.run = false, .until = next};
  }

 private:
  using PerChunk = std::array<std::int64_t, 2>;

  // Whether there is room for a forward of the chunk. Chunk 0 is never given the last free room, so
  // that the oldest microbatch can always go on.
  bool room(int chunk) const {
    if (line_.held(stage_) >= in_.limit) return false;
    if (in_.layout.chunks == 1 || chunk > 0) return true;
    return line_.held(stage_, 0) < std::max(1, cap());
  }
  int cap() const {
    const int p = in_.layout.stages, limit = in_.limit;
    const int tapered = limit - 1 - static_cast<int>(rules_.taper * stage_ / p * limit);
    if (!rules_.leave_room || line_.backwards(stage_, 1) > 0) return tapered;
    // Leaves room for one forward of chunk 1 per stage on the way to its backward; for fewer where
    // the devices behind, which alternate between the chunks, bring them more slowly.
    return std::min(tapered, std::max(limit - 1 - stage_, limit / 2 + (p + 1 - stage_) / 4));
  }
  bool ready(const PerChunk& when) const { return std::ranges::min(when) <= now_; }
  Decision choose() const {
    const bool forward = ready(forward_), backward = ready(backward_);
    if (!forward && !backward) return {.run = false};
    const bool later_forward = forward_[1] <= now_, later_backward = backward_[1] <= now_;
    const bool complete = rules_.first == Greed::First::completion && backward_[0] <= now_;
    const Decision go_forward{true, Pass::forward, later_forward ? 1 : 0},
        go_back{true, Pass::backward_input, later_backward && !complete ? 1 : 0};
    if (!forward || !backward) return forward ? go_forward : go_back;
    switch (rules_.first) {
      case Greed::First::alternate:
        return line_.last_was_forward(stage_) ? go_back : go_forward;
      case Greed::First::later_forward:
        return later_forward ? go_forward : go_back;
      case Greed::First::later_chunk:
        return later_forward && !later_backward ? go_forward : go_back;
      default:
        return go_back;
    }
  }

  const Line& line_;
  const LineInput& in_;
  const Greed& rules_;
  int stage_;
  std::int64_t now_;
  const ChunkTimes& times_;
  PerChunk forward_{never, never}, backward_{never, never};
  bool blocked_ = false;
};

// A stage's plan, and the passes by which the stage is ahead of it or behind.
class StagePlan {
 public:
  StagePlan(const std::vector<Slot>& slots, int limit, const Tightening& rules)
      : slots_(slots), limit_(limit), when_full_(rules.when_full) {
    int held = 0;
    for (const auto& slot : slots_) {
      held += slot.pass == Pass::forward ? 1 : slot.pass == Pass::backward_weight ? -1 : 0;
      held_.push_back(held);
    }
    most_ = held_;
    for (auto i = most_.size(); i-- > 1;) most_[i - 1] = std::max(most_[i - 1], most_[i]);
  }
  // Returns the next slot of the plan, and steps over passes that ran early; null at the end.
  const Slot* current() {
    for (; next_ < slots_.size(); ++next_) {
      const auto& slot = slots_[next_];
      auto& early = early_of(slot);
      if (early <= 0) return &slot;
      --early;
    }
    return nullptr;
  }
  // The next forward or backward.
  const Slot* after_weights() const {
    auto early = early_;
    for (auto i = next_; i < slots_.size(); ++i)
      if (slots_[i].pass != Pass::backward_weight && early[index(slots_[i])]-- <= 0)
        return &slots_[i];
    return nullptr;
  }
  void step() { ++next_; }
  void run_early(const Slot& slot) { ++early_of(slot); }
  void leave_weight() { --early_[weight], ++next_; }
  // Whether memory allows to run one more forward of a chunk before its time.
  bool may_hurry(int chunk) const {
    auto early = early_;
    const auto hurried = static_cast<std::size_t>(chunk);
    ++early[hurried];
    int more = early[0] + early[1] - early[weight];
    if (now() + more > limit_) return false;
    for (auto i = next_; i < slots_.size(); ++i) {
      const auto kind = index(slots_[i]);
      if (early[kind] > 0) {
        --early[kind];
        if (kind == hurried && early[kind] == 0) return true;
        more += kind < 2 ? -1 : kind == weight ? 1 : 0;
      }
      if (held_[i] + more > limit_) return false;
    }
    return false;
  }
  // Whether memory allows to leave one more weight pass for the end.
  bool may_leave() const {
    const int most = next_ == slots_.size() ? now()
                     : when_full_           ? most_[next_]
                                            : std::max(now(), most_[next_]);
    return most + early_[0] + early_[1] - early_[weight] < limit_;
  }

 private:
  static constexpr std::size_t weight = 4;  // after forwards and backwards by chunk
  static std::size_t index(const Slot& slot) {
    if (slot.pass == Pass::backward_weight) return weight;
    return static_cast<std::size_t>(slot.chunk + (slot.pass == Pass::forward ? 0 : 2));
  }
  int& early_of(const Slot& slot) { return early_[index(slot)]; }
  int now() const { return next_ > 0 ? held_[next_ - 1] : 0; }
  const std::vector<Slot>& slots_;
  int limit_;
  bool when_full_;
  std::vector<int> held_, most_;  // after each slot, and at most from it on
  std::size_t next_ = 0;
  std::array<int, 5> early_{};  // passes run before their time; less than none: after it
};

// Decides for tighten().
class Tightener {
 public:
  Tightener(const Line& line, const Tightening& rules) : line_(line), rules_(rules) {
    for (const auto& times : line.input().times) gaps_.push_back(least_gap(times, rules.delay));
  }
  Decision decide(StagePlan& plan, int stage, std::int64_t now) const {
    const auto& times = line_.input().times[static_cast<std::size_t>(stage)];
    const auto gap = gaps_[static_cast<std::size_t>(stage)];
    const Slot some_weight{Pass::backward_weight, 0, 0};
    const Decision run_weight{true, Pass::backward_weight};
    for (const Slot* slot = plan.current(); slot; slot = plan.current()) {
      if (slot->pass == Pass::backward_weight) {
        const auto* other = plan.after_weights();
        if (other && plan.may_leave() && ready(stage, *other) < now + gap) {
          plan.leave_weight();
          continue;
        }
        plan.step();
        return run_weight;
      }
      const auto next = ready(stage, *slot);
      if (next <= now) {
        plan.step();
        return {true, slot->pass, slot->chunk};
      }
      auto until = next;
      for (const int chunk : {1, 0}) {
        const auto back = line_.backward_ready(stage, chunk);
        until = std::min(until, std::max(now, back));
        if (back > now || now + times.backward > next) continue;
        plan.run_early({Pass::backward_input, 0, chunk});
        return {true, Pass::backward_input, chunk};
      }
      if (line_.waiting(stage) > 0 && (next >= now + gap || long_gap(stage, next - now))) {
        plan.run_early(some_weight);
        return run_weight;
      }
      for (const int chunk : {1, 0}) {
        const auto early = line_.forward_ready(stage, chunk);
        if (std::max(early, now) + times.forward > next || !room(stage, chunk) ||
            !plan.may_hurry(chunk))
          continue;
        until = std::min(until, early);
        if (early > now) continue;
        plan.run_early({Pass::forward, 0, chunk});
        return {true, Pass::forward, chunk};
      }
      return {.run = false, .until = until > now ? until : next};
    }
    if (line_.waiting(stage) > 0) return run_weight;
    return {.run = false};
  }

 private:
  std::int64_t ready(int stage, const Slot& slot) const {
    return slot.pass == Pass::forward ? line_.forward_ready(stage, slot.chunk)
                                      : line_.backward_ready(stage, slot.chunk);
  }
  bool room(int stage, int chunk) const {
    if (!rules_.leave_room || chunk > 0 || line_.backwards(stage, 1) > 0) return true;
    const int limit = line_.input().limit;
    return line_.held(stage, 0) < limit - std::min(stage + 1, limit / 2);
  }
  bool long_gap(int stage, std::int64_t gap) const {
    return rules_.share_gaps && line_.idle(stage) + gap > line_.most_idle();
  }
  const Line& line_;
  const Tightening& rules_;
  std::vector<std::int64_t> gaps_;  // by stage
};

}  // namespace

Order greedy(const LineInput& input, const Greed& rules) {
  Line line(input);
  return line.play(
      [&](int stage, std::int64_t now) { return Greedy(line, rules, stage, now).decide(); });
}

Order refill(const LineInput& input, const Order& order) {
  auto kept = order;
  for (auto& slots : kept)
    std::erase_if(slots, [](const Slot& slot) { return slot.pass == Pass::backward_weight; });
  std::vector<std::size_t> positions(kept.size(), 0);
  Line line(input);
  return line.play([&](int stage, std::int64_t now) -> Decision {
    const auto s = static_cast<std::size_t>(stage);
    const auto* slot = positions[s] < kept[s].size() ? &kept[s][positions[s]] : nullptr;
    const bool full = slot && slot->pass == Pass::forward && line.held(stage) >= input.limit;
    auto next = never;
    if (slot && !full)
      next = slot->pass == Pass::forward ? line.forward_ready(stage, slot->chunk)
                                         : line.backward_ready(stage, slot->chunk);
    if (next <= now) {
      ++positions[s];
      return {true, slot->pass, slot->chunk};
    }
    if (line.waiting(stage) > 0 && (full || next >= now + input.times[s].weight))
      return {true, Pass::backward_weight};
    return {.run = false, .until = next};
  });
}

Order tighten(const LineInput& input, const Order& order, const Tightening& rules) {
  if (order.empty()) return {};
  std::vector<StagePlan> plans;
  for (const auto& slots : order) plans.emplace_back(slots, input.limit, rules);
  Line line(input);
  const Tightener tightener(line, rules);
  return line.play([&](int stage, std::int64_t now) {
    return tightener.decide(plans[static_cast<std::size_t>(stage)], stage, now);
  });
}

}  // namespace strategies
