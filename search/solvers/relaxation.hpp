// SPDX-License-Identifier: Apache-2.0
// A lower bound of every partition of a pipeline, from a mixture of paths; and good partitions.
//
// The step is the longest of many paths, so at least any mixture of some of them; and where memory
// is short, bytes may be given a price, at which what fits costs nothing. For fixed weights of
// paths and prices of bytes the cost of a partition adds up interval by interval, so that the
// cheapest is found at once, and so is the cheapest that puts a given interval on a given virtual
// stage: intervals that cost too much are struck out. The weights are those of a linear program
// over the partitions and the paths known so far; each round adds the cheapest partition, its
// critical path, and that of the mixture of partitions that the program ends with (Kelley 1960;
// Dantzig and Wolfe 1960). Layers are whole: of the most that a device can take below the target
// there is a part of one less, which mixtures would use (Chvátal 1973). Where a mixture cuts the
// layers at several places, one or the other is tried (branch and bound).
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "search/solvers/pipeline_problem.hpp"

namespace search {

// The multipliers that make a bound. They are good for any problem with the same order and lane,
// and near the best for problems that are alike.
struct Multipliers {
  std::vector<Parts<double>> stages;  // visits of a mixture of paths, whose shares sum to 1
  struct BytePrice {
    int group = 0, load = 0;  // of stage_groups()
    double price = 0;         // picoseconds per byte
  };
  std::vector<BytePrice> bytes;
  std::vector<double> layers;  // by group: picoseconds per layer; none: nothing
};

struct Relaxed {
  // No partition is faster than this bound, or than the target if that is less. Nothing if no
  // partition fits.
  std::optional<Picoseconds> lower_bound;
  Multipliers multipliers;
  // Cuts that good partitions may have: first layers by virtual stage, then the number of layers.
  std::vector<std::vector<int>> cuts;
  int rounds = 0;
};

struct RelaxationLimits {
  int rounds = 200;  // in all
  int nodes = 64;    // of the tree of branches
  std::size_t cuts = 3;
};

// A problem prepared for many bounds. It must outlive this, has no segments, and at least as many
// layers as virtual stages.
class Relaxation {
 public:
  explicit Relaxation(const PipelineProblem& problem);
  ~Relaxation();
  // A bound on all partitions; nothing if none fits. O(virtual stages · (layers² + types of layers
  // · options))
  std::optional<Picoseconds> bound(const Multipliers& multipliers);
  // Improves the bound until it reaches the target or comes no closer.
  Relaxed improve(Picoseconds target, const RelaxationLimits& limits = {});
  const Timetable& timetable() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace search
