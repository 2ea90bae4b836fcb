// SPDX-License-Identifier: Apache-2.0
// One choice of degrees, looked at closely: bounds of its partitions, and its best plans simulated.
#pragma once
#include <atomic>
#include <optional>
#include <vector>

#include "search/divisions.hpp"
#include "search/plan_bounds.hpp"
#include "search/question.hpp"

namespace search {

// A choice of degrees, compact: there may be millions.
struct Degrees {
  std::uint32_t division = 0;
  std::int32_t pipeline = 1;
  std::int16_t chunks = 1;
  std::int8_t zero = 0;
  strategies::ScheduleKind schedule = strategies::ScheduleKind::one_f_one_b;
};

struct Look {
  Picoseconds bound = 0;               // no plan of these degrees is faster, or the target
  bool fits = true;                    // perhaps; false: nothing does
  bool reached = false;                // the target: nothing else was looked at
  std::vector<std::vector<int>> cuts;  // where good plans cut layers (Partition::first_layer)
};

struct Played {
  bool possible = false;       // something fits, or may
  std::optional<Ranked> best;  // its `bound` is still open
  Picoseconds bound = 0;       // no plan of these degrees is faster
  std::int64_t simulations = 0;
};

// Bytes that the fullest device is short of; not positive where the plan fits. What the allocator
// has cached it would give back.
ByteCount missing(const Question& question, const forecast::Forecast& forecast);

// Safe to use from several threads. All arguments must outlive it.
class Candidates {
 public:
  // `stop`: read between simulations and while frontiers are made; whoever sets it makes nothing
  // of what is returned but the best.
  Candidates(const Question& question, const strategies::Costs& costs, Divisions& divisions,
             const std::atomic<bool>* stop = nullptr)
      : question_(question), costs_(costs), divisions_(divisions), stop_(stop) {}

  strategies::Plan plan_of(const Degrees& degrees) const;
  // How long an even partition takes, roughly; none: it does not seem to fit.
  std::optional<Picoseconds> guess(const Degrees& degrees) const;
  // Bounds partitions until the bound reaches the target or comes no closer.
  Look look(const Degrees& degrees, Picoseconds target) const;
  // What these degrees need at least, roughly, before anything is recomputed: bytes.
  double rough_memory(const Degrees& degrees) const;
  // Simulates a plan that needs little memory: what it needs, and has.
  Misfit smallest(const Degrees& degrees) const;
  // Simulates a plan with an even partition, with recomputation only if needed.
  Played play_evenly(const Degrees& degrees) const;
  // Simulates plans that cut there, and evenly, in the ways that make them fast and fit. What does
  // not fit is tried again with as much less memory as it was short of. If there are few plans, all
  // that may be faster. `bound` is known; ends early if none can be faster than the target.
  Played play(const Degrees& degrees, std::vector<std::vector<int>> cuts, Picoseconds bound,
              Picoseconds target) const;

 private:
  // What is looked at is the partition that the plan has, or all that its degrees are looked at
  // for, and beside them the uneven ones (cuts.hpp), each as a plan that has it.
  Look look_closely(const strategies::Plan& plan, const Degrees& degrees, Picoseconds target) const;
  Look look_at_all(const Degrees& degrees, Picoseconds target) const;
  struct Uneven {
    std::vector<strategies::Plan> plans;
    std::optional<Picoseconds> others;  // a bound of those that are not listed; none: all are
  };
  // All that may be faster than the target, and some others.
  Uneven uneven_below(const strategies::Plan& plan, const Degrees& degrees,
                      Picoseconds target) const;
  void play_uneven(const strategies::Plan& plan, const Degrees& degrees, Picoseconds target,
                   Played& played) const;
  PlanBounds bounds_of(const strategies::Plan& plan, const Degrees& degrees,
                       const LayerPrices& prices) const;
  bool waits_for_exchanges(const strategies::Plan& plan) const;
  void bound_partitions(const PipelineProblem& problem, Picoseconds target, Look& look) const;
  // With one row for each virtual stage where only one partition is looked at.
  PipelineProblem problem_of(const PlanBounds& bounds) const;
  class Play;

  const Question& question_;
  const strategies::Costs& costs_;
  Divisions& divisions_;
  const std::atomic<bool>* stop_;
  bool stopped() const { return stop_ != nullptr && stop_->load(); }
};

}  // namespace search
