// SPDX-License-Identifier: Apache-2.0
#include "allocator/replay.hpp"

#include <algorithm>

namespace allocator {

namespace {

void add_calls(Counts& counts, const Counts& of, std::int64_t times) {
  counts.driver_allocations += times * of.driver_allocations;
  counts.driver_frees += times * of.driver_frees;
  counts.retries += times * of.retries;
}

// Adds counts that follow in time. Of two equal peaks the first one counts.
void append(Counts& counts, const Counts& next) {
  if (next.allocated.peak > counts.allocated.peak) counts.unused_at_peak = next.unused_at_peak;
  for (auto gauge : {&Counts::requested, &Counts::allocated, &Counts::active, &Counts::reserved})
    counts.*gauge = {(next.*gauge).now, std::max((counts.*gauge).peak, (next.*gauge).peak)};
  add_calls(counts, next, 1);
}

bool happens(CachingAllocator& allocator, const Event& event) {
  using enum Event::Kind;
  switch (event.kind) {
    case allocate:
      return allocator.allocate(event.tensor, event.size, event.stream);
    case free:
      allocator.free(event.tensor);
      break;
    case record_stream:
      allocator.record_stream(event.tensor, event.stream);
      break;
    case passes:
      allocator.passes(event.tensor, event.stream);
      break;
    case synchronize:
      allocator.synchronize();
      break;
    case empty_cache:
      allocator.empty_cache();
      break;
  }
  return true;
}

Failure failure_of(const CachingAllocator& allocator, const Event& event, std::int64_t step,
                   std::size_t index) {
  const auto& counts = allocator.counts();
  const auto shortage = allocator.shortage(event.size, event.stream);
  const bool too_much = counts.allocated.now + shortage.block > shortage.limit;
  return {.cause = too_much ? Failure::Cause::tensors : Failure::Cause::fragments,
          .step = step,
          .event = index,
          .tensor = event.tensor,
          .requested = event.size,
          .allocated = counts.allocated.now,
          .reserved = counts.reserved.now,
          .limit = shortage.limit,
          .largest_free = shortage.largest_free};
}

// Steps, one after the other, each counted for itself.
class Steps {
 public:
  Steps(CachingAllocator& allocator, const Timeline& timeline, Replayed& result)
      : allocator_(allocator), timeline_(timeline), result_(result) {}

  bool before() { return run(timeline_.before, -1, result_.before); }
  bool next() {
    counts_.emplace_back();
    const bool fits = run(timeline_.step, result_.played, counts_.back());
    if (counts_.size() == 1) result_.first = counts_.front();
    ++result_.played;
    return fits;
  }
  // After the last step: how many steps ago the allocator was the same, or 0.
  std::int64_t seen() {
    auto state = allocator_.state();
    const auto found = std::ranges::find(states_, state);
    const auto ago = states_.end() - found;
    if (ago == 0) states_.push_back(std::move(state));
    return ago;
  }
  // Steps [first, first + count), as often.
  void repeat(std::int64_t first, std::int64_t count, std::int64_t times) {
    for (auto step = first; step < first + count; ++step)
      add_calls(result_.all, counts_[static_cast<std::size_t>(step)], times);
  }
  void steady_since(std::int64_t first) {
    result_.steady = counts_[static_cast<std::size_t>(first)];
    for (auto step = first + 1; step < result_.played; ++step)
      append(result_.steady, counts_[static_cast<std::size_t>(step)]);
  }

 private:
  bool run(const Events& events, std::int64_t step, Counts& counts) {
    allocator_.reset_peaks();
    const auto begin = allocator_.counts();
    const auto failed = play(allocator_, events);
    if (failed) result_.failure = failure_of(allocator_, events[*failed], step, *failed);
    counts = allocator_.counts();
    add_calls(counts, begin, -1);
    append(result_.all, counts);
    return !failed;
  }

  CachingAllocator& allocator_;
  const Timeline& timeline_;
  Replayed& result_;
  std::vector<Counts> counts_;  // by step
  std::vector<std::vector<std::int64_t>> states_;
};

}  // namespace

std::optional<std::size_t> play(CachingAllocator& allocator, const Events& events) {
  using enum Event::Kind;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    const bool passes_by = event.kind == allocate && i + 1 < events.size() &&
                           events[i + 1].kind == free && events[i + 1].tensor == event.tensor;
    if (passes_by && allocator.passing(event.size, event.stream))
      ++i;
    else if (!happens(allocator, event))
      return i;
  }
  return {};
}

Replayed replay(CachingAllocator& allocator, const Timeline& timeline, std::int64_t steps,
                std::int64_t compared) {
  Replayed result;
  Steps played(allocator, timeline, result);
  if (!played.before()) return result;
  for (auto left = steps; left > 0; --left) {
    if (!played.next()) return result;
    if (result.recurrence || result.played > compared) continue;
    const auto period = played.seen();
    if (period == 0) continue;
    result.recurrence = {result.played, period};
    played.steady_since(result.played - period);
    // What is left besides whole periods is played.
    const auto first = result.played - period;
    played.repeat(first, period, (left - 1) / period);
    left -= (left - 1) / period * period;
  }
  if (!result.recurrence && result.played > 0) played.steady_since(result.played - 1);
  return result;
}

}  // namespace allocator
