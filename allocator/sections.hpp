// SPDX-License-Identifier: Apache-2.0
// Stretches of events that leave the allocator as it was.
//
// A section allocates tensors of one stream and frees them, the latest first. If the driver is not
// called, all free blocks are whole again at its end, and only peaks may have risen. By how much
// follows from the sizes of its tensors and from those of the free blocks that are large enough for
// one of them, in the order of their addresses: a search compares sizes, then addresses; and pieces
// of two blocks never join, because something allocated or the end of a segment lies between them.
// Peaks that are known are raised, and the section is not played again.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "allocator/caching_allocator.hpp"
#include "allocator/events.hpp"

namespace allocator {

// Sections of a list of events, and the rises of those that were played, for allocators of the same
// settings.
class Sections {
 public:
  // Shorter ones cost more to recognise than to play.
  static constexpr std::size_t least_events = 16;
  // A tensor that lives for more events is none of a section, so that the others can be alike.
  static constexpr std::size_t most_events = 512;

  struct Section {
    std::size_t begin = 0, end = 0;         // events
    std::uint32_t alike = 0;                // equal: allocates and frees the same sizes
    StreamId stream = 0;                    // of all its tensors
    Size least_small = 0, least_large = 0;  // rounded, of each pool; 0: none
    // Only the smallest of the free blocks of this size is ever used: with its end it serves any
    // request that no smaller one serves.
    Size together = 0;
  };

  // No section goes over one of the `cuts`, which are sorted. `events` must stay. O(events)
  Sections(std::span<const Event> events, std::span<const std::size_t> cuts,
           const CachingAllocator& like);

  // By their begin. They do not overlap.
  std::span<const Section> all() const { return sections_; }

  // Skips a section, if its rise is known for what is free, which only lets peaks rise. Otherwise
  // false is returned, and the section must be played as far as it fits, and then `played` called,
  // before which peaks are those of the section. O(n²) for n free blocks that decide
  bool skip(CachingAllocator& allocator, const Section& section);
  void played(CachingAllocator& allocator);

 private:
  struct Known {
    std::size_t begin = 0, end = 0;  // of words_
    Rise rise;
  };
  using ByHash = std::unordered_map<std::uint64_t, std::uint32_t>;

  // Some free blocks.
  struct Places {
    struct Place {
      Address address;
      Size size;
    };
    std::array<Place, 64> places;
    std::size_t count = 0;
  };

  void find(std::span<const std::size_t> cuts);
  void add(std::size_t begin, std::size_t end);
  std::uint32_t alike(const Section& section);
  static bool list(const CachingAllocator& allocator, const Section& section, bool small,
                   Places& to);
  bool describe(const CachingAllocator& allocator, const Section& section);

  std::span<const Event> events_;
  Settings settings_;
  std::vector<Section> sections_;
  std::vector<std::size_t> first_alike_;  // of sections_
  ByHash alike_by_hash_, known_by_hash_;
  std::vector<Known> known_;
  // Free blocks of each section that is known, and behind them those of the section that was asked
  // last and is not known.
  std::vector<std::int64_t> words_;
  std::uint64_t asked_ = 0;  // its hash
  bool is_asked_ = false;
  Counts before_;  // the section that is played
};

}  // namespace allocator
