// SPDX-License-Identifier: Apache-2.0
// A plan whose partition is open, tried out by simulating partitions of it: what is known before
// (Trial), the ways to try it (functions), and what came of it (Played).
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "search/plan_bounds.hpp"
#include "search/price_cache.hpp"
#include "search/question.hpp"

namespace search {

// The values that all trials of a search share. They must outlive the trials.
struct TrialContext {
  const Question& question;
  const strategies::Costs& costs;
  PriceCache& cache;
  strategies::KnownOrders& orders;
  const std::atomic<bool>* stop = nullptr;  // read between simulations and while frontiers are made
  bool stopped() const { return stop != nullptr && stop->load(); }
};

// The bounds of a plan. `plan` is of this division; `prices` are its division's. O(virtual stages)
PlanBounds bounds_of(const TrialContext& context, std::size_t division,
                     const strategies::Plan& plan, const LayerPrices& prices);
// The problem of a plan. If only one partition is looked at, each virtual stage has a range of one
// number of layers.
PipelineProblem problem_of(const TrialContext& context, const PlanBounds& bounds);

// The facts about a plan that are known before any partition of it is simulated. Constant.
struct Trial {
  // `target`: partitions that take as long are of no interest. `context` must outlive it.
  Trial(const TrialContext& context, std::size_t division, const strategies::Plan& plan,
        Picoseconds target);
  Trial(const Trial&) = delete;

  const TrialContext& context;
  std::size_t division;
  strategies::Plan plan;
  Picoseconds target;
  PlanBounds fastest, bounds;  // nothing recomputed; in all variants
  PipelineProblem problem;     // of `bounds`
  Timetable timetable;         // of the problem's order

  // Whether only one partition is looked at.
  bool is_cut() const;
  bool has_fixed_order() const { return strategies::has_fixed_order(plan.schedule); }
  bool recompute() const { return context.question.space.recompute; }
  bool keeping_is_fastest() const { return context.cache.keeping_is_fastest(division); }
};

struct Played {
  bool possible = false;       // something fits, or may
  std::optional<Ranked> best;  // its `bound` is still open
  Picoseconds bound = 0;       // no partition is faster
  std::int64_t simulations = 0;
};

// Simulates a partition that needs little memory; returns the memory that it needs and has.
Misfit smallest(const Trial& trial);
// Simulates the even partition, with recomputation only if needed.
Played play_evenly(const Trial& trial);
// Simulates partitions with these cuts, and the even one, with the recomputation that the model of
// time and memory holds for fastest among those that fit. A partition that does not fit is tried
// again with as much less memory as it was short of. If there are few partitions, all that may be
// faster than the target are simulated. `bound`: no partition is faster; ends early if none can be
// faster than the target.
Played play(const Trial& trial, std::vector<std::vector<int>> cuts, Picoseconds bound);

// The bytes that the fullest device is short of; not positive if the plan fits. Memory that the
// allocator has cached counts as given back.
ByteCount missing(const Question& question, const forecast::Forecast& forecast);

}  // namespace search
