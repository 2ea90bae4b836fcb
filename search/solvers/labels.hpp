// SPDX-License-Identifier: Apache-2.0
// Partial partitions, compared and pruned: is there one whose known paths are all short enough?
#pragma once
#include <optional>
#include <vector>

#include "search/solvers/stage_options.hpp"

namespace search {

// An interval of layers on each virtual stage, and the way in which it runs.
struct Placed {
  std::vector<int> first_layer;  // by virtual stage, then the number of layers
  std::vector<StageOption> options;
};

struct LabelSearch {
  enum class Outcome { found, none, gave_up };
  Outcome outcome = Outcome::none;
  std::vector<Placed> found;    // the best by known paths first; at most as many as asked for
  Picoseconds lower_bound = 0;  // no partition is faster; `none`: the target
  std::size_t labels = 0, comparisons = 0;
};

// Searches partitions for which every path of the trellis is shorter than `target`: they are found
// best first, or proved not to exist, or the search gives up after `most_comparisons` comparisons
// of two labels. Memory is respected within every virtual stage, and within groups that are
// `watched` (by group); a group of one member is always respected. A label is (virtual stage, first
// layer not placed, longest path to each state of the trellis, memory used in watched groups not
// yet complete). It is dropped if even the best way on makes some path reach `target`, or if
// another label at the same place is no worse in every coordinate that can still reach `target`.
LabelSearch search_labels(StageOptions& options, const Trellis& trellis, Picoseconds latency,
                          Picoseconds target, const std::vector<bool>& watched,
                          std::size_t most_comparisons, std::size_t most_found);

}  // namespace search
