// SPDX-License-Identifier: Apache-2.0
#include "tests/search/layer_strategies.hpp"

#include <algorithm>
#include <stdexcept>

#include "search/solvers/wide.hpp"

namespace search {

namespace {

constexpr std::uint32_t no_label = ~std::uint32_t{0};
// λ counts picoseconds per 2^shift bytes, so that prices of memory may be far below one picosecond
// per byte.
constexpr int shift = 20;

class StrategySearch {
 public:
  StrategySearch(std::span<const StrategyLayer> layers, ByteCount capacity)
      : layers_(layers), capacity_(capacity), strategies_(layers.front().time.size()) {
    for (const auto& layer : layers_)
      if (layer.time.size() != strategies_ || layer.memory.size() != strategies_ ||
          (!layer.switching.empty() && layer.switching.size() != strategies_ * strategies_))
        throw std::invalid_argument("every layer needs a time and a memory for every strategy");
    least_memory_.assign(layers_.size() + 1, 0);
    for (auto l = layers_.size(); l-- > 0;)
      least_memory_[l] = least_memory_[l + 1] + *std::ranges::min_element(layers_[l].memory);
    to_go_.resize(layers_.size() * strategies_);
  }

  std::optional<StrategyChoice> run() {
    if (least_memory_[0] > capacity_) return std::nullopt;
    price_memory();
    if (!exact_) sweep();
    return best_;
  }

 private:
  struct Label {
    ByteCount memory;
    Picoseconds time;
    std::uint32_t before, strategy;
  };

  Picoseconds switching(std::size_t layer, std::size_t from, std::size_t to) const {
    const auto& table = layers_[layer].switching;
    return table.empty() ? 0 : table[from * strategies_ + to];
  }
  // The time + λ·memory, in 2^−shift picoseconds.
  Wide priced(Picoseconds time, ByteCount memory) const {
    return (Wide(time) << shift) + Wide(price_) * memory;
  }

  // Fills to_go_: the least priced sum of the layers behind, by layer and strategy. Returns the
  // choice from the first layer on that achieves it.
  StrategyChoice relax() {
    std::vector<Wide> here(strategies_);
    std::vector<std::uint32_t> next(to_go_.size(), 0);
    std::ranges::fill(to_go_, 0);
    for (auto l = layers_.size(); l-- > 1;) {
      for (std::size_t t = 0; t < strategies_; ++t)
        here[t] = priced(layers_[l].time[t], layers_[l].memory[t]) + to_go_[l * strategies_ + t];
      for (std::size_t s = 0; s < strategies_; ++s) {
        std::size_t best = 0;
        Wide least = 0;
        for (std::size_t t = 0; t < strategies_; ++t) {
          const Wide sum = here[t] + (Wide(switching(l, s, t)) << shift);
          if (t > 0 && sum >= least) continue;
          least = sum;
          best = t;
        }
        to_go_[(l - 1) * strategies_ + s] = least;
        next[(l - 1) * strategies_ + s] = static_cast<std::uint32_t>(best);
      }
    }
    std::size_t s = 0;
    const auto from_start = [&](std::size_t t) {
      return priced(layers_[0].time[t], layers_[0].memory[t]) + to_go_[t];
    };
    for (std::size_t t = 1; t < strategies_; ++t)
      if (from_start(t) < from_start(s)) s = t;
    std::vector<int> strategies;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      strategies.push_back(static_cast<int>(s));
      s = next[l * strategies_ + s];
    }
    return chosen(std::move(strategies));
  }

  // Bisects for the λ at which the relaxed choice just fits: the best bound of this kind. Choices
  // that fit on the way are incumbents; if the choice at λ = 0 fits, it is the optimum.
  void price_memory() {
    std::int64_t low = 0, high = std::int64_t{1} << 60;
    if (try_price(0)) {
      exact_ = true;
      return;
    }
    while (high - low > 1 + high / 1024) {
      // Prices range over many magnitudes, so the number of digits is bisected first, then the
      // digits.
      const auto middle =
          high / 4 > low + 1 ? midpoint_of_magnitudes(low, high) : low + (high - low) / 2;
      (try_price(middle) ? high : low) = middle;
    }
    try_price(low);
    const auto large = relaxed_;
    try_price(high);
    splice(relaxed_, large);
    splice(large, relaxed_);
  }
  // Considers choices that take the first layers from `a`, one layer in any way, and the rest from
  // `b`: where layers are alike, the best mix of two strategies changes over once, and one layer
  // fills up.
  void splice(const StrategyChoice& a, const StrategyChoice& b) {
    for (std::size_t at = 0; at < layers_.size(); ++at) {
      auto mixed = a.strategies;
      std::copy(b.strategies.begin() + static_cast<std::ptrdiff_t>(at), b.strategies.end(),
                mixed.begin() + static_cast<std::ptrdiff_t>(at));
      for (std::size_t s = 0; s < strategies_; ++s) {
        mixed[at] = static_cast<int>(s);
        consider(chosen(mixed));
      }
    }
  }
  StrategyChoice chosen(std::vector<int> strategies) const {
    StrategyChoice choice{0, 0, std::move(strategies)};
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto s = static_cast<std::size_t>(choice.strategies[l]);
      choice.time += layers_[l].time[s];
      choice.memory += layers_[l].memory[s];
      if (l > 0) choice.time += switching(l, static_cast<std::size_t>(choice.strategies[l - 1]), s);
    }
    return choice;
  }
  bool consider(const StrategyChoice& choice) {
    if (choice.memory > capacity_) return false;
    if (!best_ || choice.time < best_->time) best_ = choice;
    return true;
  }
  static std::int64_t midpoint_of_magnitudes(std::int64_t low, std::int64_t high) {
    int digits = 0;
    for (auto ratio = high / (low + 1); ratio > 1; ratio >>= 1) ++digits;
    return (low + 1) << (digits / 2);
  }
  bool try_price(std::int64_t price) {
    price_ = price;
    relaxed_ = relax();
    return consider(relaxed_);
  }

  // Whether a label may lead to a choice that is faster than the best.
  bool hopeful(std::size_t layer, std::size_t strategy, ByteCount memory, Picoseconds time) const {
    if (memory + least_memory_[layer + 1] > capacity_) return false;
    if (!best_) return true;
    return priced(time, memory) + to_go_[layer * strategies_ + strategy] <
           priced(best_->time, capacity_);
  }

  // Makes the labels of every layer and strategy from those of the layer before.
  void sweep() {
    pool_.clear();
    std::vector<std::vector<std::uint32_t>> labels(strategies_), next(strategies_);
    for (std::size_t s = 0; s < strategies_; ++s) {
      fresh_.clear();
      offer(0, s, 0, 0, no_label);
      next[s] = settle();
    }
    for (std::size_t l = 1; l < layers_.size(); ++l) {
      std::swap(labels, next);
      for (std::size_t t = 0; t < strategies_; ++t) {
        fresh_.clear();
        for (std::size_t s = 0; s < strategies_; ++s)
          for (const auto label : labels[s])
            offer(l, t, pool_[label].memory, pool_[label].time + switching(l, s, t), label);
        next[t] = settle();
      }
    }
    std::uint32_t last = no_label;
    for (const auto& list : next)
      for (const auto label : list)
        if (!best_ || pool_[label].time < best_->time) {
          best_ = StrategyChoice{pool_[label].time, pool_[label].memory, {}};
          last = label;
        }
    for (auto label = last; label != no_label; label = pool_[label].before)
      best_->strategies.insert(best_->strategies.begin(), static_cast<int>(pool_[label].strategy));
  }
  void offer(std::size_t layer, std::size_t strategy, ByteCount memory, Picoseconds time,
             std::uint32_t before) {
    memory += layers_[layer].memory[strategy];
    time += layers_[layer].time[strategy];
    if (hopeful(layer, strategy, memory, time))
      fresh_.push_back({memory, time, before, static_cast<std::uint32_t>(strategy)});
  }
  // Keeps the offered labels that no label of at most their memory is as fast as.
  std::vector<std::uint32_t> settle() {
    std::ranges::sort(fresh_, [](const Label& a, const Label& b) {
      if (a.memory != b.memory) return a.memory < b.memory;
      return a.time != b.time ? a.time < b.time : a.before < b.before;
    });
    std::size_t kept = 0;
    for (const auto& label : fresh_)
      if (kept == 0 || label.time < fresh_[kept - 1].time) fresh_[kept++] = label;
    fresh_.resize(kept);
    std::vector<std::uint32_t> result;
    for (const auto& label : fresh_) {
      result.push_back(static_cast<std::uint32_t>(pool_.size()));
      pool_.push_back(label);
    }
    return result;
  }

  std::span<const StrategyLayer> layers_;
  ByteCount capacity_;
  std::size_t strategies_;
  std::vector<ByteCount> least_memory_;  // sums over this layer and the layers behind
  std::int64_t price_ = 0;               // λ
  std::vector<Wide> to_go_;              // by layer and strategy
  bool exact_ = false;
  StrategyChoice relaxed_;
  std::vector<Label> pool_, fresh_;
  std::optional<StrategyChoice> best_;
};

}  // namespace

std::optional<StrategyChoice> layer_strategies(std::span<const StrategyLayer> layers,
                                               ByteCount capacity) {
  if (layers.empty()) return capacity < 0 ? std::nullopt : std::optional(StrategyChoice{});
  if (layers.front().time.empty()) return std::nullopt;
  return StrategySearch(layers, capacity).run();
}

}  // namespace search
