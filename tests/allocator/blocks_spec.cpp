// SPDX-License-Identifier: Apache-2.0
// Blocks that are taken, split and joined; segments are drawn (drawn.hpp).
#include <stdexcept>

#include "allocator/caching_allocator.hpp"
#include "tests/allocator/drawn.hpp"
#include "tests/catch.hpp"

namespace blocks_spec {

using allocator::CachingAllocator;
using allocator::kib, allocator::mib, allocator::gib;
using tests::drawn;

constexpr allocator::TensorId a = 0, b = 1, c = 2, d = 3;

TEST_CASE("small tensors share a segment of 2 MiB") {
  CachingAllocator memory({}, {gib, {}});
  memory.allocate(a, 1, 0);
  memory.allocate(b, 600, 0);
  CHECK(drawn(memory.segments()) == "small [512 a | 1024 b | 2095616]");
  CHECK(memory.counts().requested.now == 601);
  CHECK(memory.counts().allocated.now == 1536);  // 512 + 1024
  CHECK(memory.counts().reserved.now == 2 * mib);
}

TEST_CASE("the rest of a large block is split off if it is more than 1 MiB") {
  CachingAllocator memory({}, {gib, {}});
  memory.allocate(a, 9 * mib, 0);
  memory.allocate(b, 9 * mib, 0);
  CHECK(drawn(memory.segments()) == "large [9 MiB a | 9 MiB b | 2 MiB]");
  memory.free(b);
  memory.allocate(b, 10 * mib, 0);  // takes 10 of the 11 MiB that are free
  CHECK(drawn(memory.segments()) == "large [9 MiB a | 11 MiB b]");
  CHECK(memory.counts().allocated.now == 20 * mib);
  CHECK(memory.counts().requested.now == 19 * mib);
}

TEST_CASE("the smallest of the blocks that are large enough is taken, and of equals the lowest") {
  CachingAllocator memory({}, {gib, {}});
  for (const allocator::TensorId tensor : {a, b, c}) memory.allocate(tensor, 30 * mib, 0);
  memory.allocate(d, 12 * mib, 0);
  for (const auto tensor : {c, a, d}) memory.free(tensor);
  memory.allocate(d, 11 * mib, 0);
  CHECK(drawn(memory.segments()) ==
        "large [30 MiB]; large [30 MiB b]; large [30 MiB]; large [12 MiB d]");
  memory.allocate(a, 13 * mib, 0);
  CHECK(drawn(memory.segments()) ==
        "large [30 MiB]; large [30 MiB b]; large [13 MiB a | 17 MiB]; large [12 MiB d]");
}

TEST_CASE("a block that is freed is joined with the free blocks on both sides") {
  CachingAllocator memory({}, {gib, {}});
  for (const allocator::TensorId tensor : {a, b, c, d}) memory.allocate(tensor, 4 * mib, 0);
  memory.free(a);
  memory.free(c);
  CHECK(drawn(memory.segments()) == "large [4 MiB | 4 MiB b | 4 MiB | 4 MiB d | 4 MiB]");
  memory.free(b);
  CHECK(drawn(memory.segments()) == "large [12 MiB | 4 MiB d | 4 MiB]");
  memory.free(d);
  CHECK(drawn(memory.segments()) == "large [20 MiB]");
  CHECK(memory.counts().reserved.now == 20 * mib);
  CHECK(memory.counts().allocated == allocator::Gauge{0, 16 * mib});
}

TEST_CASE("streams and pools do not share segments") {
  CachingAllocator memory({}, {gib, {}});
  memory.allocate(a, mib, 0);
  memory.allocate(b, mib + 1, 0);
  memory.free(b);
  memory.free(a);
  memory.allocate(a, mib, 1);
  memory.allocate(b, 2 * mib, 1);
  CHECK(drawn(memory.segments()) ==
        "small [2 MiB]; large [20 MiB]; small on 1 [1 MiB a | 1 MiB]; "
        "large on 1 [2 MiB b | 18 MiB]");
}

TEST_CASE("a block that another stream used waits until that stream has passed") {
  CachingAllocator memory({}, {gib, {}});
  memory.allocate(a, 12 * mib, 0);
  memory.record_stream(a, 1);
  memory.record_stream(a, 1);
  memory.record_stream(a, 0);  // its own stream needs no wait
  memory.free(a);
  CHECK(drawn(memory.segments()) == "large [12 MiB (a)]");
  CHECK(memory.counts().allocated.now == 0);
  CHECK(memory.counts().active.now == 12 * mib);
  memory.allocate(b, 12 * mib, 0);
  memory.passes(a, 1);
  // The passing is noticed at the next allocation.
  CHECK(drawn(memory.segments()) == "large [12 MiB (a)]; large [12 MiB b]");
  memory.allocate(c, 12 * mib, 0);
  CHECK(drawn(memory.segments()) == "large [12 MiB c]; large [12 MiB b]");
}

TEST_CASE("a stream that passed one block passed those that were freed before it") {
  CachingAllocator memory({}, {gib, {}});
  for (const allocator::TensorId tensor : {a, b, c}) {
    memory.allocate(tensor, 12 * mib, 0);
    memory.record_stream(tensor, 1);
    memory.free(tensor);
  }
  memory.passes(b, 1);
  memory.allocate(d, 1, 0);
  CHECK(drawn(memory.segments()) ==
        "large [12 MiB]; large [12 MiB]; large [12 MiB (c)]; small [512 d | 2096640]");
}

TEST_CASE("a block of two other streams waits for both") {
  CachingAllocator memory({}, {gib, {}});
  memory.allocate(a, 12 * mib, 0);
  memory.record_stream(a, 1);
  memory.record_stream(a, 2);
  memory.free(a);
  memory.passes(a, 1);
  memory.allocate(b, 12 * mib, 0);
  CHECK(drawn(memory.segments()) == "large [12 MiB (a)]; large [12 MiB b]");
  memory.passes(a, 2);
  memory.allocate(c, 12 * mib, 0);
  CHECK(drawn(memory.segments()) == "large [12 MiB c]; large [12 MiB b]");
}

TEST_CASE("tensors that are not there, or there twice, are refused") {
  CachingAllocator memory({}, {gib, {}});
  CHECK_THROWS_AS(memory.free(a), std::invalid_argument);
  CHECK_THROWS_AS(memory.record_stream(a, 1), std::invalid_argument);
  CHECK_THROWS_AS(memory.allocate(a, -1, 0), std::invalid_argument);
  memory.allocate(a, 1, 0);
  CHECK_THROWS_AS(memory.allocate(a, 1, 0), std::invalid_argument);
}

TEST_CASE("the history names every call of the driver and both halves of a free") {
  allocator::Trace trace;
  CachingAllocator memory({}, {24 * mib, {}}, &trace);
  memory.allocate(a, 12 * mib - 1, 0);
  memory.record_stream(a, 1);
  memory.free(a);
  memory.allocate(b, 13 * mib, 0);
  memory.allocate(c, 13 * mib, 0);
  using enum allocator::TraceEntry::Action;
  const auto at = allocator::Addresses::top - 12 * mib, then = allocator::Addresses::top - 14 * mib;
  CHECK(trace == allocator::Trace{{segment_alloc, at, 12 * mib, 0, 0},
                                  {alloc, at, 12 * mib - 1, 0, a},
                                  {free_requested, at, 12 * mib - 1, 0, a},
                                  {free_completed, at, 12 * mib - 1, 0, a},
                                  {segment_free, at, 12 * mib, 0, 0},
                                  {segment_alloc, then, 14 * mib, 0, 0},
                                  {alloc, then, 13 * mib, 0, b},
                                  {oom, 10 * mib, 13 * mib, 0, c}});
}

}  // namespace blocks_spec
