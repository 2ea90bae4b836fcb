// SPDX-License-Identifier: Apache-2.0
#include "search/partition.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "search/labels.hpp"

namespace search {

namespace {

constexpr Picoseconds no_target = std::numeric_limits<Picoseconds>::max() / 4;
// Partitions taken from one round of labels: each teaches a critical path.
constexpr std::size_t found_per_round = 8;

std::vector<StageTimes> times_of(const Placed& placed) {
  std::vector<StageTimes> times;
  for (const auto& option : placed.options) times.push_back(option.times);
  return times;
}

class Planner {
 public:
  Planner(const PipelineProblem& problem, const PartitionLimits& limits)
      : problem_(problem),
        limits_(limits),
        intervals_(problem.chain),
        options_(problem, intervals_),
        timetable_(problem.order, problem.layout, problem.microbatches, problem.latency),
        watched_(options_.groups().size(), false) {}

  PartitionResult run() {
    if (intervals_.layers() >= timetable_.virtual_stages()) {
      learn(timetable_.device_paths(even_times()));
      start();
      improve();
    } else {
      result_.proved = true;
    }
    if (best_) result_.best = partition();
    if (result_.proved) result_.lower_bound = makespan_;
    return std::move(result_);
  }

 private:
  // Every virtual stage an even share of the whole model in its fastest ways.
  std::vector<StageTimes> even_times() const {
    Price sum;
    for (const auto& layer : problem_.chain.layers) {
      if (layer.options.empty()) continue;
      const auto& option = *std::ranges::min_element(layer.options, {}, [](const Price& price) {
        return price.forward + price.backward + price.weight;
      });
      sum.forward += option.forward;
      sum.backward += option.backward;
      sum.weight += option.weight;
    }
    const auto stages = timetable_.virtual_stages();
    return std::vector<StageTimes>(
        static_cast<std::size_t>(stages),
        {sum.forward / stages, sum.backward / stages, sum.weight / stages});
  }

  void learn(std::vector<Path> paths) {
    for (auto& path : paths)
      if (known_.insert(path).second) paths_.push_back(std::move(path));
  }

  // The least bottleneck: every virtual stage as many layers as stay within a limit, and the least
  // limit for which that reaches the end. Only a start.
  void start() {
    Picoseconds low = -1, high = no_target;
    std::optional<Placed> found = fill(high);
    while (high - low > 1 + high / 1000) {
      const auto middle = low + (high - low) / 2;
      auto placed = fill(middle);
      (placed ? high : low) = middle;
      if (placed) found = std::move(placed);
    }
    if (found) consider(std::move(*found));
  }
  std::optional<Placed> fill(Picoseconds limit) {
    const int stages = timetable_.virtual_stages(), layers = intervals_.layers();
    Placed placed{{0}, {}};
    for (int stage = 0; stage < stages; ++stage) {
      const int first = placed.first_layer.back(), behind = stages - 1 - stage;
      int last = first;
      StageOption best, option;
      while (last < layers - behind && options_.fastest(stage, first, last + 1, option) &&
             option.times.forward + option.times.backward + option.times.weight <= limit) {
        best = option;
        ++last;
      }
      if (last == first || (behind == 0 && last < layers)) return std::nullopt;
      placed.first_layer.push_back(last);
      placed.options.push_back(best);
    }
    return placed;
  }

  // Until nothing is faster than the best found, or the limits.
  void improve() {
    Picoseconds low = 0, high = makespan_;  // what is not known to be impossible begins at low
    while (result_.rounds < limits_.rounds) {
      const bool whole = high == makespan_;
      const auto target = whole ? makespan_ : low + (high - low) / 2;
      const auto search = round(target);
      low = std::max(low, search.lower_bound);
      if (low >= makespan_) {
        result_.proved = true;
        break;
      }
      if (search.outcome == LabelSearch::Outcome::gave_up)
        high = target;
      else if (whole)
        high = makespan_;
      high = std::min(high, makespan_);
      if (high < makespan_ && (!best_ || high - low <= makespan_ / 2000)) break;
    }
    result_.lower_bound = low;
  }

  LabelSearch round(Picoseconds target) {
    auto search = search_labels(options_, fold(paths_), problem_.latency, target, watched_,
                                limits_.labels, found_per_round);
    ++result_.rounds;
    result_.labels += search.labels;
    for (auto& placed : search.found) consider(std::move(placed));
    return search;
  }

  // Times a partition with the real order, and learns its critical path; groups that do not fit
  // are watched from now on, and made to fit.
  void consider(Placed placed) {
    if (!fit(placed)) return;
    const auto times = times_of(placed);
    const auto makespan = timetable_.makespan(times);
    learn({timetable_.critical_path(times)});
    if (makespan >= makespan_) return;
    makespan_ = makespan;
    best_ = std::move(placed);
  }

  bool fit(Placed& placed) {
    bool fits = true;
    for (std::size_t g = 0; g < watched_.size(); ++g) {
      if (usage(placed, g).fits(options_.groups()[g])) continue;
      watched_[g] = true;
      fits = fits && shrink(placed, g);
    }
    return fits;
  }
  Usage usage(const Placed& placed, std::size_t g) const {
    const auto& group = options_.groups()[g];
    Usage usage(group);
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const auto v = static_cast<std::size_t>(group.members[m]);
      usage.add(group, m, intervals_.fixed(placed.first_layer[v], placed.first_layer[v + 1]),
                placed.options[v].kept, placed.options[v].transient);
    }
    return usage;
  }
  // Takes the next smaller point of the member that keeps most, until the group fits.
  bool shrink(Placed& placed, std::size_t g) {
    const auto& group = options_.groups()[g];
    while (!usage(placed, g).fits(group)) {
      StageOption* largest = nullptr;
      for (const auto member : group.members) {
        auto& option = placed.options[static_cast<std::size_t>(member)];
        if (option.point > 0 && (!largest || option.kept > largest->kept)) largest = &option;
      }
      if (!largest) return false;
      const auto point = largest->point - 1;
      const auto& price = intervals_.pool().points(largest->frontier)[point];
      *largest = {{price.forward, price.backward, price.weight},
                  price.kept,
                  price.transient,
                  largest->frontier,
                  point};
    }
    return true;
  }

  Partition partition() const {
    Partition result{best_->first_layer, {}, times_of(*best_), makespan_};
    for (const auto& option : best_->options)
      result.choices.push_back(intervals_.pool().choices(option.frontier, option.point));
    return result;
  }

  const PipelineProblem& problem_;
  PartitionLimits limits_;
  Intervals intervals_;
  StageOptions options_;
  Timetable timetable_;
  std::vector<bool> watched_;  // by group
  std::set<Path> known_;
  std::vector<Path> paths_;
  std::optional<Placed> best_;
  Picoseconds makespan_ = no_target;
  PartitionResult result_;
};

}  // namespace

PartitionResult partition(const PipelineProblem& problem, const PartitionLimits& limits) {
  return Planner(problem, limits).run();
}

}  // namespace search
