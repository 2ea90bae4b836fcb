// SPDX-License-Identifier: Apache-2.0
// The linear program of a relaxation: mixtures of partitions whose known paths are short and whose
// known loads fit (private to relaxation.cpp).
#pragma once
#include <vector>

#include "search/solvers/interval_frontiers.hpp"
#include "search/solvers/interval_prices.hpp"
#include "search/solvers/known.hpp"
#include "search/solvers/linear_program.hpp"

namespace search {

// A problem, and values that follow from it once: constant. The problem must outlive it.
struct RelaxedPipeline {
  explicit RelaxedPipeline(const PipelineProblem& problem);

  const PipelineProblem& problem;
  Timetable timetable;
  std::vector<StageGroup> groups;
  int stages, layers;
  std::vector<GroupMember> membership;  // by virtual stage
};

// The shares of partitions in a mixture, and the program's figures about them.
struct Mixture {
  std::vector<std::size_t> columns, paths, loads;  // of the program
  LinearSolution solution;
  double on_paths = 0;  // sum of the prices of paths
  double scale = 1;     // picoseconds; the program's unit of time
  double parts() const {
    double sum = 0;
    for (const auto share : solution.values) sum += share;
    return sum;
  }
};

// The partitions, paths and loads known so far. All arguments must outlive it.
class MixtureProgram {
 public:
  MixtureProgram(const RelaxedPipeline& pipeline, const IntervalPrices& prices)
      : pipeline_(pipeline),
        prices_(prices),
        frontiers_(pipeline.problem.chain, pipeline.problem.stop) {}

  // Makes an even partition in the fastest ways known; returns the mean of the paths through its
  // devices.
  Multipliers begin();
  // Adds a partition, its critical path and the loads that it breaks; false if it is known.
  bool add(Placing placing);
  // Adds the critical path of the mixture of partitions, and the loads that it breaks; false if all
  // of them are known.
  bool learn_from(const Mixture& mixture);

  // The best mixture of the partitions whose intervals are open.
  Mixture solve(OpenIntervals& intervals, double scale);
  Multipliers multipliers_of(const Mixture& mixture) const;
  // The cut of partition i of the mixture (Partition::first_layer).
  const std::vector<int>& cut_at(const Mixture& mixture, std::size_t i) const {
    return columns_[mixture.columns[i]].placing.first_layer;
  }

 private:
  struct LoadId {
    std::size_t group, load;
    friend auto operator<=>(const LoadId&, const LoadId&) = default;
  };
  // A partition of the program: its stage times, and its use of every group.
  struct Column {
    Placing placing;
    std::vector<StageTimes> times;
    std::vector<Usage> usage;
    std::vector<double> layers;  // counted ones, by group
  };
  Column column_of(Placing placing);
  double capacity_of(const LoadId& id) const;
  bool counts_layers() const;

  const RelaxedPipeline& pipeline_;
  const IntervalPrices& prices_;
  IntervalFrontiers frontiers_;
  Known<Path> paths_;
  Known<LoadId> loads_;
  Known<Placing> placings_;
  std::vector<Column> columns_;  // of the placings
};

}  // namespace search
