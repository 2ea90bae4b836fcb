// SPDX-License-Identifier: Apache-2.0
// The caching allocator as one would explain it: a list of segments, each with the ranges in use;
// all else is found by scanning.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "allocator/counts.hpp"
#include "allocator/events.hpp"
#include "allocator/settings.hpp"

namespace tests {

class SlowAllocator {
 public:
  SlowAllocator(const allocator::Settings& settings, const allocator::Limits& limits)
      : settings_(settings), limits_(limits) {}
  bool play(const allocator::Event& event);  // false: out of memory
  std::vector<allocator::Segment> segments() const;
  allocator::Size allocated() const;
  allocator::Size reserved() const;

 private:
  using Size = allocator::Size;
  struct Use {
    Size begin, size, requested;  // begin: in its segment
    allocator::TensorId tensor;
    bool allocated = true;
    std::vector<allocator::StreamId> users;
    std::vector<allocator::StreamId> waits;
  };
  struct Range {  // bytes of a segment that hang together, free or without memory
    std::size_t segment;
    Size begin, size;
    bool mapped;
    Size growable;
  };
  struct Area {
    allocator::Address address;
    Size size;
    allocator::StreamId stream;
    bool small;
    std::vector<bool> pages;  // whether each has memory
    std::vector<Use> uses;    // by begin
    std::int64_t free_since = 0;
  };
  struct Waits {
    allocator::StreamId stream;
    allocator::TensorId tensor;
    allocator::Address address;
    bool passed;
  };

  Size page(const Area& area) const;
  std::vector<Range> gaps(std::size_t segment) const;                        // by begin
  std::vector<Range> free_of(bool small, allocator::StreamId stream) const;  // by size, address
  bool give(const allocator::Event& event);
  bool search(Size size, allocator::StreamId stream, Range& found);
  bool ask(Size size, allocator::StreamId stream, Range& found);
  bool ask_for_pages(Size size, allocator::StreamId stream, Range& found);
  bool map(std::size_t area, Size begin, Size size);
  void collect();
  bool release_oversized(Size size, allocator::StreamId stream);
  void release_all();
  void release(allocator::Address address);
  void finish();
  void pass(allocator::StreamId stream, allocator::TensorId tensor);
  Area& place(Size size, allocator::StreamId stream, bool small);

  allocator::Settings settings_;
  allocator::Limits limits_;
  std::vector<Area> areas_;  // by address
  std::vector<Waits> waits_;
  std::array<std::int64_t, 2> searches_{};
};

}  // namespace tests
