// SPDX-License-Identifier: Apache-2.0
// Least times and bytes of a plan's passes, block by block, before any program is written. A search
// bounds and chooses plans by them. No figure here exceeds that of a simulated step.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "plans/holdings.hpp"
#include "plans/recompute.hpp"
#include "strategies/blocks.hpp"
#include "strategies/costs.hpp"
#include "strategies/job.hpp"

namespace strategies {

// Least time of one block's pass for one microbatch. A pass of several takes the sum at least: on
// the device, where a block computes and waits for what it communicates; of the host, which issues
// their kernels one after the other; and, where exchanges hide under other passes, of the device
// that computes, and of the lane that it exchanges on.
struct LeastTime {
  sim::Picoseconds device = 0, host = 0, computing = 0, exchanging = 0;
  // A sum. Each part counts at most sim::unreached, so that no sum leaves 64 bits.
  LeastTime& operator+=(const LeastTime& other) {
    for (auto part :
         {&LeastTime::device, &LeastTime::host, &LeastTime::computing, &LeastTime::exchanging})
      this->*part = std::min(this->*part, sim::unreached) + std::min(other.*part, sim::unreached);
    return *this;
  }
  friend bool operator==(const LeastTime&, const LeastTime&) = default;
};

struct BlockLeastCosts {
  // `backward` is that of both gradients as one pass; the others of each on its own.
  LeastTime forward, backward, backward_input, backward_weight;
  // The least time that a pass takes longer if it begins with this block and the host has nothing
  // queued before it: the device is idle until the host has caught up with it. Up to the block's
  // first exchange of experts. A graph's launch does not count.
  struct Lead {
    sim::Picoseconds forward = 0, backward = 0, backward_input = 0, backward_weight = 0;
  } lead;
  // Lower bounds of d(time)/d(slowdown), picoseconds: where computation takes 1 + s times as long,
  // each pass takes at least s times this longer.
  struct Sensitivity {
    double forward = 0, backward = 0, backward_input = 0, backward_weight = 0;
  } sensitivity;
  std::int64_t kept = 0;  // bytes from the forward to the backward pass
  // Bytes beside all that is kept while the block runs: in a forward pass, in a backward pass of
  // both gradients, and in one of those of the inputs alone. That one leaves `recomputed` bytes for
  // the pass of the weights.
  std::int64_t forward_peak = 0, backward_peak = 0, input_peak = 0, recomputed = 0;
  // The exchanges of experts while nothing else runs in a backward pass of both gradients: bytes
  // through each port, and their time if nothing shares the port. For the first exchange also the
  // time from the pass's begin until its bytes leave.
  struct Exchanged {
    double bytes = 0, first_bytes = 0;
    sim::Picoseconds time = 0, first_time = 0, first_leaves = 0;
  } exchanged;
  Parameters parameters;  // on this rank, without what embedding and head share
  double cast = 0;        // those that narrow products read copies of
};

// The facts beside the job that decide the price of a rank's passes: its kind of node, and the
// shapes of the groups that it computes with.
struct RankKind {
  std::size_t gpu = 0;
  topology::GroupShape tensor, context, expert, expert_tensor, regrouping;
  friend auto operator<=>(const RankKind&, const RankKind&) = default;
};
// The kinds of ranks of a plan: the same for all plans that agree in their degrees and how these
// lie on ranks. Groups lie on nodes in patterns that the first ranks show; other kinds of node come
// later: some ranks everywhere are looked at too. O(ranks looked at · ranks of a group)
std::vector<RankKind> rank_kinds(const Plan& plan, const topology::Cluster& cluster);

// The share of the job that a rank of this kind has.
Share share_of(const Job& job, const RankKind& kind);

// Invariant: every block that it was made with has its least costs.
class LeastCosts {
 public:
  // The costs of ranks of these kinds; if kinds differ in cost, those of the cheapest. Without
  // `sensitivities` it takes half the time. O(blocks · operators) for each kind of rank.
  LeastCosts(const Job& job, const std::vector<RankKind>& kinds, const Costs& costs,
             const std::vector<Block>& blocks, bool sensitivities = true);
  LeastCosts(const Job& job, const Costs& costs, const std::vector<Block>& blocks)
      : LeastCosts(job, rank_kinds(job.plan, job.cluster), costs, blocks) {}
  const BlockLeastCosts& of(const Block& block) const;

  // The time of one message from a stage to the next, or back, on an idle network. It keeps the
  // sender from computing unless overlaps_pipeline.
  sim::Picoseconds sending(int stage, bool forward) const {
    return sending_[2 * static_cast<std::size_t>(stage) + (forward ? 1 : 0)];
  }
  // The time before the first kernel of every pass, where the host waits for the device between
  // passes.
  sim::Picoseconds forward_launch() const { return launches_.first; }
  sim::Picoseconds backward_launch() const { return launches_.second; }

 private:
  std::vector<std::pair<Block, BlockLeastCosts>> blocks_;
  std::vector<sim::Picoseconds> sending_;
  std::pair<sim::Picoseconds, sim::Picoseconds> launches_;
};

// The bytes that one rank sends its pipeline neighbour, or gets from it, for one microbatch.
double message_bytes(const Share& share);

}  // namespace strategies
