// SPDX-License-Identifier: Apache-2.0
// The question of a search and its answer: the best plans of a space, and what is proved about
// them.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "search/objective.hpp"
#include "search/space.hpp"
#include "units/quantity.hpp"

namespace search {

// A scenario whose plan is left open in its own way.
struct Alternative {
  forecast::Scenario scenario;
  Space space;
};

// The share of memory that a search leaves free if its scenario does not say. Forecasts of reserved
// memory hold within some percent, and an allocator that runs full gives its cache back, which
// stalls the step. From here on a forecast does not warn that memory is full.
inline constexpr double usual_headroom = 0.06;

// The question. `scenario.plan` holds the keys that the space does not vary.
struct Question {
  forecast::Scenario scenario;
  Space space;
  double gap = 0;              // the search ends when no plan can be faster by more than this share
  double memory_headroom = 0;  // share of device memory that stays free of what is reserved
  std::optional<units::Seconds> time_limit;  // whoever owns the clock keeps it
  Objective objective = {};                  // for optimise() (objectives.hpp)
  // Other scenarios to choose from as well: the same in another precision, say, or with states
  // offloaded.
  std::vector<Alternative> others = {};

  // The scenario of an alternative. 0: the question's own; i: that of others[i - 1].
  const forecast::Scenario& scenario_of(std::size_t alternative) const {
    return alternative == 0 ? scenario : others[alternative - 1].scenario;
  }
};

// A plan of the space that was simulated and fits.
struct Ranked {
  strategies::Plan plan;
  forecast::Forecast forecast;  // without timeline and network
  units::Seconds bound;         // no plan with these degrees is faster
  std::size_t alternative = 0;  // of the question, whose scenario has this plan
};

// The numbers of plans by outcome. A plan here is a choice of degrees; how it cuts its layers into
// stages and what it recomputes is chosen inside.
struct Counts {
  std::int64_t enumerated = 0;
  std::int64_t pruned_by_memory = 0;  // nothing fits, whatever is recomputed
  std::int64_t pruned_by_bound = 0;   // cannot be faster than the best
  std::int64_t evaluated = 0;         // searched: partitioned, and simulated where that could win
  std::int64_t simulated = 0;         // simulations, several for a plan with several partitions
};

// The plan that misses by least if no plan fits, and the memory that it needs and has.
struct Misfit {
  strategies::Plan plan;
  units::Bytes needed, capacity;  // of one device
  std::string node = {};          // the memory or storage of a node that it lacks, with advice
};

// Whether the first misses by less. A plan that lacks memory of nodes misses by more than any that
// lacks memory of devices alone.
inline bool misses_less(const Misfit& one, const Misfit& other) {
  if (one.node.empty() != other.node.empty()) return one.node.empty();
  return one.needed - one.capacity < other.needed - other.capacity;
}

struct Answer {
  std::vector<Ranked> plans;   // the fastest of each choice of degrees, the fastest first
  std::vector<Ranked> pareto;  // of all simulated plans: none is both faster and smaller
  Counts space;
  units::Seconds lower_bound;  // no plan of the space is faster; of use only with plans
  double gap = 0;              // (fastest − lower_bound) / fastest
  bool optimal = false;        // gap 0: the fastest plan is the best of the space
  bool interrupted = false;
  std::optional<Misfit> misfit;  // nothing fits
};

struct Progress {
  std::int64_t enumerated = 0, open = 0;  // plans in all, and those not yet decided
  std::optional<units::Seconds> best, bound;
};

// Does work(i) for every i below a count, in any order, perhaps at the same time.
using ForEach =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

struct Options {
  std::size_t top = 10;   // plans to return
  ForEach for_each = {};  // none: one after the other; the answer does not depend on it
  const std::atomic<bool>* stop = nullptr;  // read now and then: ends the search with what it has
  std::function<void(const Progress&)> progress = {};  // called from the calling thread
};

}  // namespace search
