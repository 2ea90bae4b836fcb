// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/partition_queue.hpp"

#include <algorithm>
#include <utility>

#include "search/solvers/enumeration.hpp"
#include "search/solvers/partition.hpp"

namespace search {

bool PartitionQueue::add(const std::vector<int>& cut, ByteCount less, int tries) {
  auto tighter = problem_;
  for (auto& capacity : tighter.capacity) capacity -= less;
  if (tighter.capacity.front() < 0) return false;
  auto partition = in_ways_that_fit(tighter, frontiers_, timetable_, cut);
  if (!partition) return false;
  sort_choices(problem_, *partition);
  if (!known_.insert(*partition).second) return false;
  items_.push_back({std::move(*partition), tries});
  return true;
}

void PartitionQueue::add_small(const std::vector<int>& cut) {
  const auto capacity = problem_.capacity.front();
  for (const int parts : {1, 2, 4, 8, 16, 64, 1024})
    if (add(cut, -(capacity / 4 + 1) * parts, 0)) return;
}

PartitionQueue::Item PartitionQueue::take() {
  const auto next = std::ranges::min_element(
      items_, {}, [](const Item& item) { return item.partition.makespan; });
  auto item = std::move(*next);
  items_.erase(next);
  return item;
}

bool PartitionQueue::Earlier::operator()(const Partition& a, const Partition& b) const {
  if (a.first_layer != b.first_layer) return a.first_layer < b.first_layer;
  const auto options = [](const Partition& partition) {
    std::vector<int> all;
    for (const auto& stage : partition.choices)
      for (const auto& choice : stage) all.push_back(choice.option);
    return all;
  };
  return options(a) < options(b);
}

}  // namespace search
