// SPDX-License-Identifier: Apache-2.0
#include "allocator/replay.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "allocator/sections.hpp"

namespace allocator {

namespace {

void add_calls(Counts& counts, const Counts& of, std::int64_t times) {
  counts.driver_allocations += times * of.driver_allocations;
  counts.driver_frees += times * of.driver_frees;
  counts.retries += times * of.retries;
}

// Adds counts that follow in time.
void append(Counts& counts, Counts next) {
  next.include_peaks(counts);
  add_calls(next, counts, 1);
  counts = next;
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

// The same of [from, to) of the events that have sections, some of which are skipped.
std::optional<std::size_t> play_sections(CachingAllocator& allocator, Sections& sections,
                                         std::span<const Event> events, std::size_t from,
                                         std::size_t to) {
  const auto all = sections.all();
  const auto play_to = [&](std::size_t end) {
    const auto failed = play_all(allocator, events.subspan(from, end - from));
    return failed ? std::optional(from + *failed) : std::nullopt;
  };
  for (auto at = std::ranges::lower_bound(all, from, {}, &Sections::Section::begin);
       at != all.end() && at->end <= to; ++at) {
    if (const auto failed = play_to(at->begin)) return failed;
    from = at->begin;
    if (!sections.skip(allocator, *at)) {
      const auto failed = play_to(at->end);
      sections.played(allocator);
      if (failed) return failed;
    }
    from = at->end;
  }
  return play_to(to);
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
      : allocator_(allocator),
        timeline_(timeline),
        compared_(compared),
        result_(result),
        sections_(timeline.step, cuts_of(timeline), allocator) {}

  bool before() {
    return counted(result_.before, [&] { return play_once(timeline_.before, -1); });
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
    const auto& rounds = timeline_.rounds;
    const auto& once = timeline_.once;
    bool to_come = result_.played == 0 && !once.events.empty();
    const auto straight = [&](std::size_t from, std::size_t to) {
      const auto failed = play_sections(allocator_, sections_, timeline_.step, from, to);
      return fits(failed, timeline_.step, result_.played);
    };
    const auto part = [&](std::size_t from, std::size_t to) {
      if (!to_come || once.at < from || once.at > to) return straight(from, to);
      to_come = false;
      return straight(from, once.at) && play_once(once.events, 0) && straight(once.at, to);
    };
    const auto end = timeline_.step.size();
    if (rounds.count == 1) return part(0, end);
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
    return part(rounds.end, end);
  }
  bool play_once(const Events& events, std::int64_t step) {
    return fits(play_all(allocator_, events), events, step);
  }
  bool fits(std::optional<std::size_t> failed, const Events& events, std::int64_t step) {
    if (failed) result_.failure = failure_of(allocator_, events[*failed], step, *failed);
    return !failed;
  }
  static std::array<std::size_t, 3> cuts_of(const Timeline& timeline) {
    std::array cuts{timeline.rounds.begin, timeline.rounds.end, timeline.once.at};
    std::ranges::sort(cuts);
    return cuts;
  }

  CachingAllocator& allocator_;
  const Timeline& timeline_;
  std::int64_t compared_;
  Replayed& result_;
  std::vector<Counts> counts_;  // by step
  Sections sections_;           // of the step
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
