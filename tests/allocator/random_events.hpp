// SPDX-License-Identifier: Apache-2.0
// Programs and settings drawn at random.
#pragma once
#include <random>
#include <vector>

#include "allocator/events.hpp"
#include "allocator/settings.hpp"

namespace tests {

struct AllocatorSetting {
  allocator::Settings settings;
  allocator::Limits limits;
};

inline allocator::Size random_size(std::mt19937& random) {
  using allocator::kib, allocator::mib;
  const auto below = [&](allocator::Size most) {
    return std::uniform_int_distribution<allocator::Size>(1, most)(random);
  };
  switch (below(6)) {
    case 1:
      return below(2 * kib);
    case 2:
      return below(mib + kib);
    case 3:
      return below(12 * mib);
    case 4:
      return below(90 * mib);
    case 5:
      return below(8) * 4 * mib;
    default:
      return below(24) * 256 * kib;
  }
}

inline AllocatorSetting random_setting(std::mt19937& random) {
  using allocator::mib;
  AllocatorSetting drawn;
  auto& settings = drawn.settings;
  const auto one_of = [&](auto... values) {
    const allocator::Size all[] = {values...};
    return all[random() % sizeof...(values)];
  };
  if (random() % 2) settings.max_split_size = one_of(21 * mib, 32 * mib, 64 * mib);
  if (random() % 3 == 0)
    for (auto& divisions : settings.roundup_power2_divisions)
      divisions = static_cast<int>(one_of(0, 1, 2, 4, 8));
  settings.expandable_segments = random() % 3 == 0;
  drawn.limits.device = one_of(64 * mib, 200 * mib, 333 * mib, 1000 * mib);
  if (random() % 2) drawn.limits.allowed = drawn.limits.device * one_of(3, 4) / 4;
  if (random() % 2)
    settings.garbage_collection_threshold = static_cast<double>(one_of(30, 60, 90)) / 100;
  return drawn;
}

// Random events of tensors; `some_stay`: tensors may be left at the end, otherwise all are freed.
inline allocator::Events random_events(std::mt19937& random, int count, bool some_stay,
                                       allocator::TensorId first = 0) {
  using allocator::Event;
  allocator::Events events;
  std::vector<allocator::TensorId> live, free, freed;
  auto next = first;
  for (int i = 0; i < count; ++i) {
    const auto kind = random() % 20;
    const auto stream = static_cast<allocator::StreamId>(random() % 4 == 0 ? random() % 3 : 0);
    const auto any_of = [&](const auto& ids) { return ids[random() % ids.size()]; };
    if (kind < 9 || live.empty()) {
      auto tensor = next;
      if (free.empty())
        ++next;
      else {
        tensor = free.back();
        free.pop_back();
      }
      events.push_back({Event::Kind::allocate, tensor, stream, random_size(random)});
      live.push_back(tensor);
    } else if (kind < 15) {
      const auto tensor = any_of(live);
      std::erase(live, tensor);
      events.push_back({Event::Kind::free, tensor});
      free.push_back(tensor);
      freed.push_back(tensor);
    } else if (kind < 17) {
      events.push_back({Event::Kind::record_stream, any_of(live), stream});
    } else if (kind < 19 && !freed.empty()) {
      events.push_back({Event::Kind::passes, any_of(freed), stream});
    } else {
      const auto rare = random() % 8;
      if (rare == 0) events.push_back({Event::Kind::synchronize});
      if (rare == 1) events.push_back({Event::Kind::empty_cache});
    }
  }
  if (!some_stay)
    for (const auto tensor : live) events.push_back({Event::Kind::free, tensor});
  return events;
}

}  // namespace tests
