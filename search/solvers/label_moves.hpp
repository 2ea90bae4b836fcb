// SPDX-License-Identifier: Apache-2.0
// The moves of a label search: from every place the options that may stay below its target, and the
// time of the rest of the way. Made once, then constant (private to labels.cpp).
#pragma once
#include <vector>

#include "search/solvers/stage_options.hpp"

namespace search {

// A question: is there a partition for which every path of the trellis is shorter than the target?
// A place is a virtual stage and the first layer that is not on the stages before it.
struct LabelQuestion {
  StageOptions &options;
  const Trellis &trellis;
  Picoseconds latency, target;
  const std::vector<bool> &watched;  // by group: whose memory is respected
  int stages = static_cast<int>(trellis.arcs.size());
  int layers = options.frontiers().layers();

  std::size_t places() const { return place(stages, layers) + 1; }
  std::size_t place(int stage, int layer) const {
    return static_cast<std::size_t>(stage * (layers + 1) + layer);
  }
  // The number of longest paths that a label remembers before a stage.
  std::size_t states(int stage) const { return trellis.states[static_cast<std::size_t>(stage)]; }
  const std::vector<Trellis::Arc> &arcs(int stage) const {
    return trellis.arcs[static_cast<std::size_t>(stage)];
  }
  // Whether labels watch a group's memory: in a group of one member its options respect it.
  bool is_watched(std::size_t group) const {
    return watched[group] && options.groups()[group].members.size() > 1;
  }
};

// Options of a virtual stage that holds the layers from a place to `last`.
struct LabelMoves {
  struct Interval {
    int last = 0;
    std::size_t begin = 0, end = 0;  // in `options`
  };
  std::vector<StageOption> options;
  std::vector<std::vector<Interval>> from;  // by place
};
LabelMoves label_moves(const LabelQuestion &question);

// The ways on by place, then state; empty if there is none. least: a lower bound on the state's
// longest path over all ways on. most: an upper bound over those that may stay below the target.
struct WaysOn {
  std::vector<std::vector<Picoseconds>> least, most;
};
WaysOn ways_on(const LabelQuestion &question, const LabelMoves &moves);

// The coordinates of memory, which follow those of the paths: for each watched group, every load,
// then the transient.
struct WatchedMemory {
  std::size_t coordinates = 0;
  std::vector<std::size_t> at;  // by group: its first
};
WatchedMemory watched_memory(const LabelQuestion &question);

}  // namespace search
