// SPDX-License-Identifier: Apache-2.0
// Private to the room: the gradients of a rank, pass by pass, where its backward passes make them
// (plans/memory.hpp, gradients_come_late).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "forecast/rank_chunks.hpp"
#include "sim/measures.hpp"
#include "strategies/passes.hpp"

namespace forecast {

// A pass beside the gradients of its rank, bytes. What it holds is beyond what earlier passes left,
// and without gradients; `held` is what it leaves, `held_at_peak` what is kept of `peak` then.
struct PassBeside {
  explicit PassBeside(const sim::Template& body, std::int64_t gradients = 0)
      : held(body.held),
        peak(std::max(body.peak, body.held)),
        held_at_peak(std::max<std::int64_t>(0, body.held)),
        gradients_at_peak(gradients),
        gradients_after(gradients) {}
  std::int64_t held, peak, held_at_peak;
  std::int64_t gradients_at_peak, gradients_after;
};

// A block's gradients are there when its backward pass ends; those of a weight-gradient pass of its
// own when it begins.
class LateGradients {
 public:
  // `gradients`: of the rank, in all.
  LateGradients(const Scenario& scenario, const strategies::Lowered& lowered, std::uint32_t actor,
                units::Bytes gradients);
  // The next pass of the rank in the order of the program. O(blocks · operators)
  PassBeside pass(const sim::Label& label, const sim::Template& body);

 private:
  void backward(std::size_t chunk, std::size_t blocks, PassBeside& beside);
  // The memory of the chunk's backward pass by block, and the next block that it runs.
  struct Progress {
    std::vector<strategies::PassMemory> path;
    std::size_t next = 0;
  };

  std::vector<RankChunk> chunks_;
  BytesByBlock missing_;
  std::vector<Progress> progress_;  // by chunk
  const strategies::PassWriter& writer_;
  std::int64_t there_ = 0;
};

// What passes hold at most together with the gradients that are there by then.
struct HeldWithGradients {
  sim::Held passes;        // `peak`: without the gradients
  units::Bytes gradients;  // that are there at the peak
};
// O(passes · blocks · operators)
HeldWithGradients held_with_gradients(const Scenario& scenario, const strategies::Lowered& lowered,
                                      std::uint32_t actor, units::Bytes gradients);

}  // namespace forecast
