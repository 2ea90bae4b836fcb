// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/label_moves.hpp"

#include <algorithm>

namespace search {

namespace {

Picoseconds longest_path(const LabelQuestion &question, int stage, const StageTimes &times) {
  Picoseconds longest = 0;
  for (const auto &arc : question.arcs(stage))
    longest = std::max(longest, time_of(arc.visits, times, question.latency));
  return longest;
}

// The number of times that some path visits every pass of a stage: an interval makes that path
// longer by at least as many times its least time.
Picoseconds most_work(const LabelQuestion &question, int stage) {
  int visits = 0;
  for (const auto &arc : question.arcs(stage))
    visits =
        std::max(visits, std::min({arc.visits.forward, arc.visits.backward, arc.visits.weight}));
  return visits;
}

ByteCount most_room(const StageOptions &options, int stage) {
  ByteCount room = 0;
  for (const auto &load : options.groups()[options.membership(stage).group].loads)
    room = std::max(room, load.capacity);
  return room;
}

void list_moves(const LabelQuestion &question, int stage, int first, LabelMoves &moves) {
  auto &options = question.options;
  auto &list = moves.options;
  const auto which = question.is_watched(options.membership(stage).group)
                         ? StageOptions::Which::all
                         : StageOptions::Which::fastest;
  const auto visits = most_work(question, stage);
  const int behind = question.stages - 1 - stage;  // virtual stages, each with a layer at least
  const auto slow = [&](const StageOption &option) {
    return longest_path(question, stage, option.times) >= question.target;
  };
  const auto &range = options.range(stage);
  const int least = behind == 0 ? question.layers : first + range.least;
  for (int last = least; last <= question.layers - behind && last - first <= range.most; ++last) {
    if (visits * options.least_time(first, last) >= question.target) break;
    LabelMoves::Interval interval{last, list.size(), 0};
    options.list(stage, first, last, which, list);
    list.erase(std::remove_if(list.begin() + static_cast<std::ptrdiff_t>(interval.begin),
                              list.end(), slow),
               list.end());
    interval.end = list.size();
    if (interval.end > interval.begin)
      moves.from[question.place(stage, first)].push_back(interval);
    else if (options.frontiers().monotone() ||
             options.frontiers().fixed(first, last) > most_room(options, stage))
      break;
  }
}

void bound_ways_on(const LabelQuestion &question, const LabelMoves &moves, int stage, int layer,
                   WaysOn &ways) {
  const auto states = question.states(stage);
  std::vector<Picoseconds> least(states, sim::unreached), most(states, -1);
  std::vector<Picoseconds> low(states), high(states);
  for (const auto &interval : moves.from[question.place(stage, layer)]) {
    const auto &next = ways.least[question.place(stage + 1, interval.last)];
    const auto &next_most = ways.most[question.place(stage + 1, interval.last)];
    if (next.empty()) continue;
    for (auto o = interval.begin; o < interval.end; ++o) {
      std::ranges::fill(low, 0);
      std::ranges::fill(high, 0);
      for (const auto &arc : question.arcs(stage)) {
        const auto time = time_of(arc.visits, moves.options[o].times, question.latency);
        low[arc.from] = std::max(low[arc.from], time + next[arc.to]);
        high[arc.from] = std::max(high[arc.from], time + next_most[arc.to]);
      }
      if (*std::ranges::max_element(low) >= question.target) continue;
      for (std::size_t q = 0; q < states; ++q) {
        least[q] = std::min(least[q], low[q]);
        most[q] = std::max(most[q], high[q]);
      }
    }
  }
  if (most.front() < 0) return;
  ways.least[question.place(stage, layer)] = std::move(least);
  ways.most[question.place(stage, layer)] = std::move(most);
}

}  // namespace

LabelMoves label_moves(const LabelQuestion &question) {
  LabelMoves moves;
  moves.from.resize(static_cast<std::size_t>(question.stages * (question.layers + 1)));
  std::vector<bool> reached(static_cast<std::size_t>(question.layers) + 1, false);
  reached[0] = true;
  for (int stage = 0; stage < question.stages; ++stage) {
    std::vector<bool> next(reached.size(), false);
    for (int first = stage; first < question.layers; ++first) {
      if (!reached[static_cast<std::size_t>(first)]) continue;
      list_moves(question, stage, first, moves);
      for (const auto &interval : moves.from[question.place(stage, first)])
        next[static_cast<std::size_t>(interval.last)] = true;
    }
    reached = std::move(next);
  }
  return moves;
}

WaysOn ways_on(const LabelQuestion &question, const LabelMoves &moves) {
  WaysOn ways;
  ways.least.resize(question.places());
  ways.most.resize(question.places());
  ways.least.back() = ways.most.back() = {0};
  for (int stage = question.stages; stage-- > 0;)
    for (int layer = stage; layer <= question.layers; ++layer)
      bound_ways_on(question, moves, stage, layer, ways);
  return ways;
}

WatchedMemory watched_memory(const LabelQuestion &question) {
  const auto &groups = question.options.groups();
  WatchedMemory memory{0, std::vector<std::size_t>(groups.size(), 0)};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!question.is_watched(g)) continue;
    memory.at[g] = memory.coordinates;
    memory.coordinates += groups[g].loads.size() + 1;
  }
  return memory;
}

}  // namespace search
