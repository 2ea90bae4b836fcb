// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/stage_options.hpp"

#include <algorithm>
#include <limits>

namespace search {

namespace {

Picoseconds option_time(const Price& price) {
  return price.forward + price.backward + price.weight;
}

bool no_slower(const StageTimes& a, const StageTimes& b) {
  return a.forward <= b.forward && a.backward <= b.backward && a.weight <= b.weight;
}

// The least times of layers, as sums over the first ones. A run's time is shared evenly between its
// layers, rounded down.
std::vector<Picoseconds> least_times(const Chain& chain) {
  std::vector<Picoseconds> least(chain.layers.size(), std::numeric_limits<Picoseconds>::max());
  for (std::size_t i = 0; i < least.size(); ++i)
    for (const auto* options : {&chain.layers[i].options, &chain.layers[i].options_as_last})
      for (const auto& option : *options) least[i] = std::min(least[i], option_time(option));
  for (const auto& run : chain.runs)
    for (const auto& option : run.options)
      for (int i = 0; i < run.layers; ++i) {
        auto& time = least[static_cast<std::size_t>(run.first + i)];
        time = std::min(time, option_time(option) / run.layers);
      }
  std::vector<Picoseconds> sums{0};
  for (const auto time : least)
    sums.push_back(sums.back() + (time == std::numeric_limits<Picoseconds>::max() ? 0 : time));
  return sums;
}

}  // namespace

StageOptions::StageOptions(const PipelineProblem& problem, IntervalFrontiers& frontiers)
    : frontiers_(frontiers),
      groups_(stage_groups(problem)),
      memberships_(static_cast<std::size_t>(problem.layout.virtual_stages())),
      least_time_(least_times(problem.chain)),
      besides_(problem.besides),
      ranges_(problem.ranges) {
  besides_.resize(memberships_.size());
  ranges_.resize(memberships_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t m = 0; m < groups_[g].members.size(); ++m)
      memberships_[static_cast<std::size_t>(groups_[g].members[m])] = {g, m};
}

// The most bytes of one microbatch that may be kept; negative if nothing fits.
ByteCount StageOptions::most_kept(int stage, int first, int last, ByteCount transient,
                                  Capacity capacity) const {
  const auto [group, member] = membership(stage);
  const auto shares =
      capacity == Capacity::share ? static_cast<ByteCount>(groups_[group].members.size()) : 1;
  auto most = std::numeric_limits<ByteCount>::max();
  for (const auto& load : groups_[group].loads) {
    const auto left = load.capacity / shares - frontiers_.fixed(first, last) - transient;
    if (left < 0) return -1;
    if (load.in_flight[member] > 0) most = std::min(most, left / load.in_flight[member]);
  }
  return most;
}

void StageOptions::list(int stage, int first, int last, Which which, std::vector<StageOption>& out,
                        Capacity capacity) {
  if (!range(stage).takes(last - first)) return;
  const auto most = most_kept(stage, first, last, 0, capacity);
  if (most < 0) return;
  const auto id = frontiers_.of(first, last);
  const auto& pool = frontiers_.pool();
  const auto points = pool.points(id);
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  for (auto i = pool.within(id, most); i-- > 0;) {
    const auto& price = points[i];
    if (price.transient > 0 &&
        price.kept > most_kept(stage, first, last, price.transient, capacity))
      continue;
    const auto times = this->times(stage, first, last, price);
    if (which == Which::fastest) {
      if (std::any_of(out.begin() + begin, out.end(),
                      [&](const StageOption& o) { return no_slower(o.times, times); }))
        continue;
      out.erase(std::remove_if(out.begin() + begin, out.end(),
                               [&](const StageOption& o) { return no_slower(times, o.times); }),
                out.end());
    }
    out.push_back({times, price.kept, price.transient, id, static_cast<std::uint32_t>(i)});
    if (which == Which::fastest && pool.trades_backward_only(id)) return;
  }
}

bool StageOptions::fastest(int stage, int first, int last, StageOption& out, Capacity capacity) {
  std::vector<StageOption> options;
  list(stage, first, last, Which::fastest, options, capacity);
  if (options.empty()) return false;
  out = *std::ranges::min_element(options, {}, [](const StageOption& o) { return total(o.times); });
  return true;
}

}  // namespace search
