// SPDX-License-Identifier: Apache-2.0
// Stretches of events that are not played again.
#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "allocator/replay.hpp"
#include "allocator/sections.hpp"
#include "tests/allocator/random_events.hpp"
#include "tests/catch.hpp"

namespace sections_spec {

using allocator::CachingAllocator;
using allocator::Event;
using allocator::Events;
using allocator::mib, allocator::gib;
using allocator::Sections;
using allocator::TensorId;

Event give(TensorId tensor, allocator::Size size) {
  return {Event::Kind::allocate, tensor, 0, size};
}
Event take(TensorId tensor) { return {Event::Kind::free, tensor}; }

// 18 events: 2, 12 and 2 MiB together, the last one seven times.
Events nested(TensorId first) {
  Events events{give(first, 2 * mib), give(first + 1, 12 * mib)};
  for (int i = 0; i < 7; ++i) {
    events.push_back(give(first + 2, 2 * mib));
    events.push_back(take(first + 2));
  }
  events.push_back(take(first + 1));
  events.push_back(take(first));
  return events;
}

void add(Events& events, const Events& more) {
  events.insert(events.end(), more.begin(), more.end());
}

std::vector<std::pair<std::size_t, std::size_t>> bounds_of(const Sections& sections) {
  std::vector<std::pair<std::size_t, std::size_t>> bounds;
  for (const auto& section : sections.all()) bounds.emplace_back(section.begin, section.end);
  return bounds;
}

TEST_CASE("a section lies between tensors that live on, and within the cuts") {
  using Bounds = std::vector<std::pair<std::size_t, std::size_t>>;
  Events events{give(0, mib)};
  add(events, nested(10));
  events.push_back(give(1, mib));
  add(events, nested(20));
  add(events, nested(30));
  add(events, {take(0), take(1)});
  const CachingAllocator plain({}, {gib, {}});
  const Sections whole(events, {}, plain);
  CHECK(bounds_of(whole) == Bounds{{1, 19}, {20, 56}});
  const std::vector<std::size_t> cuts{0, 38};
  const Sections cut(events, cuts, plain);
  CHECK(bounds_of(cut) == Bounds{{1, 19}, {20, 38}, {38, 56}});
  CHECK(cut.all()[0].alike == cut.all()[1].alike);
  CHECK(cut.all()[1].alike == cut.all()[2].alike);
  CHECK(cut.all()[0].least_large == 2 * mib);
  CHECK(cut.all()[0].least_small == 0);
  CHECK(cut.all()[0].together == (2 + 12 + 2 + 3) * mib);
  events[2].size = 13 * mib;
  const Sections other(events, cuts, plain);
  CHECK(other.all()[0].alike != other.all()[1].alike);
  CHECK(other.all()[1].alike == other.all()[2].alike);
}

// Free are 40 MiB and, at the lower addresses, 18 MiB, of which 2 remain when all three tensors
// have theirs.
TEST_CASE("a section is skipped where blocks of the same sizes are free, wherever they are") {
  const auto events = nested(10);
  CachingAllocator memory({}, {gib, {}});
  Sections sections(events, {}, memory);
  REQUIRE(sections.all().size() == 1);
  const auto& section = sections.all()[0];
  play(memory, {give(0, 40 * mib), give(1, 18 * mib), take(0), take(1)});
  CHECK_FALSE(sections.skip(memory, section));
  play(memory, events);
  sections.played(memory);
  CHECK(memory.counts().allocated == allocator::Gauge{0, 58 * mib});
  memory.reset_peaks();
  CHECK(sections.skip(memory, section));
  CHECK(memory.counts().allocated == allocator::Gauge{0, 16 * mib});
  CHECK(memory.counts().requested == allocator::Gauge{0, 16 * mib});
  CHECK(memory.counts().active == allocator::Gauge{0, 16 * mib});
  CHECK(memory.counts().unused_at_peak == 42 * mib);

  CachingAllocator elsewhere({}, {gib, {}});
  play(elsewhere,
       {give(5, 100 * mib), give(6, mib), give(0, 40 * mib), give(1, 18 * mib), take(0), take(1)});
  CHECK(sections.skip(elsewhere, section));  // 1 MiB is of the other pool
  CachingAllocator swapped({}, {gib, {}});
  play(swapped, {give(1, 18 * mib), give(0, 40 * mib), take(0), take(1)});
  CHECK_FALSE(sections.skip(swapped, section));  // the smaller one has the higher address
  play(memory, {give(2, 3 * mib)});
  CHECK_FALSE(sections.skip(memory, section));  // 15 MiB are left of 18
  play(memory, {take(2), give(2, 40 * mib), give(3, 60 * mib), take(2), take(3)});
  CHECK(sections.skip(memory, section));  // of 40 and 60 MiB only the smaller one is used
}

TEST_CASE("where more than sizes decides, no section is skipped") {
  const auto events = nested(10);
  allocator::Trace trace;
  allocator::Settings expands, collects;
  expands.expandable_segments = true;
  collects.garbage_collection_threshold = 0.5;
  CachingAllocator free({}, {gib, {}}), traced({}, {gib, {}}, &trace),
      expanding(expands, {gib, {}}), collecting(collects, {gib, gib}), waiting({}, {gib, {}});
  Sections sections(events, {}, free);
  const auto& section = sections.all()[0];
  play(free, {give(0, 20 * mib), take(0)});
  CHECK_FALSE(sections.skip(free, section));
  play(free, events);
  sections.played(free);
  CHECK(sections.skip(free, section));
  play(traced, {give(0, 20 * mib), take(0)});
  CHECK_FALSE(sections.skip(traced, section));
  play(expanding, {give(0, 20 * mib), take(0)});
  CHECK_FALSE(sections.skip(expanding, section));
  play(collecting, {give(0, 20 * mib), take(0)});
  CHECK_FALSE(sections.skip(collecting, section));
  play(waiting, {give(1, 20 * mib), take(1), give(0, mib), {Event::Kind::record_stream, 0, 1}});
  CHECK_FALSE(sections.skip(waiting, section));
  play(waiting, {take(0)});
  CHECK_FALSE(sections.skip(waiting, section));
}

TEST_CASE("of two equal peaks the first counts") {
  CachingAllocator memory({}, {gib, {}});
  play(memory, {give(0, 20 * mib), take(0)});
  const auto before = memory.counts();
  CHECK(before.unused_at_peak == 0);
  play(memory, {give(0, 20 * mib), give(1, 20 * mib), take(0), take(1)});
  memory.reset_peaks();
  play(memory, {give(0, 20 * mib), take(0)});
  auto counts = memory.counts();
  CHECK(counts.unused_at_peak == 20 * mib);
  counts.include_peaks(before);
  CHECK(counts.unused_at_peak == 0);
  CHECK(counts.reserved.peak == 40 * mib);
}

// Tensors of a few sizes that are freed in the opposite order.
Events random_section(std::mt19937& random, TensorId first) {
  const allocator::Size sizes[] = {mib / 4, mib, 2 * mib, 5 * mib, 12 * mib, 30 * mib};
  Events events;
  std::vector<TensorId> alive;
  auto next = first;
  const bool other_stream = random() % 6 == 0;
  while (events.size() < 20 || !alive.empty()) {
    if (alive.size() < 5 && events.size() < 20 && random() % 2 == 0) {
      events.push_back(give(next, sizes[random() % 6] + static_cast<int>(random() % 3)));
      if (other_stream && random() % 4 == 0) events.back().stream = 1;
      alive.push_back(next++);
    } else if (!alive.empty()) {
      events.push_back(take(alive.back()));
      alive.pop_back();
    }
  }
  return events;
}

// A step of sections of three kinds, between which tensors begin and end.
Events random_step(std::mt19937& random) {
  std::vector<Events> kinds;
  for (TensorId kind = 0; kind < 3; ++kind) kinds.push_back(random_section(random, 100 * kind));
  Events events;
  std::vector<TensorId> alive;
  for (TensorId tensor = 1000; tensor < 1060; ++tensor) {
    if (alive.size() > 6 || (!alive.empty() && random() % 2 == 0)) {
      const auto any = random() % alive.size();
      events.push_back(take(alive[any]));
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(any));
    } else {
      events.push_back(give(tensor, static_cast<allocator::Size>(1 + random() % 6) * 4 * mib));
      alive.push_back(tensor);
    }
    add(events, kinds[random() % 3]);
  }
  for (const auto tensor : alive) events.push_back(take(tensor));
  return events;
}

TEST_CASE("a section that is skipped leaves what playing it leaves") {
  int skipped = 0, played = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    auto setting = tests::random_setting(random);
    setting.settings.expandable_segments = false;
    setting.settings.garbage_collection_threshold = 0;
    const auto events = random_step(random);
    CachingAllocator memory(setting.settings, setting.limits);
    Sections sections(events, {}, memory);
    if (play(memory, events)) continue;
    bool fits = true;
    const auto part = [&](std::size_t from, std::size_t to) {
      const auto begin = events.begin();
      fits = fits && !play(memory, Events(begin + static_cast<std::ptrdiff_t>(from),
                                          begin + static_cast<std::ptrdiff_t>(to)));
      return fits;
    };
    for (int step = 0; fits && step < 5; ++step) {
      std::size_t at = 0;
      for (const auto& section : sections.all()) {
        if (!part(at, section.begin)) break;
        if (random() % 4 == 0) memory.reset_peaks();
        auto skipping = memory;
        const bool known = sections.skip(skipping, section);
        if (!known) memory = skipping;
        const bool whole = part(section.begin, section.end);
        if (!known) sections.played(memory);
        if (!whole) {
          REQUIRE_FALSE(known);
          break;
        }
        at = section.end;
        ++(known ? skipped : played);
        if (!known) continue;
        REQUIRE(skipping.counts() == memory.counts());
        REQUIRE(skipping.state() == memory.state());
      }
      part(at, events.size());
    }
  }
  CHECK(skipped > 1000);
  CHECK(played > 1000);
}

TEST_CASE("a replay that skips sections counts what one that plays all of them counts") {
  int failed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto setting = tests::random_setting(random);
    allocator::Timeline timeline{{give(2000, 10 * mib)}, random_step(random)};
    timeline.rounds = {timeline.step.size(), 0, 5};
    add(timeline.step, random_step(random));
    timeline.rounds.end = timeline.step.size();
    timeline.once = {{give(2001, 20 * mib)}, timeline.step.size()};
    add(timeline.step, random_step(random));
    allocator::Trace trace;
    CachingAllocator one(setting.settings, setting.limits),
        other(setting.settings, setting.limits, &trace);
    const auto fast = replay(one, timeline, 5), slow = replay(other, timeline, 5);
    CHECK(fast.first == slow.first);
    CHECK(fast.steady == slow.steady);
    CHECK(fast.all == slow.all);
    CHECK(fast.failure == slow.failure);
    CHECK(fast.recurrence == slow.recurrence);
    CHECK(one.state() == other.state());
    failed += fast.failure ? 1 : 0;
  }
  CHECK(failed > 20);
  CHECK(failed < 180);
}

}  // namespace sections_spec
