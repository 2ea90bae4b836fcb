// SPDX-License-Identifier: Apache-2.0
// Segments whose pages get memory one by one.
#include "allocator/caching_allocator.hpp"
#include "tests/allocator/drawn.hpp"
#include "tests/catch.hpp"

namespace expandable_spec {

using allocator::CachingAllocator;
using allocator::kib, allocator::mib, allocator::gib;
using tests::drawn;

constexpr allocator::TensorId a = 0, b = 1, c = 2, d = 3;
constexpr allocator::Settings expandable{.expandable_segments = true};

TEST_CASE("an expandable segment grows by pages of 20 MiB, in the small pool of 2 MiB") {
  CachingAllocator memory(expandable, {gib, {}});
  memory.allocate(a, 30 * mib, 0);
  CHECK(drawn(memory.segments()) == "large [30 MiB a | 10 MiB]");
  memory.allocate(b, 30 * mib, 0);  // takes the 10 MiB and another page
  CHECK(drawn(memory.segments()) == "large [30 MiB a | 30 MiB b]");
  memory.allocate(c, mib, 0);
  memory.allocate(d, mib, 0);
  CHECK(drawn(memory.segments()) == "large [30 MiB a | 30 MiB b]; small [1 MiB c | 1 MiB d]");
  CHECK(memory.counts().reserved.now == 62 * mib);
}

TEST_CASE("a growing tensor takes the place of smaller ones without a second segment") {
  CachingAllocator fixed({}, {gib, {}}), grows(expandable, {gib, {}});
  for (auto* memory : {&fixed, &grows})
    for (const allocator::Size size : {40 * mib, 60 * mib, 80 * mib}) {
      memory->allocate(a, size, 0);
      memory->free(a);
    }
  CHECK(fixed.counts().reserved.now == 180 * mib);
  CHECK(grows.counts().reserved.now == 80 * mib);
}

TEST_CASE("pages that lie wholly in free blocks are taken back") {
  CachingAllocator memory(expandable, {100 * mib, {}});
  memory.allocate(a, 30 * mib, 0);
  memory.allocate(b, 20 * mib, 0);
  memory.allocate(c, 20 * mib, 0);
  memory.free(a);
  memory.free(c);
  CHECK(drawn(memory.segments()) == "large [30 MiB | 20 MiB b | 30 MiB]");
  memory.empty_cache();
  // Free blocks cover pages 0 and 3; b lies in pages 1 and 2.
  CHECK(drawn(memory.segments()) == "large [10 MiB | 20 MiB b | 10 MiB]");
  CHECK(memory.counts().reserved.now == 40 * mib);
  memory.free(b);
  memory.empty_cache();
  CHECK(memory.segments().empty());
  CHECK(memory.counts().reserved.now == 0);
}

TEST_CASE("addresses without memory are filled again, the lowest that have room first") {
  CachingAllocator memory(expandable, {200 * mib, {}});
  for (const allocator::TensorId tensor : {a, b, c}) memory.allocate(tensor, 20 * mib, 0);
  memory.free(a);
  memory.empty_cache();
  memory.allocate(d, 30 * mib, 0);  // the gap has room for 20 MiB
  CHECK(drawn(memory.segments()) == "large [20 MiB b | 20 MiB c | 30 MiB d | 10 MiB]");
  memory.allocate(a, 20 * mib, 0);
  CHECK(drawn(memory.segments()) == "large [20 MiB a | 20 MiB b | 20 MiB c | 30 MiB d | 10 MiB]");
}

TEST_CASE("a free block that cannot grow is taken before one that can") {
  CachingAllocator memory(expandable, {200 * mib, {}});
  memory.allocate(a, 12 * mib, 0);
  memory.allocate(b, 18 * mib, 0);
  memory.free(a);
  // There are 12 MiB before b, and 10 MiB behind it, which can grow.
  memory.allocate(c, 6 * mib, 0);
  CHECK(drawn(memory.segments()) == "large [6 MiB c | 6 MiB | 18 MiB b | 10 MiB]");
}

TEST_CASE("pages are refused where the driver has no more memory") {
  CachingAllocator memory(expandable, {50 * mib, {}});
  CHECK(memory.allocate(a, 30 * mib, 0));
  CHECK(memory.allocate(b, 10 * mib, 0));
  CHECK_FALSE(memory.allocate(c, 2 * mib, 0));  // needs a page of 20 MiB
  CHECK(memory.allocate(c, mib, 0));            // needs one of 2 MiB
  CHECK(memory.counts().reserved.now == 42 * mib);
}

}  // namespace expandable_spec
