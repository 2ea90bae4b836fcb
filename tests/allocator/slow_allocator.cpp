// SPDX-License-Identifier: Apache-2.0
#include "tests/allocator/slow_allocator.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "allocator/addresses.hpp"

namespace tests {

using allocator::Event;
using allocator::StreamId;
using allocator::TensorId;

SlowAllocator::Size SlowAllocator::page(const Area& area) const {
  return settings_.expandable_segments ? allocator::page_of(area.small) : area.size;
}

SlowAllocator::Size SlowAllocator::reserved() const {
  Size sum = 0;
  for (const auto& area : areas_) sum += std::ranges::count(area.pages, true) * page(area);
  return sum;
}

SlowAllocator::Size SlowAllocator::allocated() const {
  Size sum = 0;
  for (const auto& area : areas_)
    for (const auto& use : area.uses) sum += use.allocated ? use.size : 0;
  return sum;
}

// The gaps between uses and pages. Unit by unit of 512 bytes would be plainer still, and too slow.
std::vector<SlowAllocator::Range> SlowAllocator::gaps(std::size_t segment) const {
  const auto& area = areas_[segment];
  std::vector<Range> gaps;
  const auto between = [&](Size begin, Size end) {
    while (begin < end) {
      const auto mapped_at = [&](Size at) {
        return area.pages[static_cast<std::size_t>(at / page(area))];
      };
      auto until = begin;
      while (until < end && mapped_at(until) == mapped_at(begin))
        until = std::min(end, (until / page(area) + 1) * page(area));
      gaps.push_back({segment, begin, until - begin, mapped_at(begin), until - begin});
      begin = until;
    }
  };
  Size at = 0;
  for (const auto& use : area.uses) {
    between(at, use.begin);
    at = use.begin + use.size;
  }
  between(at, area.size);
  for (std::size_t i = 0; i + 1 < gaps.size(); ++i)
    if (gaps[i].mapped && !gaps[i + 1].mapped && gaps[i].begin + gaps[i].size == gaps[i + 1].begin)
      gaps[i].growable += gaps[i + 1].size;
  return gaps;
}

std::vector<SlowAllocator::Range> SlowAllocator::free_of(bool small, StreamId stream) const {
  std::vector<Range> all;
  for (std::size_t i = 0; i < areas_.size(); ++i)
    if (areas_[i].small == small && areas_[i].stream == stream)
      for (const auto& gap : gaps(i))
        if (gap.mapped) all.push_back(gap);
  std::ranges::stable_sort(all, {}, &Range::size);
  return all;
}

bool SlowAllocator::search(Size size, StreamId stream, Range& found) {
  ++searches_[allocator::is_small(size) ? 0 : 1];
  auto all = free_of(allocator::is_small(size), stream);
  std::erase_if(all, [&](const Range& gap) { return gap.size < size; });
  if (all.empty()) return false;
  found = all.front();
  if (settings_.expandable_segments)
    for (std::size_t i = 1; i < all.size() && all[i].growable < found.growable; ++i) found = all[i];
  const auto most = settings_.max_split_size;
  if (most && size < *most && found.size >= *most) return false;
  return !(most && size >= *most && found.size >= size + settings_.max_non_split_rounding);
}

SlowAllocator::Area& SlowAllocator::place(Size size, StreamId stream, bool small) {
  auto end = allocator::Addresses::top;
  auto at = areas_.end();
  for (; at != areas_.begin() && end - (at[-1].address + at[-1].size) < size; --at)
    end = at[-1].address;
  return *areas_.insert(at, Area{end - size, size, stream, small, {}, {}});
}

bool SlowAllocator::ask(Size size, StreamId stream, Range& found) {
  const auto wanted = allocator::segment_for(size);
  if (limits_.allowed && reserved() + wanted > *limits_.allowed) return false;
  if (settings_.expandable_segments) return ask_for_pages(size, stream, found);
  if (reserved() + wanted > limits_.device) return false;
  auto& area = place(wanted, stream, allocator::is_small(size));
  area.pages = {true};
  found = {static_cast<std::size_t>(&area - areas_.data()), 0, wanted, true, wanted};
  return true;
}

bool SlowAllocator::map(std::size_t segment, Size begin, Size size) {
  auto& area = areas_[segment];
  const auto first = begin / page(area), last = (begin + size - 1) / page(area);
  if (reserved() + (last - first + 1) * page(area) > limits_.device) return false;
  for (auto i = first; i <= last; ++i) area.pages[static_cast<std::size_t>(i)] = true;
  return true;
}

bool SlowAllocator::ask_for_pages(Size size, StreamId stream, Range& found) {
  const bool small = allocator::is_small(size);
  for (std::size_t i = 0; i < areas_.size(); ++i) {
    if (areas_[i].small != small || areas_[i].stream != stream) continue;
    const auto free = gaps(i);
    for (std::size_t k = 0; k < free.size(); ++k) {
      if (free[k].mapped) continue;
      // The row of gaps that touch each other begins with the gap before, which has memory.
      auto first = k;
      if (k > 0 && free[k - 1].begin + free[k - 1].size == free[k].begin) --first;
      Size room = 0;
      for (auto n = first; n < free.size() && room < size; ++n) {
        if (n > first && free[n - 1].begin + free[n - 1].size != free[n].begin) break;
        room += free[n].size;
      }
      if (room < size) continue;
      Size has = 0;
      for (auto n = first; has < size; ++n) {
        if (!free[n].mapped && !map(i, free[n].begin, std::min(free[n].size, size - has)))
          return false;
        has += free[n].size;
      }
      for (const auto& gap : gaps(i))
        if (gap.begin <= free[first].begin && free[first].begin < gap.begin + gap.size) found = gap;
      return true;
    }
  }
  const auto unit = allocator::page_of(small);
  const auto most = std::max(size, limits_.device + limits_.device / 8);
  auto& area = place((most + unit - 1) / unit * unit, stream, small);
  area.pages.assign(static_cast<std::size_t>(area.size / page(area)), false);
  const auto segment = static_cast<std::size_t>(&area - areas_.data());
  if (!map(segment, 0, size)) return false;
  found = gaps(segment).front();
  return true;
}

bool SlowAllocator::give(const Event& event) {
  finish();
  const auto size = allocator::rounded(event.size, settings_);
  Range found{};
  bool has = search(size, event.stream, found);
  if (!has) collect();
  has = has || ask(size, event.stream, found) ||
        (release_oversized(size, event.stream) && ask(size, event.stream, found));
  if (!has) release_all();
  if (!has && !ask(size, event.stream, found)) return false;
  const auto rest = found.size - size;
  const bool split = allocator::is_small(size) || settings_.expandable_segments
                         ? rest >= allocator::least_block
                         : (!settings_.max_split_size || size < *settings_.max_split_size) &&
                               rest > allocator::largest_small;
  auto& uses = areas_[found.segment].uses;
  const auto at =
      std::ranges::find_if(uses, [&](const Use& use) { return use.begin > found.begin; });
  uses.insert(at,
              Use{found.begin, split ? size : found.size, event.size, event.tensor, true, {}, {}});
  return true;
}

void SlowAllocator::finish() {
  std::vector<StreamId> streams;
  for (const auto& waits : waits_) streams.push_back(waits.stream);
  std::ranges::sort(streams);
  for (const auto stream : streams)
    for (bool some = true; some;) {
      some = false;
      const auto first = std::ranges::find(waits_, stream, &Waits::stream);
      if (first == waits_.end() || !first->passed) break;
      for (auto& area : areas_)
        std::erase_if(area.uses, [&](Use& use) {
          if (area.address + use.begin != first->address) return false;
          std::erase(use.waits, stream);
          if (use.waits.empty()) area.free_since = searches_[area.small ? 0 : 1];
          return use.waits.empty();
        });
      waits_.erase(first);
      some = true;
    }
}

void SlowAllocator::pass(StreamId stream, TensorId tensor) {
  bool passes = false;
  for (auto waits = waits_.rbegin(); waits != waits_.rend(); ++waits) {
    if (waits->stream != stream) continue;
    passes = passes || waits->tensor == tensor;
    if (passes) waits->passed = true;
  }
}

void SlowAllocator::release(allocator::Address address) {
  std::erase_if(areas_, [&](const Area& area) { return area.address == address; });
}

void SlowAllocator::collect() {
  if (!limits_.allowed || settings_.garbage_collection_threshold <= 0) return;
  const auto most = static_cast<Size>(settings_.garbage_collection_threshold *
                                      static_cast<double>(*limits_.allowed));
  const auto excess = reserved() - most;
  for (Size collected = 0; collected < excess;) {
    std::vector<Area> free;
    double ages = 0;
    for (const auto& area : areas_)
      if (!area.small && area.uses.empty() && !settings_.expandable_segments) {
        free.push_back(area);
        ages += static_cast<double>(searches_[1] - area.free_since);
      }
    if (free.empty()) return;
    // The mean is that of the segments that are left when a round begins.
    const auto mean = ages / static_cast<double>(free.size());
    for (const auto& area : free)
      if (static_cast<double>(searches_[1] - area.free_since) >= mean) {
        collected += area.size;
        release(area.address);
      }
  }
}

bool SlowAllocator::release_oversized(Size size, StreamId stream) {
  if (!settings_.max_split_size || settings_.expandable_segments) return false;
  const auto wanted = std::max(size, *settings_.max_split_size);
  auto free = free_of(allocator::is_small(size), stream);
  const auto enough =
      std::ranges::find_if(free, [&](const Range& gap) { return gap.size >= wanted; });
  if (enough != free.end()) {
    release(areas_[enough->segment].address);
    return true;
  }
  std::vector<allocator::Address> gone;
  Size released = 0;
  for (auto gap = free.rbegin(); gap != free.rend() && released < wanted; ++gap) {
    if (gap->size < *settings_.max_split_size) break;
    released += gap->size;
    gone.push_back(areas_[gap->segment].address);
  }
  for (const auto address : gone) release(address);
  return released >= wanted;
}

void SlowAllocator::release_all() {
  for (auto& waits : waits_) waits.passed = true;
  finish();
  std::erase_if(areas_, [&](Area& area) {
    const auto has_memory = [&] { return std::ranges::count(area.pages, true) > 0; };
    // Addresses that never got memory stay.
    if (!has_memory()) return false;
    for (std::size_t p = 0; p < area.pages.size(); ++p) {
      const auto begin = static_cast<Size>(p) * page(area), end = begin + page(area);
      area.pages[p] = area.pages[p] && std::ranges::any_of(area.uses, [&](const Use& use) {
                        return use.begin < end && begin < use.begin + use.size;
                      });
    }
    return !has_memory();
  });
}

bool SlowAllocator::play(const Event& event) {
  using enum Event::Kind;
  const auto tensor = [&]() -> std::tuple<Area*, Use*> {
    for (auto& area : areas_)
      for (auto& use : area.uses)
        if (use.allocated && use.tensor == event.tensor) return {&area, &use};
    throw std::invalid_argument("no such tensor");
  };
  switch (event.kind) {
    case allocate:
      return give(event);
    case free: {
      const auto [area, use] = tensor();
      use->allocated = false;
      use->waits = use->users;
      for (const auto stream : use->users)
        waits_.push_back({stream, event.tensor, area->address + use->begin, false});
      if (use->waits.empty()) {
        area->free_since = searches_[area->small ? 0 : 1];
        area->uses.erase(area->uses.begin() + (use - area->uses.data()));
      }
      return true;
    }
    case record_stream: {
      const auto [area, use] = tensor();
      if (area->stream != event.stream &&
          std::ranges::find(use->users, event.stream) == use->users.end())
        use->users.push_back(event.stream);
      return true;
    }
    case passes:
      pass(event.stream, event.tensor);
      return true;
    case synchronize:
      for (auto& waits : waits_) waits.passed = true;
      return true;
    case empty_cache:
      release_all();
      return true;
  }
  return true;
}

std::vector<allocator::Segment> SlowAllocator::segments() const {
  using Part = allocator::Segment::Part;
  std::vector<allocator::Segment> segments;
  for (std::size_t i = 0; i < areas_.size(); ++i) {
    const auto& area = areas_[i];
    std::vector<Part> parts;
    for (const auto& use : area.uses)
      parts.push_back({area.address + use.begin, use.size, use.requested,
                       use.allocated ? Part::State::allocated : Part::State::waiting, use.tensor});
    for (const auto& gap : gaps(i))
      if (gap.mapped) parts.push_back({area.address + gap.begin, gap.size});
    std::ranges::sort(parts, {}, &Part::address);
    allocator::Address end = -1;
    for (const auto& part : parts) {
      if (part.address != end)
        segments.push_back({area.stream, area.small, settings_.expandable_segments, {}});
      segments.back().parts.push_back(part);
      end = part.address + part.size;
    }
  }
  return segments;
}

}  // namespace tests
