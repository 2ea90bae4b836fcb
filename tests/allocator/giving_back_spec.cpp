// SPDX-License-Identifier: Apache-2.0
// Segments that go back to the driver, and when.
#include "allocator/caching_allocator.hpp"
#include "tests/allocator/drawn.hpp"
#include "tests/catch.hpp"

namespace giving_back_spec {

using allocator::CachingAllocator;
using allocator::kib, allocator::mib, allocator::gib;
using tests::drawn;

constexpr allocator::TensorId a = 0, b = 1, c = 2, d = 3, e = 4;

TEST_CASE(
    "where the driver has no more, whole free segments are given back and it is asked again") {
  CachingAllocator memory({}, {60 * mib, {}});
  memory.allocate(a, 20 * mib, 0);
  memory.allocate(b, 4 * mib, 0);
  memory.allocate(c, 10 * mib, 0);  // lies beside b
  memory.free(a);
  memory.free(c);
  REQUIRE(memory.allocate(c, 24 * mib, 0));
  CHECK(drawn(memory.segments()) == "large [4 MiB b | 16 MiB]; large [24 MiB c]");
  CHECK(memory.counts().retries == 1);
  CHECK(memory.counts().driver_frees == 1);
  CHECK_FALSE(memory.allocate(d, 20 * mib, 0));  // 16 + 16 MiB are free, in two pieces
  CHECK(memory.shortage(20 * mib, 0).largest_free == 16 * mib);
}

TEST_CASE("an emptied cache keeps segments that hold a tensor") {
  CachingAllocator memory({}, {gib, {}});
  memory.allocate(a, 512, 0);
  memory.allocate(b, 12 * mib, 0);
  memory.allocate(c, 4 * mib, 0);
  memory.record_stream(c, 1);
  memory.free(b);
  memory.free(c);
  memory.empty_cache();  // a waits for stream 1
  CHECK(drawn(memory.segments()) == "small [512 a | 2096640]");
  CHECK(memory.counts().reserved == allocator::Gauge{2 * mib, 34 * mib});
}

TEST_CASE("blocks of max_split_size are not split, and not given to smaller requests") {
  CachingAllocator memory({.max_split_size = 64 * mib}, {gib, {}});
  memory.allocate(a, 80 * mib, 0);
  memory.free(a);
  memory.allocate(b, 30 * mib, 0);
  CHECK(drawn(memory.segments()) == "large [80 MiB]; large [30 MiB b]");
  memory.allocate(a, 66 * mib, 0);  // 14 MiB larger than asked
  CHECK(drawn(memory.segments()) == "large [80 MiB a]; large [30 MiB b]");
  memory.free(a);
  memory.allocate(a, 65 * mib, 0);
  memory.free(a);
  memory.allocate(c, 100 * mib, 0);
  memory.free(c);
  memory.allocate(c, 80 * mib, 0);  // takes the 80 MiB, not the 100
  CHECK(drawn(memory.segments()) == "large [80 MiB c]; large [30 MiB b]; large [100 MiB]");
  memory.allocate(d, 80 * mib, 0);  // 20 MiB larger is one too many
  CHECK(drawn(memory.segments()) ==
        "large [80 MiB c]; large [30 MiB b]; large [100 MiB]; large [80 MiB d]");
}

TEST_CASE("with max_split_size one oversized block that would serve is given back before all is") {
  CachingAllocator memory({.max_split_size = 32 * mib}, {240 * mib, {}});
  for (const auto& [tensor, size] :
       {std::pair{a, 60 * mib}, {b, 100 * mib}, {c, 12 * mib}, {d, 66 * mib}})
    memory.allocate(tensor, size, 0);
  for (const auto tensor : {a, b, c, d}) memory.free(tensor);
  REQUIRE(memory.allocate(e, 34 * mib, 0));
  // The 60 MiB are given back: the smallest block that would have held e, had it not been 20 MiB
  // too large.
  CHECK(drawn(memory.segments()) ==
        "large [34 MiB e]; large [100 MiB]; large [12 MiB]; large [66 MiB]");
  CHECK(memory.counts().retries == 0);
}

TEST_CASE(
    "with max_split_size oversized blocks are given back from the largest on until it is enough") {
  CachingAllocator memory({.max_split_size = 32 * mib}, {200 * mib, {}});
  for (const auto& [tensor, size] :
       {std::pair{a, 40 * mib}, {b, 50 * mib}, {c, 60 * mib}, {d, 30 * mib}})
    memory.allocate(tensor, size, 0);
  for (const auto tensor : {a, b, c, d}) memory.free(tensor);
  REQUIRE(memory.allocate(e, 90 * mib, 0));
  CHECK(drawn(memory.segments()) == "large [40 MiB]; large [90 MiB e]; large [30 MiB]");
  CHECK(memory.counts().retries == 0);
}

TEST_CASE("above the threshold, segments that have been free for longer are collected") {
  const allocator::Settings settings{.garbage_collection_threshold = 0.5};
  CachingAllocator memory(settings, {gib, 100 * mib});
  memory.allocate(a, 20 * mib, 0);
  memory.allocate(b, 22 * mib, 0);
  memory.allocate(c, 24 * mib, 0);
  memory.free(a);                   // freed after three searches of the pool
  memory.allocate(d, 10 * mib, 0);  // takes a's segment
  memory.free(d);                   // freed after four searches
  memory.free(b);
  memory.allocate(b, 21 * mib, 0);  // takes b's segment
  memory.free(b);                   // freed after five searches
  memory.allocate(d, 30 * mib, 0);  // the sixth: ages 2 and 1, mean 1.5; 16 MiB above the threshold
  CHECK(drawn(memory.segments()) == "large [22 MiB]; large [24 MiB c]; large [30 MiB d]");
  CHECK(memory.counts().retries == 0);
  // Without a limit of its own the allocator collects nothing.
  CachingAllocator unlimited(settings, {100 * mib, {}});
  unlimited.allocate(a, 60 * mib, 0);
  unlimited.free(a);
  unlimited.allocate(b, 30 * mib, 0);
  unlimited.allocate(c, 32 * mib, 0);
  CHECK(drawn(unlimited.segments()) == "large [30 MiB b | 30 MiB]; large [32 MiB c]");
}

TEST_CASE("the fraction of memory that a process may take is a limit like the device's") {
  CachingAllocator memory({}, {gib, 30 * mib});
  CHECK(memory.shortage(1, 0).limit == 30 * mib);
  CHECK(memory.allocate(a, 20 * mib, 0));
  CHECK_FALSE(memory.allocate(b, 12 * mib, 0));
  CHECK(memory.allocate(b, mib, 0));
}

}  // namespace giving_back_spec
