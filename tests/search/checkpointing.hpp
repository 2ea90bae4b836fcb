// SPDX-License-Identifier: Apache-2.0
// A choice of the activations that a chain of stages keeps, and of those that it computes again,
// under a memory limit.
//
// Stage i of 0 … L turns x_i into x_(i+1); stage L is the loss. Its backward pass turns the
// gradient of x_(i+1) into that of x_i, of the same size, and needs x_i and the stage's saved set
// (which holds x_(i+1) too, as that of stage i − 1 holds x_i). Conventions are Rotor's (Beaumont,
// Eyraud-Dubois, Herrmann, Joly, Shilova 2019): the output of a pass lies beside all that is
// stored, and so do its transients.
#pragma once
#include <optional>
#include <vector>

#include "search/solvers/frontier.hpp"

namespace search {

struct StageChain {
  std::vector<Picoseconds> forward;           // stages 0 … L − 1; the loss has none
  std::vector<Picoseconds> backward;          // 0 … L
  std::vector<ByteCount> input;               // x_0 … x_L
  std::vector<ByteCount> saved;               // of stages 0 … L, their outputs included
  std::vector<ByteCount> forward_transient;   // 0 … L − 1
  std::vector<ByteCount> backward_transient;  // 0 … L
  int stages() const { return static_cast<int>(backward.size()); }
};

struct ChainOperation {
  enum class Kind : std::uint8_t {
    forward_save,  // makes the saved set
    forward_keep,  // makes the next input
    backward,      // frees the saved set and the input
    drop_input,    // frees x_stage
    drop_saved,    // frees the saved set of `stage`
  };
  Kind kind;
  int stage;
  friend bool operator==(const ChainOperation&, const ChainOperation&) = default;
};

struct ChainPlan {
  Picoseconds time = 0;
  std::vector<ChainOperation> operations;
};

// The fastest plan among persistent ones, which keep an input or a saved set until its backward
// pass: Rotor's recurrence, on step functions of memory instead of a table of steps. `limit`
// includes x_0; nothing if no plan fits. O(stages³ · steps)
std::optional<ChainPlan> persistent_plan(const StageChain& chain, ByteCount limit);

// The fastest plan of all, by A* over the stored tensors. There are up to 4^stages states, of which
// at most `most_states` are looked at, and at most 31 stages; beyond that, `finished` is false and
// there is no plan.
struct UnrestrictedPlan {
  bool finished = false;
  std::optional<ChainPlan> plan;
};
UnrestrictedPlan unrestricted_plan(const StageChain& chain, ByteCount limit,
                                   std::size_t most_states = 1'000'000);

// The better plan of both searches: never slower than the persistent one, and the fastest of all
// where the chain is short (`exact`).
struct CheckpointPlan {
  ChainPlan plan;
  bool exact = false;
};
std::optional<CheckpointPlan> checkpoint_plan(const StageChain& chain, ByteCount limit,
                                              std::size_t most_states = 200'000);

}  // namespace search
