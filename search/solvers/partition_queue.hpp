// SPDX-License-Identifier: Apache-2.0
// Partitions of a problem that seem to fit, along given cuts; the fastest is taken first.
#pragma once
#include <set>
#include <vector>

#include "search/solvers/interval_frontiers.hpp"
#include "search/solvers/pipeline_problem.hpp"

namespace search {

class PartitionQueue {
 public:
  // Both arguments must outlive it; `timetable` is of the problem's order.
  PartitionQueue(const PipelineProblem& problem, const Timetable& timetable)
      : problem_(problem), timetable_(timetable), frontiers_(problem.chain, problem.stop) {}

  struct Item {
    Partition partition;
    int tries = 0;  // with this cut before
  };
  // Adds a partition with this cut (Partition::first_layer) whose devices need at least `less`
  // bytes less than they have. False if none seems to fit, or if the same one is known already.
  bool add(const std::vector<int>& cut, ByteCount less, int tries);
  // Adds the smallest partition with this cut that is easy to find, whether it seems to fit or not.
  void add_small(const std::vector<int>& cut);
  bool empty() const { return items_.empty(); }
  // Removes the partition with the least makespan; there must be one.
  Item take();

 private:
  // The order of partitions: by cut, then by the options of all layers.
  struct Earlier {
    bool operator()(const Partition& a, const Partition& b) const;
  };
  const PipelineProblem& problem_;
  const Timetable& timetable_;
  IntervalFrontiers frontiers_;
  std::vector<Item> items_;
  std::set<Partition, Earlier> known_;
};

}  // namespace search
