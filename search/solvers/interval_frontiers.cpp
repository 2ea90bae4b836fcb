// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/interval_frontiers.hpp"

#include <algorithm>
#include <stdexcept>

namespace search {

namespace {

// Equal options share a frontier.
class Types {
 public:
  explicit Types(Frontiers& pool) : pool_(pool) {}
  FrontierId of(const std::vector<Price>& options, int layers) {
    const auto [found, fresh] = known_.try_emplace({layers, options});
    if (fresh) found->second = pool_.of(options, layers);
    return found->second;
  }

 private:
  Frontiers& pool_;
  std::map<std::pair<int, std::vector<Price>>, FrontierId> known_;
};

}  // namespace

IntervalFrontiers::IntervalFrontiers(const Chain& chain, const std::atomic<bool>* stop)
    : pool_(stop), fixed_{0}, exchanged_(1), layer_less_(1) {
  Types types(pool_);
  for (const auto& layer : chain.layers) {
    layer_types_.push_back(types.of(layer.options, 1));
    last_types_.push_back(layer.options_as_last.empty() ? layer_types_.back()
                                                        : types.of(layer.options_as_last, 1));
    fixed_.push_back(fixed_.back() + layer.fixed);
    exchanged_.back().last_unit = layer.last_unit;
    auto& sum = exchanged_.emplace_back(exchanged_.back());
    sum.reduction += layer.reduction;
    sum.gathering += layer.gathering;
    sum.update += layer.update;
    sum.slowed_forward += layer.slowed_forward;
    sum.slowed_backward += layer.slowed_backward;
    sum.first_unit = layer.first_unit;
    sum.message_contention = layer.message_contention;
    layer_less_.emplace_back(layer.less_slowed_forward, layer.less_slowed_backward);
  }
  const auto count = layers();
  if (!chain.runs.empty()) segments_.resize(static_cast<std::size_t>(count) + 1);
  for (const auto& run : chain.runs) {
    const int last = run.first + run.layers;
    if (run.first < 0 || run.layers < 1 || last > count)
      throw std::invalid_argument("a run of layers lies outside the chain");
    segments_[static_cast<std::size_t>(last)].push_back(
        {run.first, {run.layers, types.of(run.options, run.layers)}});
  }
  names_of_.resize(layer_types_.size());
  frontiers_.push_back(pool_.nothing());  // the name of the interval without layers is 0
}

std::vector<IntervalFrontiers::Ending> IntervalFrontiers::endings(int first, int last) const {
  std::vector<Ending> result{{1, layer_types_[static_cast<std::size_t>(last) - 1]}};
  if (!segments_.empty())
    for (const auto& run : segments_[static_cast<std::size_t>(last)])
      if (run.first >= first) result.push_back(run.ending);
  return result;
}

FrontierId IntervalFrontiers::of(int first, int last) {
  const auto end = static_cast<std::size_t>(last) - 1;
  if (last_types_[end] == layer_types_[end] || !monotone()) return inner(first, last);
  if (first + 1 == last) return last_types_[end];
  const auto before = inner(first, last - 1);
  const auto name =
      names_of_[static_cast<std::size_t>(first)][end - static_cast<std::size_t>(first) - 1];
  const auto [found, fresh] = whole_.try_emplace({name, last_types_[end]});
  if (fresh) found->second = pool_.sum(before, last_types_[end]);
  return found->second;
}

FrontierId IntervalFrontiers::inner(int first, int last) {
  auto& names = names_of_[static_cast<std::size_t>(first)];
  const auto name_of = [&](int end) {
    return end == first ? Name{0} : names[static_cast<std::size_t>(end - first) - 1];
  };
  for (int end = first + static_cast<int>(names.size()) + 1; end <= last; ++end) {
    const auto ending = endings(first, end);
    const auto [found, fresh] =
        names_.try_emplace({name_of(end - 1), ending}, static_cast<Name>(frontiers_.size()));
    names.push_back(found->second);
    if (!fresh) continue;
    std::vector<FrontierId> ways;
    for (const auto& part : ending)
      ways.push_back(part.layers == end - first
                         ? part.frontier
                         : pool_.sum(frontiers_[name_of(end - part.layers)], part.frontier));
    frontiers_.push_back(ways.size() == 1 ? ways.front() : pool_.either(ways));
  }
  return frontiers_[name_of(last)];
}

}  // namespace search
