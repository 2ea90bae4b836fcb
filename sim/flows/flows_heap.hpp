// SPDX-License-Identifier: Apache-2.0
// A heap whose items can be found, moved and taken out again (private to flows.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sim {

// Smallest key first, equal keys by item. An item is in at most one of the heaps that share the
// table `places`: places[item] is where it stands. O(log items) to set and to erase.
template <class Key>
class PlacedHeap {
 public:
  using Places = std::vector<std::uint32_t>;
  struct Entry {
    Key key;
    std::uint32_t item;
  };

  bool empty() const { return entries_.empty(); }
  const Entry& top() const { return entries_.front(); }

  void insert(std::uint32_t item, Key key, Places& places) {
    entries_.push_back({key, item});
    rise(entries_.size() - 1, places);
  }
  void update(std::uint32_t item, Key key, Places& places) {
    const std::size_t at = places[item];
    const bool sooner = key < entries_[at].key;
    entries_[at].key = key;
    sooner ? rise(at, places) : sink(at, places);
  }
  void erase(std::uint32_t item, Places& places) {
    const std::size_t at = places[item];
    const auto last = entries_.back();
    entries_.pop_back();
    if (at == entries_.size()) return;
    const bool sooner = before(last, entries_[at]);
    entries_[at] = last;
    sooner ? rise(at, places) : sink(at, places);
  }

 private:
  static bool before(const Entry& a, const Entry& b) {
    return a.key < b.key || (a.key == b.key && a.item < b.item);
  }
  void put(std::size_t at, const Entry& entry, Places& places) {
    entries_[at] = entry;
    places[entry.item] = static_cast<std::uint32_t>(at);
  }
  void rise(std::size_t at, Places& places) {
    const auto entry = entries_[at];
    for (; at > 0 && before(entry, entries_[(at - 1) / 2]); at = (at - 1) / 2)
      put(at, entries_[(at - 1) / 2], places);
    put(at, entry, places);
  }
  void sink(std::size_t at, Places& places) {
    const auto entry = entries_[at];
    for (auto child = 2 * at + 1; child < entries_.size(); child = 2 * at + 1) {
      if (child + 1 < entries_.size() && before(entries_[child + 1], entries_[child])) ++child;
      if (!before(entries_[child], entry)) break;
      put(at, entries_[child], places);
      at = child;
    }
    put(at, entry, places);
  }

  std::vector<Entry> entries_;
};

}  // namespace sim
