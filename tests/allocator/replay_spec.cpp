// SPDX-License-Identifier: Apache-2.0
// Steps, the parts that recur, and the causes of failures.
#include <random>

#include "allocator/replay.hpp"
#include "tests/allocator/drawn.hpp"
#include "tests/allocator/random_events.hpp"
#include "tests/catch.hpp"

namespace replay_spec {

using allocator::CachingAllocator;
using allocator::Event;
using allocator::Failure;
using allocator::mib, allocator::gib;
using allocator::Timeline;

constexpr allocator::TensorId a = 0, b = 1, c = 2;

Event give(allocator::TensorId tensor, allocator::Size size) {
  return {Event::Kind::allocate, tensor, 0, size};
}
Event take(allocator::TensorId tensor) { return {Event::Kind::free, tensor}; }

TEST_CASE("the first step asks the driver for memory that later steps find cached") {
  CachingAllocator memory({}, {gib, {}});
  const Timeline timeline{
      {give(a, 10 * mib)},
      {give(c, 30 * mib), take(c), give(c, 12 * mib), take(a), give(a, 10 * mib), take(c)}};
  const auto result = replay(memory, timeline, 100);
  CHECK(result.before.reserved.peak == 10 * mib);
  CHECK(result.first.driver_allocations == 1);
  CHECK(result.first.allocated.peak == 40 * mib);
  CHECK(result.steady.driver_allocations == 0);
  CHECK(result.steady.reserved.peak == 40 * mib);
  CHECK(result.all.driver_allocations == 2);
  REQUIRE(result.recurrence);
  CHECK(result.recurrence->period == 1);
  CHECK(result.recurrence->after == 2);
  CHECK(result.played == 2);
}

TEST_CASE("a step that leaks never recurs and is played until memory is full") {
  CachingAllocator memory({}, {gib, {}});
  Timeline timeline;
  for (allocator::TensorId tensor = 0; tensor < 10; ++tensor)
    timeline.before.push_back(give(tensor, 200 * mib));
  const auto result = replay(memory, timeline, 3);
  REQUIRE(result.failure);
  CHECK(*result.failure == Failure{.cause = Failure::Cause::tensors,
                                   .step = -1,
                                   .event = 5,
                                   .tensor = 5,
                                   .requested = 200 * mib,
                                   .allocated = 1000 * mib,
                                   .reserved = 1000 * mib,
                                   .limit = gib,
                                   .largest_free = 0});
  CHECK(result.played == 0);
}

TEST_CASE("a step fails by fragments where its tensors would fit") {
  CachingAllocator memory({}, {64 * mib, {}});
  // Tensor a leaves 20 MiB before b and c finds no 30 in one piece.
  const Timeline timeline{
      {give(a, 40 * mib), take(a), give(a, 20 * mib), give(b, 20 * mib), take(a)},
      {give(c, 30 * mib), take(c)}};
  const auto result = replay(memory, timeline, 3);
  REQUIRE(result.failure);
  CHECK(result.failure->cause == Failure::Cause::fragments);
  CHECK(result.failure->step == 0);
  CHECK(result.failure->event == 0);
  CHECK(result.failure->allocated == 20 * mib);
  CHECK(result.failure->largest_free == 20 * mib);
}

TEST_CASE("steps that recur are replayed as if every one had been played") {
  std::int64_t skipped = 0, longer = 0, failed = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto setting = tests::random_setting(random);
    Timeline timeline{tests::random_events(random, 20, true), {}};
    timeline.step = tests::random_events(random, 120, false, 1000);
    CachingAllocator one(setting.settings, setting.limits), other(setting.settings, setting.limits);
    auto fast = replay(one, timeline, 200);
    const auto slow = replay(other, timeline, 200, 0);
    CHECK_FALSE(slow.recurrence);
    CHECK(fast.all == slow.all);
    CHECK(fast.before == slow.before);
    CHECK(fast.first == slow.first);
    CHECK(fast.failure == slow.failure);
    CHECK(one.segments() == other.segments());
    CHECK(one.state() == other.state());
    skipped += slow.played - fast.played;
    longer += fast.recurrence && fast.recurrence->period > 1 ? 1 : 0;
    failed += fast.failure ? 1 : 0;
  }
  CHECK(skipped > 10000);
  CHECK(longer > 0);
  CHECK(failed > 10);
}

// The first step leaves a block of 30 MiB free. What it then keeps takes 20 MiB of it, so that the
// second step needs 30 MiB more.
TEST_CASE("tensors that the first step makes and keeps take blocks from later steps") {
  Timeline timeline{{give(a, 10 * mib)}, {give(c, 30 * mib), take(c)}};
  timeline.once = {{give(b, 20 * mib)}, 2};
  CachingAllocator memory({}, {gib, {}});
  const auto result = replay(memory, timeline, 100);
  CHECK(result.first.allocated.peak == 40 * mib);
  CHECK(result.first.reserved.peak == 40 * mib);
  CHECK(result.steady.allocated.peak == 60 * mib);
  CHECK(result.steady.reserved.peak == 70 * mib);
  CHECK(result.all.driver_allocations == 3);
  REQUIRE(result.recurrence);
  CHECK(result.recurrence->after == 3);
}

TEST_CASE("what the first step alone does is as if it stood in the list of that step") {
  std::int64_t failed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto setting = tests::random_setting(random);
    Timeline written{tests::random_events(random, 20, true),
                     tests::random_events(random, 40, false, 1000)};
    written.once.events = tests::random_events(random, 10, true, 2000);
    const auto round = tests::random_events(random, 30, false, 3000);
    written.rounds = {written.step.size(), written.step.size() + round.size(), 3};
    // In front of all, between, where the rounds begin, and at the end of the step.
    const std::size_t places[] = {0, written.step.size() / 2, written.step.size(),
                                  written.step.size() + round.size()};
    written.once.at = places[seed % 4];
    written.step.insert(written.step.end(), round.begin(), round.end());
    allocator::Events flat, first;
    flat.assign(written.step.begin(),
                written.step.begin() + static_cast<std::ptrdiff_t>(written.rounds.begin));
    for (int i = 0; i < 3; ++i) flat.insert(flat.end(), round.begin(), round.end());
    const auto at = seed % 4 == 3 ? flat.size() : written.once.at;
    first = flat;
    first.insert(first.begin() + static_cast<std::ptrdiff_t>(at), written.once.events.begin(),
                 written.once.events.end());
    CachingAllocator one(setting.settings, setting.limits), other(setting.settings, setting.limits);
    const auto fast = replay(one, written, 5);
    bool fits = true;
    for (int step = -1; fits && step < 5; ++step)
      fits = !play(other, step < 0 ? written.before : step == 0 ? first : flat);
    CHECK(fast.failure.has_value() == !fits);
    CAPTURE(fits);
    CHECK(one.state() == other.state());
    failed += fits ? 0 : 1;
  }
  CHECK(failed > 5);
  CHECK(failed < 150);
}

TEST_CASE("rounds of a step that recur are as if every round had been played") {
  std::int64_t retried = 0, failed = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto setting = tests::random_setting(random);
    Timeline written{tests::random_events(random, 20, true),
                     tests::random_events(random, 30, false, 1000)};
    auto flat = written;
    const auto round = tests::random_events(random, 60, false, 2000),
               tail = tests::random_events(random, 30, false, 3000);
    const auto add = [](auto& to, const auto& events) {
      to.insert(to.end(), events.begin(), events.end());
    };
    written.rounds = {written.step.size(), written.step.size() + round.size(), 50};
    add(written.step, round);
    add(written.step, tail);
    for (int i = 0; i < 50; ++i) add(flat.step, round);
    add(flat.step, tail);
    CachingAllocator one(setting.settings, setting.limits), other(setting.settings, setting.limits);
    const auto fast = replay(one, written, 3), slow = replay(other, flat, 3);
    CHECK(fast.first == slow.first);
    CHECK(fast.steady == slow.steady);
    CHECK(fast.all == slow.all);
    CHECK(fast.recurrence == slow.recurrence);
    CHECK(fast.failure.has_value() == slow.failure.has_value());
    CHECK(one.state() == other.state());
    retried += fast.all.retries > 50 ? 1 : 0;
    failed += fast.failure ? 1 : 0;
  }
  CHECK(retried > 5);
  CHECK(failed > 10);
}

TEST_CASE("a tensor that is freed at once changes peaks, and nothing else") {
  CachingAllocator memory({}, {gib, {}});
  CHECK_FALSE(memory.passing(12 * mib, 0));  // no block is free yet
  play(memory, {give(a, 40 * mib), take(a), give(b, 10 * mib)});
  const auto state = memory.state();
  CHECK(memory.passing(20 * mib, 0));
  CHECK(memory.state() == state);
  CHECK(memory.counts().allocated.now == 10 * mib);
  CHECK(memory.counts().allocated.peak == 40 * mib);
  CHECK(memory.passing(30 * mib, 0));
  CHECK_FALSE(memory.passing(31 * mib, 0));
  CHECK_FALSE(memory.passing(20 * mib, 1));  // another stream has blocks of its own
}

TEST_CASE("steps count the same whether or not a trace is written, which takes no short cut") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto setting = tests::random_setting(random);
    Timeline timeline;
    for (int i = 0; i < 20; ++i) {
      const auto some = tests::random_events(random, 10, false, 1000);
      timeline.step.insert(timeline.step.end(), some.begin(), some.end());
      timeline.step.insert(timeline.step.end(), {give(a, tests::random_size(random)), take(a)});
    }
    allocator::Trace trace;
    CachingAllocator one(setting.settings, setting.limits),
        other(setting.settings, setting.limits, &trace);
    const auto fast = replay(one, timeline, 5), slow = replay(other, timeline, 5);
    CHECK(fast.all == slow.all);
    CHECK(fast.steady == slow.steady);
    CHECK(fast.failure == slow.failure);
    CHECK(one.state() == other.state());
  }
}

}  // namespace replay_spec
