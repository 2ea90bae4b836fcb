// SPDX-License-Identifier: Apache-2.0
// A training step on a cluster: what is priced, bounded and lowered.
#pragma once
#include <cstdint>
#include <vector>

#include "model/transformer.hpp"
#include "plans/plan.hpp"
#include "plans/software.hpp"
#include "strategies/passes.hpp"
#include "topology/cluster.hpp"

namespace strategies {

// A job refers to values that must outlive it; `cluster` says only where ranks lie.
struct Job {
  const model::Transformer& model;
  const Training& training;
  const Plan& plan;
  const Software& software;
  const topology::Cluster& cluster;
  bool counts_flops = false;  // of passes: sim::Template::flops
  // Loads of the ranks of an expert-parallel group, by place in it: each is priced as itself, not
  // as the mean one that waits for the fullest. Empty: as training.routing has them.
  std::vector<double> loads = {};
  // The share of a rank that is alone in its groups.
  Share share() const {
    return {.model = model,
            .plan = plan,
            .training = training,
            .software = software,
            .counts_flops = counts_flops};
  }
};

// Returns the number of microbatches of one data-parallel replica. Throws std::invalid_argument if
// the global batch does not divide evenly.
std::int64_t microbatches_of(const Plan& plan, const Training& training);

}  // namespace strategies
