// SPDX-License-Identifier: Apache-2.0
#include "allocator/sections.hpp"

#include <algorithm>
#include <limits>

namespace allocator {

namespace {

// Without max_split_size, a block has at most this much more than was asked for.
constexpr Size largest_rest = mib;

std::uint64_t mixed(std::uint64_t hash, std::int64_t word) {
  hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

}  // namespace

Sections::Sections(std::span<const Event> events, std::span<const std::size_t> cuts,
                   const CachingAllocator& like)
    : events_(events), settings_(like.settings_) {
  find(cuts);
}

void Sections::find(std::span<const std::size_t> cuts) {
  std::vector<std::size_t> open;  // allocations since `begin` that are not freed
  std::size_t begin = 0;
  // Each stretch between two tensors that live on is a section.
  const auto end_before = [&](std::size_t event) {
    for (const auto allocation : open) {
      add(begin, allocation);
      begin = allocation + 1;
    }
    add(begin, event);
    open.clear();
  };
  auto cut = cuts.begin();
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const auto& event = events_[i];
    for (; cut != cuts.end() && *cut <= i; ++cut) {
      end_before(i);
      begin = i;
    }
    if (event.kind == Event::Kind::allocate) {
      open.push_back(i);
    } else if (event.kind == Event::Kind::free && !open.empty() &&
               events_[open.back()].tensor == event.tensor && i - open.back() < most_events) {
      open.pop_back();
    } else {
      end_before(i);
      begin = i + 1;
    }
  }
  end_before(events_.size());
}

void Sections::add(std::size_t begin, std::size_t end) {
  if (end < begin + least_events) return;
  Section section{begin, end, 0, events_[begin].stream, 0, 0, 0};
  std::vector<Size> alive;
  Size sum = 0;
  for (auto i = begin; i < end; ++i) {
    const auto& event = events_[i];
    if (event.kind == Event::Kind::free) {
      sum -= alive.back();
      alive.pop_back();
      continue;
    }
    if (event.stream != section.stream || event.size < 0) return;
    const auto size = rounded(event.size, settings_);
    auto& least = is_small(size) ? section.least_small : section.least_large;
    least = least == 0 ? size : std::min(least, size);
    alive.push_back(size + largest_rest);
    section.together = std::max(section.together, sum += alive.back());
  }
  if (settings_.max_split_size) section.together = std::numeric_limits<Size>::max();
  section.alike = alike(section);
  sections_.push_back(section);
}

std::uint32_t Sections::alike(const Section& section) {
  const auto of = [&](const Section& any) {
    return events_.subspan(any.begin, any.end - any.begin);
  };
  const auto events = of(section);
  std::uint64_t hash = 0;
  for (const auto& event : events) hash = mixed(hash, event.size);
  const auto is_alike = [](const Event& a, const Event& b) {
    return a.kind == b.kind && a.size == b.size && a.stream == b.stream;
  };
  for (;; ++hash) {
    const auto [at, is_new] =
        alike_by_hash_.try_emplace(hash, static_cast<std::uint32_t>(first_alike_.size()));
    if (is_new) {
      first_alike_.push_back(sections_.size());
      return at->second;
    }
    if (std::ranges::equal(events, of(sections_[first_alike_[at->second]]), is_alike))
      return at->second;
  }
}

// Lists the free blocks of a pool that are large enough for a tensor of the section, by address.
// Returns whether they have room.
bool Sections::list(const CachingAllocator& allocator, const Section& section, bool small,
                    Places& to) {
  const auto least = small ? section.least_small : section.least_large;
  if (least == 0) return true;
  const auto& free = allocator.blocks_.pool_of(small).free;
  for (auto block = free.at_least(section.stream, least);
       block != free.end() && block->stream == section.stream; ++block) {
    if (to.count == to.places.size()) return false;
    auto at = to.count++;
    for (; at > 0 && to.places[at - 1].address > block->address; --at)
      to.places[at] = to.places[at - 1];
    to.places[at] = {block->address, block->size};
    if (block->size >= section.together) break;
  }
  return true;
}

// Appends all that decides the rise to words_. Returns false if that is too much, or more than
// sizes and their order decides.
bool Sections::describe(const CachingAllocator& allocator, const Section& section) {
  if (allocator.trace_ || allocator.settings_.expandable_segments || !allocator.users_.empty() ||
      !allocator.waiting_.empty() || collects(allocator.settings_, allocator.limits_))
    return false;
  words_.resize(known_.empty() ? 0 : known_.back().end);
  words_.push_back(section.alike);
  asked_ = mixed(0, section.alike);
  for (const bool small : {true, false}) {
    Places free;
    if (!list(allocator, section, small, free)) return false;
    words_.push_back(static_cast<std::int64_t>(free.count));
    for (std::size_t i = 0; i < free.count; ++i) {
      words_.push_back(free.places[i].size);
      asked_ = mixed(asked_, free.places[i].size);
    }
  }
  return true;
}

bool Sections::skip(CachingAllocator& allocator, const Section& section) {
  is_asked_ = describe(allocator, section);
  const std::span words(words_);
  const auto asked = words.subspan(known_.empty() ? 0 : known_.back().end);
  for (; is_asked_; ++asked_) {
    const auto found = known_by_hash_.find(asked_);
    if (found == known_by_hash_.end()) break;
    const auto& known = known_[found->second];
    if (!std::ranges::equal(words.subspan(known.begin, known.end - known.begin), asked)) continue;
    allocator.counts_.rise(known.rise);
    return true;
  }
  before_ = allocator.counts_;
  allocator.reset_peaks();
  return false;
}

void Sections::played(CachingAllocator& allocator) {
  const auto after = allocator.counts_;
  allocator.counts_.include_peaks(before_);
  const bool called = after.driver_allocations != before_.driver_allocations ||
                      after.driver_frees != before_.driver_frees ||
                      after.retries != before_.retries;
  if (!is_asked_ || called) return;
  known_by_hash_.emplace(asked_, static_cast<std::uint32_t>(known_.size()));
  known_.push_back({known_.empty() ? 0 : known_.back().end,
                    words_.size(),
                    {after.requested.peak - before_.requested.now,
                     after.allocated.peak - before_.allocated.now}});
}

}  // namespace allocator
