// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/zero_bubble.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/refusal.hpp"
#include "plans/schedules/schedule.hpp"
#include "plans/schedules/zero_bubble_blocks.hpp"
#include "plans/schedules/zero_bubble_length.hpp"
#include "plans/schedules/zero_bubble_polish.hpp"
#include "plans/schedules/zero_bubble_rules.hpp"

namespace strategies {

namespace {

using Recipe = std::function<Order(const LineInput&)>;

// A way to make an order, and the times to make it for.
struct Candidate {
  const Recipe* recipe;
  LineInput input;
  Length length{};
};

// Whether the pipeline is so small that there is time to try many orders.
bool small(const LineInput& input) { return input.layout.stages * input.microbatches <= 128; }

// Orders found for simpler times are often good for the given ones: without latency, and with all
// passes alike. Building blocks know no times, so there this pays for small pipelines only.
std::vector<LineInput> simpler(const LineInput& input) {
  std::vector<LineInput> all{input};
  if (input.layout.kind == Layout::Kind::v && !small(input)) return all;
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

Recipe by_greed(const Greed& rules) {
  return [rules](const LineInput& input) { return greedy(input, rules); };
}

// 1F1B with each weight pass right after its backward: never longer than 1F1B.
Order split_one_f_one_b(const LineInput& input) {
  Order order(static_cast<std::size_t>(input.layout.stages));
  for (int stage = 0; stage < input.layout.stages; ++stage)
    for (const auto& slot : one_f_one_b(stage, input.layout.stages, input.microbatches)) {
      auto& slots = order[static_cast<std::size_t>(stage)];
      const bool forward = slot.pass == Pass::forward;
      slots.push_back({forward ? Pass::forward : Pass::backward_input, slot.microbatch, 0});
      if (!forward) slots.push_back({Pass::backward_weight, slot.microbatch, 0});
    }
  return order;
}

std::vector<Recipe> recipes_for_line() {
  std::vector<Recipe> recipes{split_one_f_one_b};
  for (const auto first : {Greed::First::alternate, Greed::First::backward})
    for (const double delay : {0.0, 0.75})
      recipes.push_back(by_greed({.first = first, .delay = delay, .lookahead = 0.5}));
  return recipes;
}

// All rules for a V, for limits that leave no room for a block.
std::vector<Recipe> greedy_recipes_for_v() {
  std::vector<Recipe> recipes;
  for (const auto first : {Greed::First::backward, Greed::First::completion,
                           Greed::First::later_forward, Greed::First::later_chunk})
    for (const int backlog : {0, 4})
      for (const double taper : {0.0, 0.5})
        for (const bool leave_room : {false, true}) {
          const Greed rules{
              .first = first, .backlog = backlog, .leave_room = leave_room, .taper = taper};
          recipes.push_back(by_greed(rules));
          recipes.push_back([rules](const LineInput& in) {
            return tighten(in, greedy(in, rules), {.delay = 1});
          });
        }
  return recipes;
}

LineInput with_few_microbatches(LineInput input, int few) {
  if (!small(input)) input.microbatches = std::min(input.microbatches, few);
  return input;
}

// Estimates the makespan of a repeated block with all microbatches from that with few.
std::int64_t makespan_of(const BuildingBlock& block, const LineInput& input) {
  const auto with = [&](int microbatches) {
    auto few = input;
    few.microbatches = microbatches;
    return length_of(few, repeat(few, block)).makespan;
  };
  constexpr int more = 4;
  const int few = input.layout.stages + 2;
  const auto begun = with(few);
  return begun + (input.microbatches - few) * (with(few + more) - begun) / more;
}

// The blocks worth a closer look: those whose plain repetition takes least time.
std::vector<BuildingBlock> promising_blocks(const LineInput& input) {
  auto blocks = blocks_within(input.limit, input.layout.stages);
  constexpr std::size_t enough = 16;
  if (small(input) || blocks.size() <= enough) return blocks;
  std::vector<std::pair<std::int64_t, BuildingBlock>> ranked;
  for (const auto& block : blocks) ranked.push_back({makespan_of(block, input), block});
  std::ranges::stable_sort(ranked, {}, &std::pair<std::int64_t, BuildingBlock>::first);
  blocks.clear();
  for (std::size_t i = 0; i < enough; ++i) blocks.push_back(ranked[i].second);
  return blocks;
}

std::vector<Recipe> recipes_for_v(const LineInput& input) {
  std::vector<Recipe> recipes;
  for (const auto& block : promising_blocks(input)) {
    const auto repeated = [block](const LineInput& in) { return repeat(in, block); };
    for (const auto& rules :
         {Tightening{.leave_room = true}, Tightening{.delay = 0.5, .leave_room = true},
          Tightening{.delay = 0.5, .leave_room = true, .share_gaps = true, .when_full = true}})
      recipes.push_back([=](const LineInput& in) { return tighten(in, repeated(in), rules); });
  }
  for (const auto& spacing : spacings)
    for (const int turn : {0, 1}) {
      const BuildingBlock block{spacing, {turn, 0, 0}};
      recipes.push_back([=](const LineInput& in) -> Order {
        const auto order = repeat(in, block);
        if (peak_in_flight(order.front(), 1) > in.limit) return {};
        return tighten(in, refill(in, order), {});
      });
    }
  recipes.push_back(by_greed({.first = Greed::First::completion, .backlog = 4, .taper = 0.5}));
  recipes.push_back(by_greed({.first = Greed::First::later_chunk, .taper = 0.5}));
  recipes.push_back(by_greed(
      {.first = Greed::First::later_chunk, .backlog = 4, .leave_room = true, .taper = 0.5}));
  return recipes;
}

bool within(const Order& order, int limit) {
  return !order.empty() && std::ranges::all_of(order, [&](const auto& slots) {
    return peak_in_flight(slots, 1) <= limit;
  });
}

// The best order of some recipes; empty if none stays inside the limit. All are tried with few
// microbatches, and the best of them with all.
Order best_of(const std::vector<Recipe>& recipes, const LineInput& input) {
  const auto few = with_few_microbatches(input, 2 * input.layout.stages + 2);
  std::vector<Candidate> candidates;
  for (const auto& variant : simpler(few))
    for (const auto& recipe : recipes) {
      const auto order = recipe(variant);
      if (!within(order, input.limit)) continue;
      candidates.push_back({&recipe, variant, length_of(few, order)});
    }
  std::ranges::stable_sort(candidates, {}, &Candidate::length);
  const auto equal = [](const auto& a, const auto& b) { return a.length == b.length; };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), equal), candidates.end());
  Order best;
  Length least;
  const auto finalists =
      std::clamp(50'000 / (3 * input.layout.virtual_stages() * input.microbatches), 1, 4);
  if (candidates.size() > static_cast<std::size_t>(finalists))
    candidates.erase(candidates.begin() + finalists, candidates.end());
  for (auto& candidate : candidates) {
    candidate.input.microbatches = input.microbatches;
    auto order = (*candidate.recipe)(candidate.input);
    if (!within(order, input.limit)) continue;
    const auto length = small(input) ? polish(input, order, 200) : length_of(input, order);
    if (!best.empty() && !(length < least)) continue;
    least = length;
    best = std::move(order);
  }
  return best;
}

Order best_of_all(const LineInput& input) {
  const bool line = input.layout.kind == Layout::Kind::loop;
  auto recipes = line ? recipes_for_line() : recipes_for_v(input);
  if (!line && small(input)) std::ranges::copy(greedy_recipes_for_v(), std::back_inserter(recipes));
  auto best = best_of(recipes, input);
  if (best.empty() && !line) best = best_of(greedy_recipes_for_v(), input);
  return best;
}

// All passes of all stages together may take longer than `never`. Divides all times by a power of
// two until their sum is far below it: orders follow from how times compare.
void shorten(LineInput& input) {
  const auto ticks = [](std::int64_t time) { return static_cast<double>(time); };
  double sum = 0;
  for (const auto& times : input.times)
    sum += ticks(times.forward) + ticks(times.backward) + ticks(times.weight) +
           2 * ticks(input.latency);
  sum *= static_cast<double>(input.layout.chunks) * static_cast<double>(input.microbatches);
  if (sum < ticks(never)) return;
  for (; sum > ticks(never / 2); sum /= 2) {
    input.latency /= 2;
    for (auto& times : input.times)
      times = {times.forward / 2, times.backward / 2, times.weight / 2};
  }
}

}  // namespace

Order zero_bubble(const OrderInput& asked) {
  const auto layout = layout_of(asked.schedule, asked.stages, asked.chunks);
  const int limit = asked.limit.value_or(memory_limit(asked.schedule, asked.stages).value_or(1));
  LineInput input{layout, asked.microbatches, asked.times, asked.latency, limit * layout.parts()};
  if (input.times.empty()) input.times.resize(static_cast<std::size_t>(asked.stages));
  shorten(input);
  const auto best = best_of_all(input);
  if (best.empty())
    throw Refusal({"plan.schedule", "search.schedule"},
                  "no order of this schedule stays inside its memory limit; write another one");
  return best;
}

}  // namespace strategies
