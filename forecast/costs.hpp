// SPDX-License-Identifier: Apache-2.0
// Costs of kernels, collectives and messages on a cluster: topology's answers to strategies.
#pragma once
#include <memory>
#include <vector>

#include "strategies/costs.hpp"
#include "topology/cluster.hpp"
#include "topology/evidence.hpp"
#include "topology/kernel_time.hpp"

namespace forecast {

// The cluster must outlive it.
class Prices {
 public:
  explicit Prices(const topology::Cluster& cluster);
  strategies::Costs costs() const;  // the cluster alone must outlive them
  // Costs that also keep every question that is asked.
  strategies::Costs costs_with_questions() const;
  // The evidence that the answer to a question rests on. O(measurements)
  topology::Evidence evidence(const strategies::CostQuery& question) const;

 private:
  const topology::Cluster* cluster_;
  std::shared_ptr<const std::vector<topology::KernelTimes>> kernels_;  // by kind of node
};

// The cluster must outlive it.
inline strategies::Costs costs_on(const topology::Cluster& cluster) {
  return Prices(cluster).costs();
}

}  // namespace forecast
