// SPDX-License-Identifier: Apache-2.0
#include "tests/search/knapsack.hpp"

#include <algorithm>

#include "search/solvers/wide.hpp"

namespace search {

namespace {

struct KnapsackLabel {
  ByteCount size;
  Picoseconds value;
  int taken;           // place in the order of density; −1: nothing
  std::size_t before;  // the label without it
};

class KnapsackSearch {
 public:
  KnapsackSearch(std::span<const Item> items, ByteCount budget) : items_(items), budget_(budget) {
    for (int i = 0; i < static_cast<int>(items.size()); ++i)
      if (at(i).value > 0) order_.push_back(i);
    std::ranges::stable_sort(order_, [&](int a, int b) {
      return Wide(at(a).value) * at(b).size > Wide(at(b).value) * at(a).size;
    });
    sizes_.push_back(0);
    values_.push_back(0);
    for (const auto i : order_) {
      sizes_.push_back(sizes_.back() + at(i).size);
      values_.push_back(values_.back() + at(i).value);
    }
  }

  Saved run() {
    pool_.push_back({0, 0, -1, 0});
    std::vector<std::size_t> labels{0};
    for (std::size_t k = 0; k < order_.size(); ++k) labels = after(k, labels);
    return saved();
  }

 private:
  const Item& at(int i) const { return items_[static_cast<std::size_t>(i)]; }

  // The labels after item k was decided, in order of size: the labels before, and each of them with
  // the item. Leaves out labels that are worth no more than a smaller one or cannot beat the best.
  std::vector<std::size_t> after(std::size_t k, const std::vector<std::size_t>& labels) {
    const auto& item = at(order_[k]);
    std::vector<std::size_t> with, result;
    for (const auto label : labels) {
      if (pool_[label].size + item.size > budget_) break;
      with.push_back(pool_.size());
      pool_.push_back({pool_[label].size + item.size, pool_[label].value + item.value,
                       static_cast<int>(k), label});
      if (pool_.back().value > pool_[best_].value) best_ = with.back();
    }
    const auto smaller = [&](std::size_t a, std::size_t b) {
      const auto &x = pool_[a], &y = pool_[b];
      return x.size != y.size ? x.size < y.size : x.value > y.value;
    };
    std::vector<std::size_t> merged(labels.size() + with.size());
    std::ranges::merge(labels, with, merged.begin(), smaller);
    Picoseconds most = -1;
    for (const auto label : merged) {
      if (pool_[label].value <= most) continue;
      most = pool_[label].value;
      if (bound(label, k + 1) > pool_[best_].value) result.push_back(label);
    }
    return result;
  }

  // An upper bound on the value of a label: it takes the items from k on, densest first, and so
  // much of the first that does not fit that the budget is full.
  Picoseconds bound(std::size_t label, std::size_t k) const {
    const auto room = budget_ - pool_[label].size;
    const auto end = std::upper_bound(sizes_.begin() + static_cast<std::ptrdiff_t>(k), sizes_.end(),
                                      sizes_[k] + room) -
                     sizes_.begin() - 1;
    const auto last = static_cast<std::size_t>(end);
    auto value = pool_[label].value + values_[last] - values_[k];
    if (last < order_.size()) {
      const auto& cut = at(order_[last]);
      const auto left = room - (sizes_[last] - sizes_[k]);
      value += static_cast<Picoseconds>(Wide(cut.value) * left / cut.size);
    }
    return value;
  }

  Saved saved() const {
    Saved result{pool_[best_].value, pool_[best_].size, {}};
    for (auto label = best_; pool_[label].taken >= 0; label = pool_[label].before)
      result.items.push_back(order_[static_cast<std::size_t>(pool_[label].taken)]);
    std::ranges::sort(result.items);
    return result;
  }

  std::span<const Item> items_;
  ByteCount budget_;
  std::vector<int> order_;  // densest first
  std::vector<ByteCount> sizes_;
  std::vector<Picoseconds> values_;  // sums over the first items in that order
  std::vector<KnapsackLabel> pool_;
  std::size_t best_ = 0;
};

}  // namespace

Saved knapsack(std::span<const Item> items, ByteCount budget) {
  if (budget < 0) return {};
  return KnapsackSearch(items, budget).run();
}

}  // namespace search
