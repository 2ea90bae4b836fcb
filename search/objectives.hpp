// SPDX-License-Identifier: Apache-2.0
// Searches that choose more than a plan: the smallest cluster, the cheapest, the largest batch or
// sequence.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "search/search.hpp"

namespace search {

// The cost of a step, by the tokens that are no padding.
struct Cost {
  double gpu_hours_per_token = 0;
  // Share of the price of nodes and switches that a token uses up when they serve `write_off`, day
  // and night; without power, space and staff. Absent where the price of a node is not known;
  // switches of unknown price count nothing.
  std::optional<units::Money> per_token;
};
inline constexpr units::Seconds write_off{4 * 365.25 * 86400};  // usual for servers

Cost cost_of(const topology::Cluster& cluster, const forecast::Step& step);

// One size that was searched.
struct Tried {
  std::int64_t size = 0;               // nodes, sequences of a step or tokens of one
  bool possible = false;               // degrees divide the cluster, the model and the batch
  std::optional<forecast::Step> step;  // of the fastest plan; absent: nothing fits
  Cost cost;                           // with a step
  bool enough = false;  // there is a step, at the wanted rate of useful tokens or above
};

// The question at the size that was chosen, and its answer.
struct Outcome {
  Question question;
  Answer answer;
  std::vector<Tried> tried = {};           // ascending; empty for step_time, which has one size
  std::optional<std::size_t> chosen = {};  // of `tried`; absent: none is enough, and question and
                                           // answer are of the one that came closest
};

// Answers a question for its objective:
// - step_time: search(), and nothing else.
// - smallest_cluster: the fewest nodes on which something fits, at objective.rate if there is one.
//   Tries the numbers of nodes that are listed, ascending, up to the first that is enough; where
//   none is listed, 1, 2, 4 … within bounds and then halves the interval in which the answer lies.
//   More nodes may be worse (they divide the model and the batch less well), so a smaller number
//   that was not tried might do: `tried` says which were.
// - cost: of the numbers of nodes that were tried (all that are listed; else 1, 2, 4 … and the
//   largest), the one whose token costs least at the rate: in money where prices are known, else in
//   GPU-hours.
// - largest_batch, largest_sequence: doubles global_batch or sequence_length while something fits;
//   where nothing does, halves it until something does. A batch is held at once: no replica takes
//   more microbatches than its pipeline has ranks, for accumulating gradients over more needs no
//   more memory.
// Every size is searched as a question of its own, with the limits of its space. If the search is
// told to stop, sizes that were decided before stand; the answer is then interrupted.
Outcome optimise(const Question& question, const Options& options = {});

}  // namespace search
