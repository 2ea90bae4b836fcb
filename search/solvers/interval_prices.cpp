// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/interval_prices.hpp"

#include <algorithm>
#include <cmath>

namespace search {

namespace {

constexpr double no_bound = std::numeric_limits<double>::infinity();

std::size_t index_of(int i) { return static_cast<std::size_t>(i); }

}  // namespace

IntervalPrices::IntervalPrices(const PipelineProblem& problem,
                               const std::vector<StageGroup>& groups)
    : problem_(problem),
      groups_(groups),
      stages_(problem.layout.virtual_stages()),
      layers_(static_cast<int>(problem.chain.layers.size())),
      besides_(problem.besides) {
  besides_.resize(index_of(stages_));
  find_types();
  counted_.assign(types_.size(), false);
}

// Finds the types of layers: layers that are alike have one type.
void IntervalPrices::find_types() {
  for (const auto& layer : problem_.chain.layers) {
    const auto known =
        std::ranges::find_if(types_, [&](const Layer* type) { return *type == layer; });
    type_of_.push_back(static_cast<std::size_t>(known - types_.begin()));
    if (known == types_.end()) types_.push_back(&layer);
  }
}

void IntervalPrices::count_layers(Picoseconds target) {
  std::vector<std::size_t> many(types_.size(), 0);
  for (const auto type : type_of_) ++many[type];
  const auto usual = static_cast<std::size_t>(std::ranges::max_element(many) - many.begin());
  std::vector<double> work;
  for (const auto* type : types_) {
    double least = no_bound;
    for (const auto* ways : {&type->options, &type->options_as_last})
      for (const auto& way : *ways)
        least = std::min(least, static_cast<double>(way.forward + way.backward + way.weight));
    work.push_back(problem_.microbatches * least + static_cast<double>(type->update));
  }
  double between = no_bound;
  for (const auto& group : groups_) {
    double sum = 0;
    for (const auto v : group.members)
      sum += static_cast<double>(std::max<Picoseconds>(0, besides_[index_of(v)].update));
    between = std::min(between, sum);
  }
  counted_.assign(types_.size(), false);
  for (std::size_t t = 0; t < types_.size(); ++t) counted_[t] = work[t] >= work[usual];
  // Mirrored, two devices share a group.
  const double devices =
      static_cast<double>(problem_.order.size()) / static_cast<double>(groups_.size());
  most_layers_ =
      devices * std::floor((static_cast<double>(target) - between) / std::max(1.0, work[usual]));
  if (devices != 1 || most_layers_ >= layers_) most_layers_ = no_bound;
}

std::vector<IntervalPrices::BytePrices> IntervalPrices::byte_prices(
    const Multipliers& multipliers) const {
  std::vector<BytePrices> prices(index_of(stages_));
  for (const auto& [group, load, price] : multipliers.bytes) {
    const auto& g = groups_[index_of(group)];
    for (std::size_t m = 0; m < g.members.size(); ++m) {
      auto& of = prices[index_of(g.members[m])];
      of.kept += price * g.loads[index_of(load)].in_flight[m];
      of.fixed += price;
    }
  }
  for (std::size_t g = 0; g < multipliers.layers.size(); ++g)
    for (const auto v : groups_[g].members) prices[index_of(v)].layer = multipliers.layers[g];
  return prices;
}

namespace {

// The most by which backward passes are shorter where the layer is the last of a virtual stage.
Picoseconds less_as_last(const Layer& layer) {
  Picoseconds most = 0;
  for (std::size_t o = 0; o < layer.options_as_last.size(); ++o)
    most = std::max(most, layer.options[o].backward - layer.options_as_last[o].backward);
  return most;
}

}  // namespace

IntervalPrices::StageCosts IntervalPrices::costs_of(int v, const Multipliers& multipliers,
                                                    const BytePrices& bytes) const {
  const auto& weights = multipliers.stages[index_of(v)];
  const auto& more = besides_[index_of(v)];
  StageCosts costs{.taken = std::vector<int>(types_.size(), 0)};
  const auto parts = StageTimes::all();
  const auto weigh = Parts<double>::all();
  for (std::size_t i = 0; i < parts.size(); ++i)
    costs.constant += weights.*weigh[i] * static_cast<double>(more.*parts[i]);
  costs.constant += weights.messages * static_cast<double>(problem_.latency);
  std::vector<double> each;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const auto& layer = *types_[t];
    each.push_back(cheapest_option(layer, weights, bytes, costs.taken[t]) +
                   (counted_[t] ? bytes.layer : 0));
    costs.first.push_back(weights.last_unit * static_cast<double>(layer.last_unit));
    costs.last.push_back(weights.first_unit * static_cast<double>(layer.first_unit) -
                         weights.slowed_forward * static_cast<double>(layer.less_slowed_forward) -
                         weights.slowed_backward * static_cast<double>(layer.less_slowed_backward) +
                         weights.message_contention *
                             static_cast<double>(layer.message_contention) -
                         weights.backward * static_cast<double>(less_as_last(layer)));
  }
  costs.sum.push_back(0);
  for (const auto type : type_of_) costs.sum.push_back(costs.sum.back() + each[type]);
  return costs;
}

double IntervalPrices::cheapest_option(const Layer& layer, const Parts<double>& weights,
                                       const BytePrices& bytes, int& taken) {
  double least = no_bound;
  for (std::size_t o = 0; o < layer.options.size(); ++o) {
    const auto& price = layer.options[o];
    const double cost = weights.forward * static_cast<double>(price.forward) +
                        weights.backward * static_cast<double>(price.backward) +
                        weights.weight * static_cast<double>(price.weight) +
                        bytes.kept * static_cast<double>(price.kept);
    if (cost >= least) continue;
    least = cost;
    taken = static_cast<int>(o);
  }
  return least + weights.reduction * static_cast<double>(layer.reduction) +
         weights.gathering * static_cast<double>(layer.gathering) +
         weights.slowed_forward * static_cast<double>(layer.slowed_forward) +
         weights.slowed_backward * static_cast<double>(layer.slowed_backward) +
         weights.update * static_cast<double>(layer.update) +
         bytes.fixed * static_cast<double>(layer.fixed);
}

IntervalPrices::Costs IntervalPrices::costs_of(const Multipliers& multipliers) const {
  const auto bytes = byte_prices(multipliers);
  Costs costs;
  for (const auto& [group, load, price] : multipliers.bytes)
    costs.constant -=
        price * static_cast<double>(groups_[index_of(group)].loads[index_of(load)].capacity);
  for (const double price : multipliers.layers)
    if (price > 0) costs.constant -= price * most_layers_;
  for (int v = 0; v < stages_; ++v) {
    costs.stages.push_back(costs_of(v, multipliers, bytes[index_of(v)]));
    costs.constant += costs.stages.back().constant;
  }
  return costs;
}

double IntervalPrices::cost_of(const Costs& costs, int v, int first, int last) const {
  const auto& c = costs.stages[index_of(v)];
  return c.sum[index_of(last + v + 1)] - c.sum[index_of(first + v)] +
         c.first[type_of_[index_of(first + v)]] + c.last[type_of_[index_of(last + v)]];
}

IntervalPrices::Ways IntervalPrices::ways_to(const Costs& costs, OpenIntervals& intervals) const {
  const int width = intervals.width();
  Ways ways{{index_of(stages_) + 1, std::vector<double>(index_of(width), no_bound)},
            {index_of(stages_), std::vector<int>(index_of(width), -1)}};
  ways.cost[0][0] = costs.constant;
  for (int v = 0; v < stages_; ++v)
    for (int first = 0; first < width; ++first) {
      const double here = ways.cost[index_of(v)][index_of(first)];
      if (here == no_bound) continue;
      for (int last = first; last < width; ++last) {
        if (!intervals.open(v, first, last)) continue;
        const double cost = here + cost_of(costs, v, first, last);
        if (cost >= ways.cost[index_of(v) + 1][index_of(last)]) continue;
        ways.cost[index_of(v) + 1][index_of(last)] = cost;
        ways.from[index_of(v)][index_of(last)] = first;
      }
    }
  return ways;
}

// Closes intervals that lie on no way that costs less than `most`; false if none is left.
bool IntervalPrices::close(const Costs& costs, const Ways& ways, OpenIntervals& intervals,
                           double most) {
  const int width = intervals.width();
  std::vector<double> behind(index_of(width), no_bound), next(index_of(width));
  behind[index_of(width) - 1] = 0;
  for (int v = stages_; v-- > 0;) {
    std::ranges::fill(next, no_bound);
    for (int first = 0; first < width; ++first)
      for (int last = first; last < width; ++last) {
        auto& open = intervals.open(v, first, last);
        if (!open) continue;
        const double cost = cost_of(costs, v, first, last) + behind[index_of(last)];
        const double whole_way = ways.cost[index_of(v)][index_of(first)] + cost;
        if (whole_way < most) {
          next[index_of(first)] = std::min(next[index_of(first)], cost);
        } else {
          open = 0;
          struck_out_ |= whole_way < no_bound;
        }
      }
    std::swap(behind, next);
  }
  return behind[0] < no_bound;
}

IntervalPrices::Cheapest IntervalPrices::cheapest(const Multipliers& multipliers,
                                                  OpenIntervals& intervals, double most) {
  const auto costs = costs_of(multipliers);
  const auto ways = ways_to(costs, intervals);
  Cheapest result{.cost = ways.cost[index_of(stages_)].back()};
  if (result.cost == no_bound) return result;
  result.placing.first_layer.assign(index_of(stages_) + 1, layers_);
  for (int v = stages_, last = intervals.width() - 1; v-- > 0;) {
    last = ways.from[index_of(v)][index_of(last)];
    result.placing.first_layer[index_of(v)] = last + v;
  }
  for (const auto& stage : costs.stages) result.placing.taken.push_back(stage.taken);
  if (most < no_bound && !close(costs, ways, intervals, most)) result.cost = no_bound;
  return result;
}

OpenIntervals IntervalPrices::intervals() const {
  OpenIntervals intervals(stages_, layers_);
  for (int v = 0; v < static_cast<int>(problem_.ranges.size()); ++v)
    for (int first = 0; first < intervals.width(); ++first)
      for (int last = first; last < intervals.width(); ++last)
        if (!problem_.ranges[index_of(v)].takes(last - first + 1))
          intervals.open(v, first, last) = 0;
  return intervals;
}

}  // namespace search
