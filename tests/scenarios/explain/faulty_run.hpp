// SPDX-License-Identifier: Apache-2.0
// Runs that go wrong in a known way, as PyTorch's profiler would record them: a small model of
// ranks that run kernels and meet in collectives. It takes the times of kernels and collectives of
// a step from a forecast, and shares no code with the explanation of a run.
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
  slow_collectives,  // of one kind of communication
  stall,             // of one collective of one kind, on some ranks
  host,              // a gap behind every kernel, on all ranks
  blocking,          // gradients are reduced with nothing beside it
  slow_class,        // one class of kernels, on all ranks
  clock,             // clocks of all ranks: all kernels are slower
  loading,           // waiting for data at the start of a step
  deeper_stage,      // layers of one stage lie on another
  fuller_expert,     // experts of one rank have more tokens, those of the others fewer
  recomputing,       // every forward pass again before its backward pass
};

struct Injected {
  Fault fault = Fault::none;
  double amount = 1;                // factor, or share of the step
  std::vector<std::int64_t> ranks;  // affected ranks
  forecast::KernelClass kernels{};  // the affected class
  forecast::StepPart part{};        // the affected communication
  int stage = 0;                    // the deeper stage
};

struct RecordedRun {
  std::vector<std::string> traces;  // of ranks that are not missing
  std::vector<std::int64_t> ranks;  // of the same ranks
  double seconds = 0;               // of the step
};

struct Recording {
  double jitter = 0.03;               // standard deviation of a kernel's time over its mean
  double skew = 0.5;                  // seconds that clocks differ by, at most
  std::vector<std::int64_t> missing;  // ranks
  unsigned seed = 1;
  int steps = 1;
};

// Records a run of a plan with tensor, pipeline (1f1b), data and expert parallelism, with experts
// as wide as data or narrower.
RecordedRun record(const forecast::Scenario& scenario,
                   const std::vector<forecast::RankTimes>& expected,
                   const std::vector<Injected>& faults, const Recording& recording);

}  // namespace faulty_runs
