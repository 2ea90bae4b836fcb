// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/partition.hpp"

#include <algorithm>
#include <set>

#include "search/solvers/labels.hpp"
#include "search/solvers/wide.hpp"

namespace search {

namespace {

// The number of partitions taken from one round of labels: each teaches a critical path.
constexpr std::size_t found_per_round = 8;

std::vector<StageTimes> times_of(const Placed& placed) {
  std::vector<StageTimes> times;
  for (const auto& option : placed.options) times.push_back(option.times);
  return times;
}

// Lets virtual stages keep less until their devices are not too full.
class Shrinking {
 public:
  Shrinking(const StageOptions& options, IntervalFrontiers& frontiers)
      : options_(options), frontiers_(frontiers) {}

  Usage usage(const Placed& placed, std::size_t g) const {
    const auto& group = options_.groups()[g];
    Usage usage(group);
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const auto v = static_cast<std::size_t>(group.members[m]);
      usage.add(group, m, frontiers_.fixed(placed.first_layer[v], placed.first_layer[v + 1]),
                placed.options[v].kept, placed.options[v].transient);
    }
    return usage;
  }
  // Lets members keep less until the group fits, each time where a byte costs least time.
  bool shrink(Placed& placed, std::size_t g) const {
    const auto& group = options_.groups()[g];
    while (!usage(placed, g).fits(group)) {
      StageOption* cheapest = nullptr;
      int of = 0;
      Wide cost = 0, saving = 1;
      for (const auto member : group.members) {
        auto& option = placed.options[static_cast<std::size_t>(member)];
        if (option.point == 0) continue;
        const auto less = smaller(placed, member, option);
        const auto slower = total(less.times) - total(option.times);
        const auto fewer = option.kept - less.kept;
        if (cheapest && slower * saving >= cost * fewer) continue;
        cheapest = &option;
        of = member;
        cost = slower;
        saving = fewer;
      }
      if (!cheapest) return false;
      *cheapest = smaller(placed, of, *cheapest);
    }
    return true;
  }

 private:
  StageOption smaller(const Placed& placed, int stage, const StageOption& option) const {
    const auto point = option.point - 1;
    const auto& price = frontiers_.pool().points(option.frontier)[point];
    const auto first = placed.first_layer[static_cast<std::size_t>(stage)],
               last = placed.first_layer[static_cast<std::size_t>(stage) + 1];
    return {options_.times(stage, first, last, price), price.kept, price.transient, option.frontier,
            point};
  }

  const StageOptions& options_;
  IntervalFrontiers& frontiers_;
};

Partition partition_of(const Placed& placed, const Timetable& timetable,
                       const IntervalFrontiers& frontiers) {
  const auto times = times_of(placed);
  Partition result{placed.first_layer, {}, times, timetable.makespan(times)};
  for (const auto& option : placed.options)
    result.choices.push_back(frontiers.pool().choices(option.frontier, option.point));
  return result;
}

class Planner {
 public:
  Planner(const PipelineProblem& problem, IntervalFrontiers& frontiers,
          const PartitionLimits& limits)
      : problem_(problem),
        limits_(limits),
        frontiers_(frontiers),
        options_(problem, frontiers),
        timetable_(problem.order, problem.layout, problem.microbatches, problem.latency,
                   problem.lane),
        watched_(options_.groups().size(), false) {}

  PartitionResult run() {
    if (frontiers_.layers() >= timetable_.virtual_stages()) {
      learn(timetable_.device_paths(even_times()));
      start();
      improve();
    } else {
      result_.proved = true;
      result_.lower_bound = sim::unreached;
    }
    if (best_) result_.best = partition_of(*best_, timetable_, frontiers_);
    return std::move(result_);
  }

 private:
  // The times of virtual stages that each have an even share of the whole model in its fastest
  // ways.
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

  // Finds a first partition by its bottleneck: every virtual stage takes as many layers as stay
  // within a limit, and the least limit for which that reaches the last layer counts.
  void start() {
    start(StageOptions::Capacity::all);
    if (!best_) start(StageOptions::Capacity::share);
  }
  void start(StageOptions::Capacity capacity) {
    Picoseconds low = -1, high = sim::unreached;
    std::optional<Placed> found = fill(high, capacity);
    while (high - low > 1 + high / 1000) {
      const auto middle = low + (high - low) / 2;
      auto placed = fill(middle, capacity);
      (placed ? high : low) = middle;
      if (placed) found = std::move(placed);
    }
    if (!found) return;
    watch(*found);
    if (fit(*found)) consider(std::move(*found));
  }
  std::optional<Placed> fill(Picoseconds limit, StageOptions::Capacity capacity) {
    const int stages = timetable_.virtual_stages(), layers = frontiers_.layers();
    Placed placed{{0}, {}};
    for (int stage = 0; stage < stages; ++stage) {
      const int first = placed.first_layer.back(), behind = stages - 1 - stage;
      const int least = options_.range(stage).least;
      int last = first + least - 1;
      StageOption best, option;
      while (last < layers - behind && options_.fastest(stage, first, last + 1, option, capacity) &&
             total(option.times) <= limit) {
        best = option;
        ++last;
      }
      if (last < first + least || (behind == 0 && last < layers)) return std::nullopt;
      placed.first_layer.push_back(last);
      placed.options.push_back(best);
    }
    return placed;
  }

  // Searches until nothing is faster than the best found, or the limits are reached. After a round
  // that gives up, the best found is polished, and then only bounds are proved, between those
  // known.
  void improve() {
    Picoseconds low = 0, high = most();  // the optimum lies between, as far as is known
    bool polished = false;
    while (result_.rounds < limits_.rounds && low < most()) {
      const bool whole = high == most();
      const auto target = whole ? most() : low + (high - low) / 2;
      const auto search = round(target);
      low = std::max(low, search.lower_bound);
      if (comparisons_ >= limits_.comparisons) break;
      if (search.outcome == LabelSearch::Outcome::gave_up) {
        if (!best_) break;
        high = target;
        if (!polished) {
          polish();
          low = std::max(low, average_bound());
          polished = true;
          high = most();
        } else if (whole) {
          high = low + (most() - low) / 2;
        }
      } else if (whole) {
        high = most();
      }
      high = std::min(high, most());
      if (high < most() && high - low < most() / 2000) break;
    }
    result_.proved = low >= makespan_;
    result_.lower_bound = low;
  }

  // The time that a partition must stay below to be of interest.
  Picoseconds most() const { return std::min(makespan_, limits_.target); }

  LabelSearch round(Picoseconds target) {
    const auto left = limits_.comparisons - std::min(comparisons_, limits_.comparisons);
    auto search = search_labels(options_, fold(paths_), problem_.latency, target, watched_,
                                left / 8 + 1, found_per_round);
    ++result_.rounds;
    result_.labels += search.labels;
    comparisons_ += search.comparisons;
    for (auto& placed : search.found) {
      watch(placed);
      if (fit(placed)) consider(std::move(placed));
    }
    return search;
  }

  // The longest of the paths along each device is at least their average, whatever the partition.
  Picoseconds average_bound() {
    const auto paths = timetable_.device_paths(even_times());
    Path sum(paths.front().size());
    Picoseconds count = 0;
    for (std::size_t k = 0; k < paths.size(); k += 3, ++count)
      for (std::size_t v = 0; v < sum.size(); ++v)
        for (const auto part : Visits::all()) sum[v].*part += paths[k][v].*part;
    const auto search =
        search_labels(options_, fold({&sum, 1}), problem_.latency, sim::unreached, watched_, 0, 1);
    return (search.lower_bound + count - 1) / count;
  }

  // Moves single layers from one virtual stage to another, shifting those in between by one, while
  // that makes the best found faster.
  void polish() {
    const int stages = timetable_.virtual_stages();
    std::size_t passes = 0;
    for (bool moved = best_.has_value(); moved;) {
      moved = false;
      for (int from = 0; from < stages; ++from)
        for (int to = 0; to < stages; ++to) {
          auto placed = move_layer(from, to);
          if (!placed || !fit(*placed)) continue;
          const auto before = makespan_;
          time(std::move(*placed));
          moved |= makespan_ < before;
          passes += timetable_.passes();
          if (passes > limits_.passes) return;
        }
    }
    if (best_) learn({timetable_.critical_path(times_of(*best_))});
  }
  std::optional<Placed> move_layer(int from, int to) {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    auto placed = *best_;
    if (from == to || placed.first_layer[at(from) + 1] - placed.first_layer[at(from)] < 2)
      return std::nullopt;
    const int low = std::min(from, to), high = std::max(from, to);
    for (int v = low + 1; v <= high; ++v) placed.first_layer[at(v)] += from < to ? -1 : 1;
    for (int v = low; v <= high; ++v)
      if (!options_.fastest(v, placed.first_layer[at(v)], placed.first_layer[at(v) + 1],
                            placed.options[at(v)]))
        return std::nullopt;
    return placed;
  }

  // Times a partition that fits with the real order, and keeps the fastest.
  void time(Placed placed) {
    const auto makespan = timetable_.makespan(times_of(placed));
    if (makespan >= makespan_) return;
    makespan_ = makespan;
    best_ = std::move(placed);
  }
  // Times a partition, and learns its critical path.
  void consider(Placed placed) {
    learn({timetable_.critical_path(times_of(placed))});
    time(std::move(placed));
  }

  // Watches the groups that do not fit from now on.
  void watch(const Placed& placed) {
    for (std::size_t g = 0; g < watched_.size(); ++g)
      if (!shrinking_.usage(placed, g).fits(options_.groups()[g])) watched_[g] = true;
  }
  bool fit(Placed& placed) {
    for (std::size_t g = 0; g < watched_.size(); ++g)
      if (!shrinking_.shrink(placed, g)) return false;
    return true;
  }
  const PipelineProblem& problem_;
  PartitionLimits limits_;
  IntervalFrontiers& frontiers_;
  StageOptions options_;
  Shrinking shrinking_{options_, frontiers_};
  Timetable timetable_;
  std::vector<bool> watched_;  // by group
  std::set<Path> known_;
  std::vector<Path> paths_;
  std::optional<Placed> best_;
  Picoseconds makespan_ = sim::unreached;
  std::size_t comparisons_ = 0;
  PartitionResult result_;
};

}  // namespace

std::optional<Partition> in_ways_that_fit(const PipelineProblem& problem,
                                          IntervalFrontiers& frontiers, const Timetable& timetable,
                                          const std::vector<int>& first_layer) {
  StageOptions options(problem, frontiers);
  Placed placed{first_layer, {}};
  for (int v = 0; v + 1 < static_cast<int>(first_layer.size()); ++v)
    if (!options.fastest(v, first_layer[static_cast<std::size_t>(v)],
                         first_layer[static_cast<std::size_t>(v) + 1],
                         placed.options.emplace_back()))
      return std::nullopt;
  Shrinking shrinking(options, frontiers);
  for (std::size_t g = 0; g < options.groups().size(); ++g)
    if (!shrinking.shrink(placed, g)) return std::nullopt;
  return partition_of(placed, timetable, frontiers);
}

PartitionResult partition(const PipelineProblem& problem, const PartitionLimits& limits) {
  IntervalFrontiers frontiers(problem.chain, problem.stop);
  return partition(problem, frontiers, limits);
}

PartitionResult partition(const PipelineProblem& problem, IntervalFrontiers& frontiers,
                          const PartitionLimits& limits) {
  return Planner(problem, frontiers, limits).run();
}

}  // namespace search
