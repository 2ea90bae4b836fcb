// SPDX-License-Identifier: Apache-2.0
// The parts of a linear program that grows.
#pragma once
#include <cstddef>
#include <map>
#include <vector>

namespace search {

// The parts of a linear program, each once. Parts that played no role in the last rounds are left
// out, until they are found again.
template <class Thing>
class Known {
 public:
  // Adds a thing; false if it is there and in use.
  bool add(const Thing& thing) {
    const auto [found, fresh] = places_.try_emplace(thing, used_.size());
    if (fresh) {
      used_.push_back(round_);
      things_.push_back(&found->first);
      return true;
    }
    const bool idle = !in_use(found->second);
    used_[found->second] = round_;
    return idle;
  }
  void next_round() { ++round_; }
  void use(std::size_t i) { used_[i] = round_; }
  std::vector<std::size_t> in_use() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (in_use(i)) all.push_back(i);
    return all;
  }
  std::size_t size() const { return used_.size(); }
  const Thing& operator[](std::size_t i) const { return *things_[i]; }

 private:
  static constexpr int rounds_idle = 15;
  bool in_use(std::size_t i) const { return used_[i] + rounds_idle >= round_; }
  std::map<Thing, std::size_t> places_;
  std::vector<const Thing*> things_;
  std::vector<int> used_;
  int round_ = 0;
};

}  // namespace search
