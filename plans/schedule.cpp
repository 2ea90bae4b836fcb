// SPDX-License-Identifier: Apache-2.0
#include "plans/schedule.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "plans/limits.hpp"
#include "plans/schedule_needs.hpp"
#include "plans/zero_bubble.hpp"

namespace strategies {

namespace {

// Alternates once `warmup` forwards are done: forwards and backwards each in their given order.
std::vector<Slot> alternate(const std::vector<Slot>& forwards, const std::vector<Slot>& backwards,
                            int warmup, bool in_pairs = false) {
  const auto total = forwards.size();
  const auto ahead = std::min(static_cast<std::size_t>(std::max(0, warmup)), total);
  std::vector<Slot> slots(forwards.begin(), forwards.begin() + static_cast<std::ptrdiff_t>(ahead));
  slots.reserve(2 * total);
  for (auto i = ahead; i < total; ++i) {
    slots.push_back(forwards[i]);
    slots.back().paired = in_pairs;
    slots.push_back(backwards[i - ahead]);
  }
  slots.insert(slots.end(), backwards.begin() + static_cast<std::ptrdiff_t>(total - ahead),
               backwards.end());
  return slots;
}

bool releases(Pass pass) { return pass == Pass::backward || pass == Pass::backward_weight; }

}  // namespace

std::vector<Slot> gpipe(int microbatches) {
  std::vector<Slot> slots;
  for (int m = 0; m < microbatches; ++m) slots.push_back({Pass::forward, m, 0});
  for (int m = 0; m < microbatches; ++m) slots.push_back({Pass::backward, m, 0});
  return slots;
}

std::vector<Slot> one_f_one_b(int stage, int stages, int microbatches) {
  std::vector<Slot> forwards, backwards;
  for (int m = 0; m < microbatches; ++m) {
    forwards.push_back({Pass::forward, m, 0});
    backwards.push_back({Pass::backward, m, 0});
  }
  return alternate(forwards, backwards, stages - 1 - stage);
}

namespace {

std::vector<Slot> interleave(int stage, int stages, int chunks, int microbatches, bool in_pairs) {
  const int groups = (microbatches + stages - 1) / stages;
  std::vector<Slot> forwards, backwards;
  for (int group = 0; group < groups; ++group)
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (int m = group * stages; m < (group + 1) * stages; ++m) {
        forwards.push_back({Pass::forward, m, chunk});
        backwards.push_back({Pass::backward, m, chunks - 1 - chunk});
      }
  const int warmup = 2 * (stages - 1 - stage) + (chunks - 1) * stages + (in_pairs ? 1 : 0);
  auto slots = alternate(forwards, backwards, warmup, in_pairs);
  const auto missing = [&](const Slot& slot) { return slot.microbatch >= microbatches; };
  for (std::size_t i = 0; i + 1 < slots.size(); ++i)
    if (missing(slots[i + 1])) slots[i].paired = false;
  std::erase_if(slots, missing);
  return slots;
}

}  // namespace

std::vector<Slot> interleaved(int stage, int stages, int chunks, int microbatches) {
  return interleave(stage, stages, chunks, microbatches, false);
}

std::vector<Slot> interleaved_pairs(int stage, int stages, int chunks, int microbatches) {
  return interleave(stage, stages, chunks, microbatches, true);
}

bool is_searched(ScheduleKind schedule) { return memory_limit(schedule, 1).has_value(); }

namespace {

void check_dualpipe(const OrderInput& input) {
  const bool mirrored = input.schedule == ScheduleKind::dualpipe;
  if (!takes_stages(input.schedule, input.stages))
    throw std::invalid_argument("dualpipe needs an even number of stages");
  if (!takes_odd_microbatches(input.schedule) && input.microbatches % 2 != 0)
    throw std::invalid_argument(
        "dualpipe needs an even number of microbatches: half of them go each way");
  if (!takes_microbatches(input.schedule, input.stages, input.microbatches))
    throw std::invalid_argument((mirrored ? "dualpipe" : "dualpipe-v") +
                                std::string(" needs at least two microbatches per stage: ") +
                                std::to_string(least_microbatches(input.schedule, input.stages)));
}

void check_chunks(const OrderInput& input) {
  if (takes_chunks(input.schedule, input.chunks)) return;
  const auto kind = layout_of(input.schedule, 1, 1).kind;
  if (kind == Layout::Kind::loop)
    throw std::invalid_argument("only the interleaved schedule runs several chunks per stage");
  if (kind == Layout::Kind::v)
    throw std::invalid_argument("the V schedules run two chunks per stage, not " +
                                std::to_string(input.chunks));
  throw std::invalid_argument("dualpipe divides no stage into chunks");
}

void check(const OrderInput& input) {
  if (input.stages < 1) throw std::invalid_argument("a pipeline needs at least one stage");
  if (input.microbatches < 1) throw std::invalid_argument("a step needs at least one microbatch");
  if (input.chunks < 1) throw std::invalid_argument("a stage needs at least one model chunk");
  check_chunks(input);
  const auto kind = input.schedule;
  if (kind == ScheduleKind::dualpipe || kind == ScheduleKind::dualpipe_v) check_dualpipe(input);
  if (input.limit && !is_searched(kind))
    throw std::invalid_argument("only the zero-bubble schedules take a memory limit");
  if (input.pairs && kind != ScheduleKind::one_f_one_b && kind != ScheduleKind::interleaved)
    throw std::invalid_argument("only 1f1b and interleaved pair their passes when asked to");
  if (input.limit && *input.limit < 1)
    throw std::invalid_argument("a stage must be able to hold at least one microbatch");
  if (!input.times.empty() && input.times.size() != static_cast<std::size_t>(input.stages))
    throw std::invalid_argument("pass times are needed for every stage, or for none");
  if (const auto refused = too_large({kind, input.stages, input.chunks, input.microbatches}))
    throw Refusal(*refused);
}

std::vector<Slot> fixed_order(const OrderInput& input, int stage) {
  switch (input.schedule) {
    case ScheduleKind::gpipe:
      return gpipe(input.microbatches);
    case ScheduleKind::dualpipe:
      return dualpipe(stage, input.stages, input.microbatches);
    case ScheduleKind::dualpipe_v:
      return dualpipe_v(stage, input.stages, input.microbatches);
    default:
      if (input.pairs)
        return interleaved_pairs(stage, input.stages, input.chunks, input.microbatches);
      return input.chunks == 1 ? one_f_one_b(stage, input.stages, input.microbatches)
                               : interleaved(stage, input.stages, input.chunks, input.microbatches);
  }
}

}  // namespace

std::optional<int> memory_limit(ScheduleKind schedule, int stages) {
  switch (schedule) {
    case ScheduleKind::zb_h1:
    case ScheduleKind::zb_v:
      return stages;
    case ScheduleKind::zb_h2:
      return 2 * stages - 1;
    case ScheduleKind::v_half:
      return (stages + 2) / 2;
    case ScheduleKind::v_min:
      return (stages + 4) / 3;
    default:
      return std::nullopt;
  }
}

Order order_of(const OrderInput& input) {
  check(input);
  if (is_searched(input.schedule)) return zero_bubble(input);
  Order order;
  for (int stage = 0; stage < input.stages; ++stage) order.push_back(fixed_order(input, stage));
  return order;
}

Order order_of(ScheduleKind schedule, int stages, int chunks, int microbatches) {
  return order_of({schedule, stages, chunks, microbatches, {}, 0, {}});
}

double peak_in_flight(const std::vector<Slot>& slots, int parts) {
  int held = 0, most = 0;
  for (const auto& slot : slots) {
    if (slot.pass == Pass::forward) most = std::max(most, ++held);
    if (releases(slot.pass)) --held;
  }
  return static_cast<double>(most) / parts;
}

std::vector<std::vector<int>> in_flight_vectors(const std::vector<Slot>& slots, int chunks) {
  std::vector<std::vector<int>> peaks;
  std::vector<int> live(static_cast<std::size_t>(chunks), 0);
  bool grew = false;
  const auto covers = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::ranges::equal(a, b, std::greater_equal<>{});
  };
  const auto keep = [&] {
    if (std::ranges::any_of(peaks, [&](const auto& peak) { return covers(peak, live); })) return;
    std::erase_if(peaks, [&](const auto& peak) { return covers(live, peak); });
    peaks.push_back(live);
  };
  for (const auto& slot : slots) {
    auto& count = live[static_cast<std::size_t>(slot.chunk)];
    if (slot.pass == Pass::forward) {
      ++count;
      grew = true;
    } else if (releases(slot.pass)) {
      if (grew) keep();
      grew = false;
      --count;
    }
  }
  std::ranges::sort(peaks);
  return peaks;
}

}  // namespace strategies
