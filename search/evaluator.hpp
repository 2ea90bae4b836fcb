// SPDX-License-Identifier: Apache-2.0
// One choice of degrees, looked at closely: bounds of its partitions, and its best plans simulated.
#pragma once
#include <atomic>
#include <optional>
#include <vector>

#include "search/trial.hpp"

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

// Safe to use from several threads. All arguments must outlive it.
class Evaluator {
 public:
  // `stop`: read between simulations and while frontiers are made; once it is set, only `best` of
  // the results holds.
  Evaluator(const Question& question, const strategies::Costs& costs, PriceCache& cache,
            const std::atomic<bool>* stop = nullptr)
      : context_{question, costs, cache, orders_, stop} {}

  strategies::Plan plan_of(const Degrees& degrees) const;
  // The rough time of an even partition; nothing if it does not seem to fit.
  std::optional<Picoseconds> guess(const Degrees& degrees) const;
  // Bounds partitions until the bound reaches the target or comes no closer.
  Look look(const Degrees& degrees, Picoseconds target) const;
  // A rough estimate of the least memory of these degrees, before anything is recomputed: bytes.
  double rough_memory(const Degrees& degrees) const;
  // Simulates a plan that needs little memory: the memory that it needs, and has.
  Misfit smallest(const Degrees& degrees) const;
  // Simulates a plan with an even partition, with recomputation only if needed. `target`: plans
  // that take as long are of no interest.
  Played play_evenly(const Degrees& degrees, Picoseconds target) const;
  // Simulates plans with these cuts and with even ones, interleaved ones with uneven cuts too, as
  // `play` does for a trial. `bound`: no plan of these degrees is faster.
  Played play(const Degrees& degrees, std::vector<std::vector<int>> cuts, Picoseconds bound,
              Picoseconds target) const;

 private:
  // Looks at the partition that the plan has; if it has none, at all partitions of its degrees, and
  // at the uneven ones (cuts.hpp), each as a plan that has it.
  Look look_closely(const strategies::Plan& plan, const Degrees& degrees, Picoseconds target) const;
  Look look_at_all(const Degrees& degrees, Picoseconds target) const;
  struct Uneven {
    std::vector<strategies::Plan> plans;
    std::optional<Picoseconds> others;  // a bound of those that are not listed; none: all are
  };
  // All uneven partitions that may be faster than the target, and some others.
  Uneven uneven_below(const strategies::Plan& plan, const Degrees& degrees,
                      Picoseconds target) const;
  void play_uneven(const strategies::Plan& plan, const Degrees& degrees, Picoseconds target,
                   Played& played) const;
  bool waits_for_exchanges(const strategies::Plan& plan) const;
  void bound_partitions(const PipelineProblem& problem, Picoseconds target, Look& look) const;

  strategies::KnownOrders orders_;
  TrialContext context_;
};

}  // namespace search
