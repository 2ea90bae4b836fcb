// SPDX-License-Identifier: Apache-2.0
#include "strategies/zero_bubble_rules.hpp"

#include <cmath>

namespace strategies {

namespace {

using Decision = Line::Decision;

std::int64_t share(double part, std::int64_t of) {
  return std::llround(part * static_cast<double>(of));
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
    const bool gap = next >= now_ + times_.weight - share(rules_.delay, times_.weight);
    if (line_.waiting(stage_) > 0 && (blocked_ || gap)) return {true, Pass::backward_weight};
    return {.run = false, .until = next};
  }

 private:
  using PerChunk = std::array<std::int64_t, 2>;

  // The last free room is never given to chunk 0: the oldest microbatch can always go on.
  bool room(int chunk) const {
    if (line_.held(stage_) >= in_.limit) return false;
    if (in_.layout.chunks == 1 || chunk > 0) return true;
    return line_.held(stage_, 0) < std::max(1, cap());
  }
  int cap() const {
    const int p = in_.layout.stages, limit = in_.limit;
    const int tapered = limit - 1 - static_cast<int>(rules_.taper * stage_ / p * limit);
    if (!rules_.leave_room || line_.backwards(stage_, 1) > 0) return tapered;
    // One forward of chunk 1 per stage on the way to its backward, where the devices behind, which
    // alternate between the chunks, do not bring them more slowly.
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

// The passes of a block on one stage, in the order F0 F1 B1 B0 W1 W0.
constexpr std::array<Slot, 6> passes{{{Pass::forward, 0, 0},
                                      {Pass::forward, 0, 1},
                                      {Pass::backward_input, 0, 1},
                                      {Pass::backward_input, 0, 0},
                                      {Pass::backward_weight, 0, 1},
                                      {Pass::backward_weight, 0, 0}}};
constexpr int period = static_cast<int>(passes.size());

// When each pass of microbatch 0 starts on each stage.
std::vector<std::array<int, passes.size()>> starts_of(const Block& block, int stages) {
  std::vector<std::array<int, passes.size()>> starts(static_cast<std::size_t>(stages));
  std::vector<std::array<bool, passes.size()>> taken(starts.size());
  const auto place = [&](std::size_t stage, std::size_t pass, int when) {
    while (taken[stage][static_cast<std::size_t>(when % period)]) ++when;
    taken[stage][static_cast<std::size_t>(when % period)] = true;
    return starts[stage][pass] = when;
  };
  int when = 0;
  for (std::size_t pass = 0; pass < 4; ++pass) {
    if (pass > 0) when += 1 + block.turn[pass - 1];
    for (int i = 0; i < stages; ++i) {
      if (i > 0) when += block.spacing[pass];
      when = place(static_cast<std::size_t>(pass % 2 == 0 ? i : stages - 1 - i), pass, when);
    }
  }
  for (std::size_t stage = 0; stage < starts.size(); ++stage)
    for (std::size_t pass = 4; pass < 6; ++pass) place(stage, pass, starts[stage][pass - 2] + 1);
  return starts;
}

// Where a stage stands in the forwards and backwards that refill() keeps.
struct Position {
  std::vector<Slot> slots;
  std::size_t next = 0;
  // Steps over first forwards that ran early already.
  const Slot* current(int early) {
    while (next < slots.size() && slots[next].pass == Pass::forward && slots[next].chunk == 0 &&
           slots[next].microbatch < early)
      ++next;
    return next < slots.size() ? &slots[next] : nullptr;
  }
};

}  // namespace

Order greedy(const LineInput& input, const Greed& rules) {
  Line line(input);
  return line.play(
      [&](int stage, std::int64_t now) { return Greedy(line, rules, stage, now).decide(); });
}

Order repeat(const LineInput& input, const Block& block) {
  Order order;
  for (const auto& starts : starts_of(block, input.layout.stages)) {
    std::vector<std::pair<int, Slot>> timed;
    for (int m = 0; m < input.microbatches; ++m)
      for (std::size_t pass = 0; pass < passes.size(); ++pass)
        timed.push_back({starts[pass] + period * m, {passes[pass].pass, m, passes[pass].chunk}});
    std::ranges::sort(timed, {}, &std::pair<int, Slot>::first);
    std::vector<Slot> slots;
    for (const auto& each : timed) slots.push_back(each.second);
    order.push_back(std::move(slots));
  }
  return order;
}

Order refill(const LineInput& input, const Order& order, double delay, std::optional<int> reserve) {
  std::vector<Position> positions;
  for (const auto& slots : order) {
    positions.push_back({slots});
    std::erase_if(positions.back().slots,
                  [](const Slot& slot) { return slot.pass == Pass::backward_weight; });
  }
  Line line(input);
  return line.play([&](int stage, std::int64_t now) -> Decision {
    const auto& times = input.times[static_cast<std::size_t>(stage)];
    auto& position = positions[static_cast<std::size_t>(stage)];
    const auto* slot = position.current(line.forwards(stage, 0));
    const bool waiting = line.waiting(stage) > 0;
    const bool full = slot && slot->pass == Pass::forward && line.held(stage) >= input.limit;
    auto next = never;
    if (slot && !full)
      next = slot->pass == Pass::forward ? line.forward_ready(stage, slot->chunk)
                                         : line.backward_ready(stage, slot->chunk);
    if (next <= now) {
      ++position.next;
      return {true, slot->pass, slot->chunk};
    }
    if (waiting && (full || next >= now + times.weight - share(delay, times.weight)))
      return {true, Pass::backward_weight};
    if (full || !reserve || line.held(stage) + *reserve >= input.limit)
      return {.run = false, .until = next};
    const auto early = line.forward_ready(stage, 0);
    if (next < std::max(early, now) + times.forward) return {.run = false, .until = next};
    if (early <= now) return {true, Pass::forward, 0};
    return {.run = false, .until = std::min(early, next)};
  });
}

}  // namespace strategies
