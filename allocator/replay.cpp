// SPDX-License-Identifier: Apache-2.0
#include "allocator/replay.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace allocator {

namespace {

void add_calls(Counts& counts, const Counts& of, std::int64_t times) {
  counts.driver_allocations += times * of.driver_allocations;
  counts.driver_frees += times * of.driver_frees;
  counts.retries += times * of.retries;
}

// Adds counts that follow in time. If two peaks are equal, the first one counts.
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

// Returns the index of the first event for which there was no memory; nothing if all were played.
std::optional<std::size_t> play_all(CachingAllocator& allocator, std::span<const Event> events) {
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

struct Repeated {
  bool fits = true;
  std::optional<Recurrence> recurrence;
  std::int64_t skipped = 0;  // periods
};

// Calls once() up to `times` times, until it returns false. Where the allocator is then as it was
// after an earlier time, whole periods are skipped; states are compared after the first `compared`
// times.
template <class Once>
Repeated repeat(const CachingAllocator& allocator, std::int64_t times, std::int64_t compared,
                Once once) {
  Repeated result;
  std::vector<std::vector<std::int64_t>> states;
  std::int64_t played = 0;
  for (auto left = times; left > 0; --left) {
    result.fits = once();
    ++played;
    if (!result.fits) break;
    if (result.recurrence || played > compared) continue;
    auto state = allocator.state();
    const auto period = states.end() - std::ranges::find(states, state);
    if (period == 0) {
      states.push_back(std::move(state));
      continue;
    }
    result.recurrence = {played, period};
    result.skipped = (left - 1) / period;
    left -= result.skipped * period;
  }
  return result;
}

// Plays steps one after the other and counts each of them by itself.
class Steps {
 public:
  Steps(CachingAllocator& allocator, const Timeline& timeline, std::int64_t compared,
        Replayed& result)
      : allocator_(allocator), timeline_(timeline), compared_(compared), result_(result) {}

  bool before() {
    return counted(result_.before, [&] { return play_part(timeline_.before, -1, 0); });
  }
  bool next() {
    counts_.emplace_back();
    const bool fits = counted(counts_.back(), [&] { return play_step(); });
    if (counts_.size() == 1) result_.first = counts_.front();
    ++result_.played;
    return fits;
  }
  // Adds the driver calls of the `count` steps before `end`, for `times` periods that are skipped.
  void skip(std::int64_t end, std::int64_t count, std::int64_t times) {
    for (auto step = end - count; step < end; ++step)
      add_calls(result_.all, counts_[static_cast<std::size_t>(step)], times);
  }
  void steady_in(std::int64_t end, std::int64_t count) {
    result_.steady = counts_[static_cast<std::size_t>(end - count)];
    for (auto step = end - count + 1; step < end; ++step)
      append(result_.steady, counts_[static_cast<std::size_t>(step)]);
  }

 private:
  template <class Play>
  bool counted(Counts& counts, Play play) {
    allocator_.reset_peaks();
    skipped_ = {};
    const auto begin = allocator_.counts();
    const bool fits = play();
    counts = allocator_.counts();
    add_calls(counts, begin, -1);
    add_calls(counts, skipped_, 1);
    append(result_.all, counts);
    return fits;
  }
  bool play_step() {
    const std::span events{timeline_.step};
    const auto& rounds = timeline_.rounds;
    const auto& once = timeline_.once;
    bool to_come = result_.played == 0 && !once.events.empty();
    const auto straight = [&](std::size_t from, std::size_t to) {
      return play_part(events.subspan(from, to - from), result_.played, from);
    };
    const auto part = [&](std::size_t from, std::size_t to) {
      if (!to_come || once.at < from || once.at > to) return straight(from, to);
      to_come = false;
      return straight(from, once.at) && play_part(once.events, 0, 0) && straight(once.at, to);
    };
    if (rounds.count == 1) return part(0, events.size());
    if (!part(0, rounds.begin)) return false;
    std::vector<Counts> since{allocator_.counts()};  // the beginning of each round
    const auto repeated = repeat(allocator_, rounds.count, compared_, [&] {
      const bool fits = straight(rounds.begin, rounds.end);
      since.push_back(allocator_.counts());
      return fits;
    });
    if (!repeated.fits) return false;
    if (const auto& found = repeated.recurrence) {
      const auto after = static_cast<std::size_t>(found->after);
      add_calls(skipped_, since[after], repeated.skipped);
      add_calls(skipped_, since[after - static_cast<std::size_t>(found->period)],
                -repeated.skipped);
    }
    return part(rounds.end, events.size());
  }
  bool play_part(std::span<const Event> events, std::int64_t step, std::size_t offset) {
    const auto failed = play_all(allocator_, events);
    if (failed) result_.failure = failure_of(allocator_, events[*failed], step, offset + *failed);
    return !failed;
  }

  CachingAllocator& allocator_;
  const Timeline& timeline_;
  std::int64_t compared_;
  Replayed& result_;
  std::vector<Counts> counts_;  // by step
  Counts skipped_;              // calls of the driver in rounds of this step that are not played
};

}  // namespace

std::optional<std::size_t> play(CachingAllocator& allocator, const Events& events) {
  return play_all(allocator, events);
}

Replayed replay(CachingAllocator& allocator, const Timeline& timeline, std::int64_t steps,
                std::int64_t compared) {
  Replayed result;
  Steps played(allocator, timeline, compared, result);
  if (!played.before()) return result;
  const auto repeated = repeat(allocator, steps, compared, [&] { return played.next(); });
  if (!repeated.fits || result.played == 0) return result;
  result.recurrence = repeated.recurrence;
  const auto [end, period] = repeated.recurrence.value_or(Recurrence{result.played, 1});
  played.skip(end, period, repeated.skipped);
  played.steady_in(end, period);
  return result;
}

}  // namespace allocator
