// SPDX-License-Identifier: Apache-2.0
// A lower bound on the time that shared links add to exchanges of experts. It serves the choice
// among plans.
//
// Where flows share links max-min fairly, a flow that is slower than its cap is on some link of its
// path at least as fast as every other flow there (Bertsekas and Gallager 1992, section 6.5).
#pragma once
#include <vector>

#include "strategies/costs.hpp"
#include "strategies/data_traffic.hpp"
#include "strategies/folding.hpp"
#include "strategies/least_costs.hpp"

namespace strategies {

class ContentionBound {
 public:
  // Bounds a plan of 1F1B whose passes do not run in pairs. All arguments must outlive it. O(ranks
  // of two nodes on every stage)
  ContentionBound(const Job& job, const Costs& costs);
  ContentionBound(const ContentionBound&) = delete;

  // Whether all ranks of each stage do the same at the same time; if not, nothing is known.
  bool alike() const { return !stages_.empty(); }

  // The time by which the first exchange of a backward pass behind a forward pass ends later, as it
  // shares links with the activations that were just sent. `lead`: from the one pass to the other.
  sim::Picoseconds behind_message(const BlockLeastCosts& block, sim::Picoseconds lead) const;

  // Gradients that are reduced together, beside passes.
  struct Reduction {
    sim::Picoseconds time = 0;    // on an idle network, at least
    sim::Picoseconds silent = 0;  // of it, when nothing is sent, at most
    // The most bytes/s of an exchange while these are sent; without end where that is not known.
    double beside = 0;
  };
  Reduction reduction(const Parameters& of) const;
  // The time by which a block's exchanges take longer if they never move faster than `rate`,
  // bytes/s.
  sim::Picoseconds beside_reduction(const BlockLeastCosts& block, double rate) const;
  // The most bytes/s of an exchange.
  double exchange_rate() const;

 private:
  using Uses = std::vector<sim::Traffic::Use>;
  double capacity(sim::LinkId link) const {
    return folding_.links()[static_cast<std::size_t>(link)].capacity;
  }
  sim::Picoseconds behind_message(const BlockLeastCosts& block, sim::Picoseconds lead,
                                  std::int64_t rank) const;
  // Adds one collective of a stage's rank to what is reduced together.
  void add(Reduction& all, FlowKind ring, std::int64_t rank, const Shared& what) const;

  const Job& job_;
  const Costs& costs_;
  Placement placement_;
  DataTraffic traffic_;
  Folding folding_;
  std::vector<std::int64_t> stages_;  // a rank of each; none: not alike
  std::vector<double> load_;          // by link: how often it is loaded at once by flows of passes
};

}  // namespace strategies
