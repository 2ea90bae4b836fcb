// SPDX-License-Identifier: Apache-2.0
// Private to the room: the gradients of a rank, pass by pass, where its backward passes make them
// (plans/memory.hpp, gradients_come_late).
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "forecast/rank_chunks.hpp"
#include "sim/measures.hpp"
#include "strategies/passes.hpp"

namespace forecast {

// The bytes of a pass and of the gradients of its rank. `held`, which the pass leaves behind,
// `peak`, and `held_at_peak`, the part of the peak that the pass keeps, count neither gradients nor
// the bytes that earlier passes left.
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

// The chunks of each pipeline stage, and the bytes that the backward pass of each chunk holds after
// each of its blocks: alike for all ranks of a stage, and made once for each.
class StagePaths {
 public:
  StagePaths(const Scenario& scenario, const strategies::Lowered& lowered)
      : scenario_(scenario), lowered_(lowered) {}

  struct OfStage {
    std::vector<RankChunk> chunks;
    std::vector<std::vector<strategies::PassMemory>> backward;  // by chunk
  };
  // O(blocks of the model · operators) for a stage, the first time
  const OfStage& of(int stage);
  const strategies::PassWriter& writer() const { return *lowered_.writer; }

 private:
  const Scenario& scenario_;
  const strategies::Lowered& lowered_;
  std::map<int, OfStage> stages_;
};

// The gradients of a rank that exist after each of its passes. A block's gradients exist once its
// backward pass ends; those of a separate weight-gradient pass, once that begins.
class LateGradients {
 public:
  // `gradients`: the bytes of all gradients of a rank of the stage. `paths` must outlive this.
  LateGradients(StagePaths& paths, int stage, units::Bytes gradients);
  // Takes the next pass of the rank, in the order of the program. O(blocks that it runs)
  PassBeside pass(const sim::Label& label, const sim::Template& body);

 private:
  void backward(std::size_t chunk, std::size_t blocks, PassBeside& beside);

  const StagePaths::OfStage& stage_;
  BytesByBlock missing_;
  std::vector<std::size_t> next_;  // by chunk: the block that its backward pass runs next
  std::int64_t there_ = 0;
};

// The most bytes that passes hold together with the gradients that are there by then.
struct HeldWithGradients {
  sim::HeldMemory passes;  // `peak`: without the gradients
  units::Bytes gradients;  // gradients that exist at the peak
};
// Returns the most bytes by actor. `gradients`: the bytes of all gradients of each actor. O(events
// · blocks)
std::vector<HeldWithGradients> held_with_gradients(const Scenario& scenario,
                                                   const strategies::Lowered& lowered,
                                                   const std::vector<units::Bytes>& gradients);

}  // namespace forecast
