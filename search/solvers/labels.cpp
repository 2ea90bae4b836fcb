// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/labels.hpp"

#include <algorithm>
#include <queue>

#include "search/solvers/label_moves.hpp"

namespace search {

namespace {

// The labels so far, and those of them that are to be extended.
class Labelling {
 public:
  explicit Labelling(const LabelQuestion &question)
      : question_(question),
        moves_(label_moves(question)),
        ways_on_(ways_on(question, moves_)),
        memory_(watched_memory(question)),
        buckets_(question.places()) {}

  LabelSearch run(std::size_t most_comparisons, std::size_t most_found) {
    LabelSearch result;
    result.lower_bound = start();
    while (!open_.empty()) {
      const auto [bound, stages_left, index] = open_.top();
      open_.pop();
      if (labels_[index].dropped) continue;
      if (labels_[index].stage == question_.stages) {
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
    if (result.outcome == LabelSearch::Outcome::none) result.lower_bound = question_.target;
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
    // Top of the queue: the least bound, then the most stages placed, then the oldest.
    bool operator<(const Open &other) const {
      if (bound != other.bound) return bound > other.bound;
      if (stages_left != other.stages_left) return stages_left > other.stages_left;
      return label > other.label;
    }
  };

  // Opens the first label; no partition is faster than the result.
  Picoseconds start() {
    if (ways_on_.least[question_.place(0, 0)].empty()) return question_.target;
    const auto bound = ways_on_.least[question_.place(0, 0)].front();
    coordinates_.assign(1 + memory_.coordinates, 0);
    labels_.push_back({});
    open_.push({bound, question_.stages, 0});
    return bound;
  }

  void extend(Index from) {
    const int stage = labels_[from].stage;
    for (const auto &interval : moves_.from[question_.place(stage, labels_[from].layer)]) {
      if (ways_on_.least[question_.place(stage + 1, interval.last)].empty()) continue;
      for (auto o = interval.begin; o < interval.end; ++o) try_option(from, interval, o);
    }
  }

  void try_option(Index from, const LabelMoves::Interval &interval, std::size_t option) {
    const int stage = labels_[from].stage;
    const auto count = question_.states(stage + 1);
    const auto &chosen = moves_.options[option];
    next_.assign(count + memory_.coordinates, 0);
    const auto *paths = &coordinates_[labels_[from].coordinates];
    for (const auto &arc : question_.arcs(stage))
      next_[arc.to] = std::max(
          next_[arc.to], paths[arc.from] + time_of(arc.visits, chosen.times, question_.latency));
    const auto &to_go = ways_on_.least[question_.place(stage + 1, interval.last)];
    Picoseconds bound = 0;
    for (std::size_t q = 0; q < count; ++q) bound = std::max(bound, next_[q] + to_go[q]);
    if (bound >= question_.target) return;
    if (memory_.coordinates > 0 && !use_memory(stage, labels_[from].layer, interval.last, chosen,
                                               paths + question_.states(stage), &next_[count]))
      return;
    add(from, stage + 1, interval.last, static_cast<std::uint32_t>(option), bound);
  }

  // Writes the memory that watched groups use after `stage`; false if it does not fit.
  bool use_memory(int stage, int first, int last, const StageOption &option,
                  const std::int64_t *before, std::int64_t *after) const {
    std::copy(before, before + memory_.coordinates, after);
    const auto [g, member] = question_.options.membership(stage);
    if (!question_.is_watched(g)) return true;
    const auto &group = question_.options.groups()[g];
    auto *used = after + memory_.at[g];
    auto &transient = used[group.loads.size()];
    transient = std::max(transient, option.transient);
    const auto fixed = question_.options.frontiers().fixed(first, last);
    for (std::size_t l = 0; l < group.loads.size(); ++l) {
      used[l] += fixed + group.loads[l].in_flight[member] * option.kept;
      if (used[l] + transient > group.loads[l].capacity) return false;
    }
    if (group.members.back() == stage) std::fill(used, used + group.loads.size() + 1, 0);
    return true;
  }

  // Whether a is in every coordinate at most as much as b, or so little that no way on reaches the
  // target.
  bool covers(const std::int64_t *a, const std::int64_t *b, const std::vector<Picoseconds> &most,
              std::size_t paths) const {
    for (std::size_t q = 0; q < paths; ++q)
      if (a[q] > b[q] && a[q] + most[q] >= question_.target) return false;
    for (std::size_t k = paths; k < paths + memory_.coordinates; ++k)
      if (a[k] > b[k]) return false;
    return true;
  }

  void add(Index from, int stage, int layer, std::uint32_t option, Picoseconds bound) {
    auto &bucket = buckets_[question_.place(stage, layer)];
    const auto &most = ways_on_.most[question_.place(stage, layer)];
    const auto paths = question_.states(stage);
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
    open_.push({bound, question_.stages - stage, index});
  }

  Placed placed(Index index) const {
    Placed result{std::vector<int>(static_cast<std::size_t>(question_.stages) + 1),
                  std::vector<StageOption>(static_cast<std::size_t>(question_.stages))};
    for (;; index = labels_[index].parent) {
      const auto &label = labels_[index];
      result.first_layer[static_cast<std::size_t>(label.stage)] = label.layer;
      if (label.stage == 0) return result;
      result.options[static_cast<std::size_t>(label.stage) - 1] = moves_.options[label.option];
    }
  }

  const LabelQuestion question_;
  const LabelMoves moves_;
  const WaysOn ways_on_;
  const WatchedMemory memory_;
  std::vector<Label> labels_;
  std::vector<std::int64_t> coordinates_, next_;
  std::vector<std::vector<Index>> buckets_;  // by place: labels that nothing covers
  std::priority_queue<Open> open_;
  std::size_t comparisons_ = 0;
};

}  // namespace

LabelSearch search_labels(StageOptions &options, const Trellis &trellis, Picoseconds latency,
                          Picoseconds target, const std::vector<bool> &watched,
                          std::size_t most_comparisons, std::size_t most_found) {
  return Labelling({options, trellis, latency, target, watched}).run(most_comparisons, most_found);
}

}  // namespace search
