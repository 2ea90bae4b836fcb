// SPDX-License-Identifier: Apache-2.0
// Runs that go wrong in a known way, as PyTorch's profiler would record them: an own small model of
// ranks that run kernels and meet in collectives. It takes from a forecast how long kernels and
// collectives of a step take, and shares nothing with what explains a run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "forecast/rank_times.hpp"
#include "forecast/scenario.hpp"

namespace faulty_runs {

enum class Fault : std::uint8_t {
  none,
  slow_ranks,        // all kernels of some ranks
  slow_rank_class,   // one class of kernels of one rank
  paused_rank,       // its host stops for a while
  slow_collectives,  // of one sort
  host,              // a gap behind every kernel, on all ranks
  blocking,          // gradients are reduced with nothing beside it
  slow_class,        // one class of kernels, on all ranks
  clock,             // all kernels of all ranks
  loading,           // nothing to do at first
  deeper_stage,      // layers of one stage lie on another
  fuller_expert,     // experts of one rank have more tokens, those of the others fewer
  recomputing,       // every forward pass again before its backward pass
};

struct Injected {
  Fault fault = Fault::none;
  double amount = 1;                // factor, or share of the step
  std::vector<std::int64_t> ranks;  // some
  forecast::KernelClass kernels{};  // of the class
  forecast::StepPart part{};        // of the sort
  int stage = 0;                    // that is deeper
};

struct RecordedRun {
  std::vector<std::string> traces;  // by rank that is not missing
  std::vector<std::int64_t> ranks;  // the same
  double seconds = 0;               // of the step
};

struct Recording {
  double jitter = 0.03;               // standard deviation of a kernel's time over its mean
  double skew = 0.5;                  // seconds that clocks differ by, at most
  std::vector<std::int64_t> missing;  // ranks
  unsigned seed = 1;
  int steps = 1;
};

// Of a plan with tensor, pipeline (1f1b), data and expert parallelism, experts as wide as data or
// narrower.
RecordedRun record(const forecast::Scenario& scenario,
                   const std::vector<forecast::RankTimes>& expected,
                   const std::vector<Injected>& faults, const Recording& recording);

}  // namespace faulty_runs
