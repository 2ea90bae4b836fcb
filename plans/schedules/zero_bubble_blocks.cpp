// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/zero_bubble_blocks.hpp"

#include <algorithm>
#include <optional>

namespace strategies {

namespace {

// The passes of a block on one stage, in the order F0 F1 B1 B0 W1 W0.
constexpr std::array<Slot, 6> passes{{{Pass::forward, 0, 0},
                                      {Pass::forward, 0, 1},
                                      {Pass::backward_input, 0, 1},
                                      {Pass::backward_input, 0, 0},
                                      {Pass::backward_weight, 0, 1},
                                      {Pass::backward_weight, 0, 0}}};
constexpr int period = static_cast<int>(passes.size());

// When each pass of microbatch 0 starts on a stage, and which units of the period are taken.
struct Starts {
  std::array<int, passes.size()> at{};
  unsigned taken = 0;
  bool free(int when) const { return (taken >> (when % period) & 1u) == 0; }
  // The first free unit from `when` on.
  int place(std::size_t pass, int when) {
    while (!free(when)) ++when;
    taken |= 1u << (when % period);
    return at[pass] = when;
  }
  void place_weights() {
    for (std::size_t pass = 4; pass < passes.size(); ++pass) place(pass, at[pass - 2] + 1);
  }
};

std::vector<Starts> starts_of(const BuildingBlock& block, int stages) {
  std::vector<Starts> starts(static_cast<std::size_t>(stages));
  int when = 0;
  for (std::size_t pass = 0; pass < 4; ++pass) {
    if (pass > 0) when += 1 + block.turn[pass - 1];
    for (int i = 0; i < stages; ++i) {
      if (i > 0) when += block.spacing[pass];
      when = starts[static_cast<std::size_t>(pass % 2 == 0 ? i : stages - 1 - i)].place(pass, when);
    }
  }
  for (auto& each : starts) each.place_weights();
  return starts;
}

// The starts on one stage, if no pass meets another one there.
std::optional<Starts> undisturbed(const BuildingBlock& block, int stage, int stages) {
  Starts starts;
  const int last = stages - 1;
  int begin = 0;
  for (std::size_t pass = 0; pass < 4; ++pass) {
    if (pass > 0) begin += block.spacing[pass - 1] * last + 1 + block.turn[pass - 1];
    const int when = begin + block.spacing[pass] * (pass % 2 == 0 ? stage : last - stage);
    if (!starts.free(when)) return std::nullopt;
    starts.place(pass, when);
  }
  starts.place_weights();
  return starts;
}

// The most chunks that a stage holds in a period in the middle of a long run, just after a forward
// began.
int most_held(const Starts& starts) {
  const auto passed = [](int now, int first) { return (now - first) / period; };
  int most = 0;
  for (const int now : {starts.at[0], starts.at[1]}) {
    int held = 0;
    for (std::size_t chunk = 0; chunk < 2; ++chunk)
      held += passed(now, starts.at[chunk]) - passed(now, starts.at[5 - chunk] + 1);
    most = std::max(most, held);
  }
  return most;
}

}  // namespace

std::vector<BuildingBlock> blocks_within(int limit, int stages) {
  std::vector<BuildingBlock> blocks;
  const auto fits = [&](const BuildingBlock& block) {
    for (int stage = 0; stage < stages; ++stage) {
      const auto starts = undisturbed(block, stage, stages);
      if (!starts || most_held(*starts) > limit) return false;
    }
    return true;
  };

  for (const auto& spacing : spacings) {
    for (int turns = 0; turns < period * period * period; ++turns) {
      const BuildingBlock block{spacing, {turns / 36, turns / 6 % 6, turns % 6}};
      if (fits(block)) blocks.push_back(block);
    }
    if (!blocks.empty() && stages > 4) break;
  }
  return blocks;
}

Order repeat(const LineInput& input, const BuildingBlock& block) {
  Order order;
  for (const auto& starts : starts_of(block, input.layout.stages)) {
    std::array<std::size_t, passes.size()> pass_of{};  // by unit of the period
    for (std::size_t pass = 0; pass < passes.size(); ++pass)
      pass_of[static_cast<std::size_t>(starts.at[pass] % period)] = pass;
    std::vector<Slot> slots;
    const auto all = passes.size() * static_cast<std::size_t>(input.microbatches);
    slots.reserve(all);
    for (int now = starts.at[0]; slots.size() < all; ++now) {
      const auto pass = pass_of[static_cast<std::size_t>(now % period)];
      const int since = now - starts.at[pass];
      if (since >= 0 && since < period * input.microbatches)
        slots.push_back({passes[pass].pass, since / period, passes[pass].chunk});
    }
    order.push_back(std::move(slots));
  }
  return order;
}

}  // namespace strategies
