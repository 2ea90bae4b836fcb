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

// A pass beside the gradients of its rank, bytes. Its bytes are without gradients and without those
// that earlier passes left; `held` is left behind by it, `held_at_peak` is the part of `peak` that
// it keeps.
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

// A block's gradients are there when its backward pass ends; those of a weight-gradient pass of its
// own when it begins.
class LateGradients {
 public:
  // `gradients`: of a rank of the stage, in all. `paths` must outlive this.
  LateGradients(StagePaths& paths, int stage, units::Bytes gradients);
  // The next pass of the rank in the order of the program. O(blocks that it runs)
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
// By actor. `gradients`: of each, in all. O(events · blocks)
std::vector<HeldWithGradients> held_with_gradients(const Scenario& scenario,
                                                   const strategies::Lowered& lowered,
                                                   const std::vector<units::Bytes>& gradients);

}  // namespace forecast
