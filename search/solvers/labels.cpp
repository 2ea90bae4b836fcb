// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/labels.hpp"

#include <algorithm>
#include <queue>

namespace search {

namespace {

// Rows that one virtual stage may hold from one first layer on.
struct Row {
  int last = 0;
  std::size_t begin = 0, end = 0;  // in the list of options
};

class Labelling {
 public:
  Labelling(StageOptions& options, const Trellis& trellis, Picoseconds latency, Picoseconds target,
            const std::vector<bool>& watched)
      : options_(options),
        trellis_(trellis),
        latency_(latency),
        target_(target),
        watched_(watched),
        stages_(static_cast<int>(trellis.arcs.size())),
        layers_(options.intervals().layers()) {
    rows_.resize(static_cast<std::size_t>(stages_ * (layers_ + 1)));
    buckets_.resize(static_cast<std::size_t>((stages_ + 1) * (layers_ + 1)));
    place_memory();
    list_rows();
    bound_ways_on();
  }

  LabelSearch run(std::size_t most_comparisons, std::size_t most_found) {
    LabelSearch result;
    result.lower_bound = start();
    while (!open_.empty()) {
      const auto [bound, stages_left, index] = open_.top();
      open_.pop();
      if (labels_[index].dropped) continue;
      if (labels_[index].stage == stages_) {
        result.found.push_back(placed(index));
        if (result.found.size() == most_found) break;
        continue;
      }
      extend(index);
      if (comparisons_ > most_comparisons) {
        result.outcome = LabelSearch::Outcome::gave_up;
        break;
      }
    }
    if (!result.found.empty()) result.outcome = LabelSearch::Outcome::found;
    if (result.outcome == LabelSearch::Outcome::none) result.lower_bound = target_;
    result.labels = labels_.size();
    result.comparisons = comparisons_;
    return result;
  }

 private:
  using Index = std::uint32_t;
  struct Label {
    int stage = 0, layer = 0;  // the first not placed
    Index parent = 0;
    std::uint32_t option = 0;     // of the stage before
    std::size_t coordinates = 0;  // where they begin
    bool dropped = false;
  };
  struct Open {
    Picoseconds bound;
    int stages_left;
    Index label;
    // Top of the queue: the least bound, then the most placed, then the oldest.
    bool operator<(const Open& other) const {
      if (bound != other.bound) return bound > other.bound;
      if (stages_left != other.stages_left) return stages_left > other.stages_left;
      return label > other.label;
    }
  };

  std::size_t place(int stage, int layer) const {
    return static_cast<std::size_t>(stage * (layers_ + 1) + layer);
  }
  std::size_t states(int stage) const { return trellis_.states[static_cast<std::size_t>(stage)]; }
  const std::vector<Trellis::Arc>& arcs(int stage) const {
    return trellis_.arcs[static_cast<std::size_t>(stage)];
  }

  // Coordinates of memory follow those of the paths: of each watched group, every load, then the
  // transient.
  void place_memory() {
    const auto& groups = options_.groups();
    memory_at_.assign(groups.size(), 0);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!watched_[g] || groups[g].members.size() < 2) continue;
      memory_at_[g] = memory_;
      memory_ += groups[g].loads.size() + 1;
    }
  }
  bool is_watched(int stage) const {
    const auto group = options_.membership(stage).group;
    return watched_[group] && options_.groups()[group].members.size() > 1;
  }

  Picoseconds longest(int stage, const StageTimes& times) const {
    Picoseconds longest = 0;
    for (const auto& arc : arcs(stage))
      longest = std::max(longest, time_of(arc.visits, times, latency_));
    return longest;
  }
  // The least number of visits to all passes of a stage on one path bounds rows by their least
  // times.
  Picoseconds most_work(int stage) const {
    int visits = 0;
    for (const auto& arc : arcs(stage))
      visits =
          std::max(visits, std::min({arc.visits.forward, arc.visits.backward, arc.visits.weight}));
    return visits;
  }

  void list_rows() {
    std::vector<bool> reached(static_cast<std::size_t>(layers_) + 1, false);
    reached[0] = true;
    for (int stage = 0; stage < stages_; ++stage) {
      std::vector<bool> next(reached.size(), false);
      for (int first = stage; first < layers_; ++first) {
        if (!reached[static_cast<std::size_t>(first)]) continue;
        list_rows(stage, first);
        for (const auto& row : rows_[place(stage, first)])
          next[static_cast<std::size_t>(row.last)] = true;
      }
      reached = std::move(next);
    }
  }
  void list_rows(int stage, int first) {
    const auto which = is_watched(stage) ? StageOptions::Which::all : StageOptions::Which::fastest;
    const auto visits = most_work(stage);
    const int behind = stages_ - 1 - stage;  // virtual stages, each with a layer at least
    const auto slow = [&](const StageOption& o) { return longest(stage, o.times) >= target_; };
    const auto& room = options_.room(stage);
    const int least = behind == 0 ? layers_ : first + room.least;
    for (int last = least; last <= layers_ - behind && last - first <= room.most; ++last) {
      if (visits * options_.least_time(first, last) >= target_) break;
      Row row{last, list_.size(), 0};
      options_.list(stage, first, last, which, list_);
      list_.erase(
          std::remove_if(list_.begin() + static_cast<std::ptrdiff_t>(row.begin), list_.end(), slow),
          list_.end());
      row.end = list_.size();
      if (row.end > row.begin)
        rows_[place(stage, first)].push_back(row);
      else if (options_.intervals().monotone() ||
               options_.intervals().fixed(first, last) > most_room(stage))
        break;
    }
  }
  ByteCount most_room(int stage) const {
    ByteCount room = 0;
    for (const auto& load : options_.groups()[options_.membership(stage).group].loads)
      room = std::max(room, load.capacity);
    return room;
  }

  // to_go: no way on from a state makes its longest path shorter. most: none that may stay below
  // the target makes it longer.
  void bound_ways_on() {
    to_go_.resize(buckets_.size());
    most_.resize(buckets_.size());
    to_go_[place(stages_, layers_)] = {0};
    most_[place(stages_, layers_)] = {0};
    for (int stage = stages_; stage-- > 0;)
      for (int layer = stage; layer <= layers_; ++layer) bound_ways_on(stage, layer);
  }
  void bound_ways_on(int stage, int layer) {
    const auto& rows = rows_[place(stage, layer)];
    std::vector<Picoseconds> least(states(stage), sim::unreached), most(states(stage), -1);
    std::vector<Picoseconds> low(states(stage)), high(states(stage));
    for (const auto& row : rows) {
      const auto& next = to_go_[place(stage + 1, row.last)];
      const auto& next_most = most_[place(stage + 1, row.last)];
      if (next.empty()) continue;
      for (auto o = row.begin; o < row.end; ++o) {
        std::ranges::fill(low, 0);
        std::ranges::fill(high, 0);
        for (const auto& arc : arcs(stage)) {
          const auto time = time_of(arc.visits, list_[o].times, latency_);
          low[arc.from] = std::max(low[arc.from], time + next[arc.to]);
          high[arc.from] = std::max(high[arc.from], time + next_most[arc.to]);
        }
        if (*std::ranges::max_element(low) >= target_) continue;
        for (std::size_t q = 0; q < least.size(); ++q) {
          least[q] = std::min(least[q], low[q]);
          most[q] = std::max(most[q], high[q]);
        }
      }
    }
    if (most.front() < 0) return;
    to_go_[place(stage, layer)] = std::move(least);
    most_[place(stage, layer)] = std::move(most);
  }

  // No partition is faster than the result.
  Picoseconds start() {
    if (to_go_[place(0, 0)].empty()) return target_;
    const auto bound = to_go_[place(0, 0)].front();
    coordinates_.assign(1 + memory_, 0);
    labels_.push_back({});
    open_.push({bound, stages_, 0});
    return bound;
  }

  void extend(Index from) {
    const int stage = labels_[from].stage;
    for (const auto& row : rows_[place(stage, labels_[from].layer)]) {
      if (to_go_[place(stage + 1, row.last)].empty()) continue;
      for (auto o = row.begin; o < row.end; ++o) try_option(from, row, o);
    }
  }

  void try_option(Index from, const Row& row, std::size_t option) {
    const int stage = labels_[from].stage;
    const auto count = states(stage + 1);
    const auto& chosen = list_[option];
    next_.assign(count + memory_, 0);
    const auto* paths = &coordinates_[labels_[from].coordinates];
    for (const auto& arc : arcs(stage))
      next_[arc.to] =
          std::max(next_[arc.to], paths[arc.from] + time_of(arc.visits, chosen.times, latency_));
    const auto& to_go = to_go_[place(stage + 1, row.last)];
    Picoseconds bound = 0;
    for (std::size_t q = 0; q < count; ++q) bound = std::max(bound, next_[q] + to_go[q]);
    if (bound >= target_) return;
    if (memory_ > 0 && !use_memory(stage, labels_[from].layer, row.last, chosen,
                                   paths + states(stage), &next_[count]))
      return;
    add(from, stage + 1, row.last, static_cast<std::uint32_t>(option), bound);
  }

  // What watched groups use after `stage`; false if it does not fit.
  bool use_memory(int stage, int first, int last, const StageOption& option,
                  const std::int64_t* before, std::int64_t* after) const {
    std::copy(before, before + memory_, after);
    if (!is_watched(stage)) return true;
    const auto [g, member] = options_.membership(stage);
    const auto& group = options_.groups()[g];
    auto* used = after + memory_at_[g];
    auto& transient = used[group.loads.size()];
    transient = std::max(transient, option.transient);
    const auto fixed = options_.intervals().fixed(first, last);
    for (std::size_t l = 0; l < group.loads.size(); ++l) {
      used[l] += fixed + group.loads[l].in_flight[member] * option.kept;
      if (used[l] + transient > group.loads[l].capacity) return false;
    }
    if (group.members.back() == stage) std::fill(used, used + group.loads.size() + 1, 0);
    return true;
  }

  // In every coordinate at most as much, or so little that no way on reaches the target.
  bool covers(const std::int64_t* a, const std::int64_t* b, const std::vector<Picoseconds>& most,
              std::size_t paths) const {
    for (std::size_t q = 0; q < paths; ++q)
      if (a[q] > b[q] && a[q] + most[q] >= target_) return false;
    for (std::size_t k = paths; k < paths + memory_; ++k)
      if (a[k] > b[k]) return false;
    return true;
  }

  void add(Index from, int stage, int layer, std::uint32_t option, Picoseconds bound) {
    auto& bucket = buckets_[place(stage, layer)];
    const auto& most = most_[place(stage, layer)];
    const auto paths = states(stage);
    comparisons_ += 1 + bucket.size();
    for (const auto other : bucket)
      if (covers(&coordinates_[labels_[other].coordinates], next_.data(), most, paths)) return;
    std::erase_if(bucket, [&](Index other) {
      const bool covered =
          covers(next_.data(), &coordinates_[labels_[other].coordinates], most, paths);
      labels_[other].dropped |= covered;
      return covered;
    });
    const auto index = static_cast<Index>(labels_.size());
    labels_.push_back({stage, layer, from, option, coordinates_.size()});
    coordinates_.insert(coordinates_.end(), next_.begin(), next_.end());
    bucket.push_back(index);
    open_.push({bound, stages_ - stage, index});
  }

  Placed placed(Index index) const {
    Placed result{std::vector<int>(static_cast<std::size_t>(stages_) + 1),
                  std::vector<StageOption>(static_cast<std::size_t>(stages_))};
    for (;; index = labels_[index].parent) {
      const auto& label = labels_[index];
      result.first_layer[static_cast<std::size_t>(label.stage)] = label.layer;
      if (label.stage == 0) return result;
      result.options[static_cast<std::size_t>(label.stage) - 1] = list_[label.option];
    }
  }

  StageOptions& options_;
  const Trellis& trellis_;
  Picoseconds latency_, target_;
  const std::vector<bool>& watched_;
  int stages_, layers_;
  std::size_t memory_ = 0;  // coordinates
  std::vector<std::size_t> memory_at_;
  std::vector<StageOption> list_;
  std::vector<std::vector<Row>> rows_;                  // by virtual stage and first layer
  std::vector<std::vector<Picoseconds>> to_go_, most_;  // by place, then state; empty: no way on
  std::vector<Label> labels_;
  std::size_t comparisons_ = 0;
  std::vector<std::int64_t> coordinates_, next_;
  std::vector<std::vector<Index>> buckets_;
  std::priority_queue<Open> open_;
};

}  // namespace

LabelSearch search_labels(StageOptions& options, const Trellis& trellis, Picoseconds latency,
                          Picoseconds target, const std::vector<bool>& watched,
                          std::size_t most_comparisons, std::size_t most_found) {
  return Labelling(options, trellis, latency, target, watched).run(most_comparisons, most_found);
}

}  // namespace search
