// SPDX-License-Identifier: Apache-2.0
// Lower bounds on the time in which ranks that hold the same parameters exchange and update them,
// per parameter. They serve the choice among plans.
#pragma once
#include <set>

#include "strategies/data_traffic.hpp"

namespace strategies {

// Least times that add up over blocks: whatever they are joined with, a block's parameters take no
// less. Where groups differ in what they cost, the cheapest counts.
class ReplicaCosts {
 public:
  // `blocks`: the parameters of all together; `block`: of the one that has most. Both before
  // division by ZeRO, and without a second copy of the embedding.
  ReplicaCosts(const Job& job, const Costs& costs, const Parameters& blocks,
               const Parameters& block);

  bool has_peers() const { return has_peers_; }  // some rank shares parameters with another

  sim::Picoseconds reduction(const Parameters& of) const { return time(reduction_, of); }
  sim::Picoseconds gathering(const Parameters& of) const { return time(gathering_, of); }
  // These collectives as they slow passes beside them. They hold the fewest processors that a
  // group's collectives hold.
  void add_reduction(Interference& beside, const Parameters& of) const {
    add(beside, reduction_, of);
  }
  void add_gathering(Interference& beside, const Parameters& of) const {
    add(beside, gathering_, of);
  }
  // The time of copying them out of their buffer and into it (Software::copies_parameters).
  sim::Picoseconds copying_parameters(const Parameters& of) const {
    return time(copying_parameters_, of);
  }
  sim::Picoseconds copying_gradients(const Parameters& of) const {
    return time(copying_gradients_, of);
  }
  // The largest share of a device's processors that they hold.
  double processors() const { return std::max(processors_.with_layer, processors_.apart); }
  // The time of the optimizer's update on the device.
  sim::Picoseconds update(const Parameters& of) const { return time(update_, of); }
  // The least time once per step of the norm of all gradients, and of the host's work before the
  // update.
  sim::Picoseconds between() const { return between_; }
  // The time to sum the word embedding's gradients, after all others, if first and last stage hold
  // a copy each; 0 where the model has no such copy.
  sim::Picoseconds embedding() const { return embedding_; }

 private:
  struct PerParameter {
    double with_layer = 0, apart = 0;  // seconds
  };
  static sim::Picoseconds time(const PerParameter& each, const Parameters& of);
  void price(const Job& job, const DataTraffic& traffic, FlowKind ring,
             const std::set<topology::GroupShape>& shapes, double all, double one,
             double PerParameter::*held);
  void price_copies(const Job& job, const DataTraffic& traffic, const Costs& costs,
                    const Shards& shards, double divided);
  void add(Interference& beside, const PerParameter& each, const Parameters& of) const;
  bool has_peers_ = false;
  PerParameter reduction_, gathering_, update_, copying_parameters_, copying_gradients_;
  PerParameter processors_;  // shares of a device's that reductions and gatherings hold
  sim::Picoseconds between_ = 0, embedding_ = 0;
};

// The ranks of a job, as a collective of all of them sees them.
topology::GroupShape everyone(const topology::Cluster& cluster);

}  // namespace strategies
