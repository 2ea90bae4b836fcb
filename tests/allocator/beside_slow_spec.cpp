// SPDX-License-Identifier: Apache-2.0
// Random programs, in the caching allocator and in one that scans lists.
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "allocator/caching_allocator.hpp"
#include "allocator/replay.hpp"
#include "tests/allocator/random_events.hpp"
#include "tests/allocator/slow_allocator.hpp"
#include "tests/catch.hpp"

namespace beside_slow_spec {

using allocator::CachingAllocator;
using allocator::Event;
using allocator::Settings;

TEST_CASE("a replay leaves the segments and blocks that scanning lists leaves") {
  std::int64_t refused = 0, retried = 0, freed = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto setting = tests::random_setting(random);
    const auto events = tests::random_events(random, 150, true);
    CachingAllocator fast(setting.settings, setting.limits);
    tests::SlowAllocator slow(setting.settings, setting.limits);
    CAPTURE(seed);
    std::set<allocator::TensorId> missing;
    for (const auto& event : events) {
      const bool names =
          event.kind == Event::Kind::free || event.kind == Event::Kind::record_stream;
      if (names && missing.contains(event.tensor)) continue;
      const bool fits = !allocator::play(fast, {event});
      REQUIRE(slow.play(event) == fits);
      if (event.kind == Event::Kind::allocate) missing.erase(event.tensor);
      if (!fits) missing.insert(event.tensor);
      refused += fits ? 0 : 1;
      REQUIRE(fast.counts().allocated.now == slow.allocated());
      REQUIRE(fast.counts().reserved.now == slow.reserved());
      REQUIRE(fast.segments() == slow.segments());
    }
    retried += fast.counts().retries;
    freed += fast.counts().driver_frees;
  }
  CHECK(refused > 100);
  CHECK(retried > 200);
  CHECK(freed > 500);
}

}  // namespace beside_slow_spec
