// SPDX-License-Identifier: Apache-2.0
#include "strategies/zero_bubble.hpp"

#include <stdexcept>

#include "strategies/walk.hpp"
#include "strategies/zero_bubble_rules.hpp"

namespace strategies {

namespace {

// How long an order takes, played as soon as possible.
struct Length {
  std::int64_t makespan = 0, span = 0;  // of all stages; of the longest stage
  auto operator<=>(const Length& other) const {
    const auto sum = makespan + span, others = other.makespan + other.span;
    return sum != others ? sum <=> others : makespan <=> other.makespan;
  }
  bool operator==(const Length&) const = default;
};

Length length_of(const LineInput& in, const Order& order) {
  const auto m = static_cast<std::size_t>(in.microbatches);
  std::vector<std::int64_t> forward(static_cast<std::size_t>(in.layout.virtual_stages()) * m),
      backward(forward), begun(order.size(), -1), free(order.size(), 0);
  const auto cell = [&](ChunkPlace place, const Slot& slot) {
    return static_cast<std::size_t>(virtual_stage_of(place.stage, place.chunk, in.layout)) * m +
           static_cast<std::size_t>(slot.microbatch);
  };
  walk(order, in.layout, in.microbatches, [&](int stage, const Slot& slot) {
    const auto s = static_cast<std::size_t>(stage);
    const ChunkPlace here{stage, slot.chunk};
    const auto& times = in.times[s];
    auto start = free[s];
    const bool goes_forward = slot.pass == Pass::forward;
    auto& ends = goes_forward ? forward : backward;
    if (slot.pass != Pass::backward_weight) {
      const auto from = goes_forward ? before(here, in.layout) : behind(here, in.layout);
      if (from)
        start = std::max(start, ends[cell(*from, slot)] + (from->stage == stage ? 0 : in.latency));
    }
    free[s] = start + (goes_forward                        ? times.forward
                       : slot.pass == Pass::backward_input ? times.backward
                                                           : times.weight);
    if (slot.pass != Pass::backward_weight) ends[cell(here, slot)] = free[s];
    if (begun[s] < 0) begun[s] = start;
  });
  Length length;
  for (std::size_t s = 0; s < order.size(); ++s) {
    length.makespan = std::max(length.makespan, free[s]);
    length.span = std::max(length.span, free[s] - begun[s]);
  }
  return length;
}

// The best order so far. Candidates may have been built for other times than those that count.
class Best {
 public:
  explicit Best(const LineInput& input) : in_(input) {}
  void offer(Order order) {
    if (order.empty()) return;
    for (const auto& slots : order)
      if (peak_in_flight(slots, 1) > in_.limit) return;
    const auto length = length_of(in_, order);
    if (!order_.empty() && !(length < length_)) return;
    length_ = length;
    order_ = std::move(order);
  }
  Order take() {
    if (order_.empty())
      throw std::invalid_argument("no order of this schedule stays inside its memory limit");
    return std::move(order_);
  }

 private:
  const LineInput& in_;
  Order order_;
  Length length_;
};

// Orders found for simpler times are often good for the given ones: without latency, and with all
// passes alike.
std::vector<LineInput> simpler(const LineInput& input) {
  std::vector<LineInput> all{input};
  if (input.latency > 0) {
    all.push_back(input);
    all.back().latency = 0;
  }
  const auto& time = input.times.front();
  const auto third = std::max<std::int64_t>(1, (time.forward + time.backward + time.weight) / 3);
  auto alike = all.back();
  for (auto& times : alike.times) times = {third, third, third};
  if (alike.times != input.times) all.push_back(alike);
  return all;
}

void search_line(const LineInput& input, Best& best) {
  for (const auto first : {Greed::First::backward, Greed::First::alternate})
    for (const double delay : {0.0, 0.5, 0.75})
      for (const double lookahead : {0.0, 0.5})
        best.offer(greedy(input, {.first = first, .delay = delay, .lookahead = lookahead}));
}

void search_v(const LineInput& input, Best& best) {
  for (const auto first : {Greed::First::backward, Greed::First::completion,
                           Greed::First::later_forward, Greed::First::later_chunk})
    for (const double delay : {0.0})
      for (const int backlog : {0, 4})
        for (const double taper : {0.0, 0.5})
          for (const bool leave_room : {false, true})
            best.offer(greedy(input, {.first = first,
                                      .delay = delay,
                                      .backlog = backlog,
                                      .leave_room = leave_room,
                                      .taper = taper}));
}

// The building blocks of ZB-V, V-Half and V-Min with all ways to wait a unit at the turns.
void search_blocks(const LineInput& input, const LineInput& given, Best& best) {
  constexpr std::array<std::array<int, 4>, 3> spacings{{{4, 2, 4, 2}, {2, 1, 2, 1}, {1, 1, 1, 1}}};
  for (const auto& spacing : spacings)
    for (int turns = 0; turns < 2; ++turns) {
      const auto order = repeat(input, {spacing, {turns & 1, turns >> 1 & 1, turns >> 2 & 1}});
      if (peak_in_flight(order.front(), 1) > input.limit) continue;
      if (input.times == given.times && input.latency == given.latency) best.offer(order);
      for (const double delay : {0.0, 1.0}) {
        best.offer(refill(input, order, delay, std::nullopt));
        best.offer(refill(input, order, delay, 1));
      }
    }
}

}  // namespace

Order zero_bubble(const OrderInput& asked) {
  const auto layout = layout_of(asked.schedule, asked.stages, asked.chunks);
  const int limit = asked.limit.value_or(memory_limit(asked.schedule, asked.stages).value_or(1));
  LineInput input{layout, asked.microbatches, asked.times, asked.latency, limit * layout.parts()};
  if (input.times.empty()) input.times.resize(static_cast<std::size_t>(asked.stages));
  Best best(input);
  for (const auto& variant : simpler(input)) {
    if (layout.kind == Layout::Kind::loop) {
      search_line(variant, best);
    } else {
      search_v(variant, best);
      search_blocks(variant, input, best);
    }
  }
  return best.take();
}

}  // namespace strategies
