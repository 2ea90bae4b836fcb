// SPDX-License-Identifier: Apache-2.0
#include "forecast/late_gradients.hpp"

#include <algorithm>
#include <utility>

namespace forecast {

LateGradients::LateGradients(const Scenario& scenario, const strategies::Lowered& lowered,
                             std::uint32_t actor, units::Bytes gradients)
    : chunks_(chunks_of(scenario, lowered.actors[actor].stage)),
      missing_(spread_by_parameters(gradients, chunks_, *lowered.writer)),
      progress_(chunks_.size()),
      writer_(*lowered.writer) {}

PassBeside LateGradients::pass(const sim::Label& label, const sim::Template& body) {
  const auto pass = pass_of(label.kind);
  const auto chunk = static_cast<std::size_t>(std::max<int>(0, label.chunk));
  PassBeside beside(body, there_);
  if (pass == strategies::Pass::backward_weight) {
    for (auto& bytes : missing_.at(chunk)) there_ += std::exchange(bytes, 0);
    beside.gradients_at_peak = there_;
  }
  if (pass == strategies::Pass::backward)
    backward(chunk, static_cast<std::size_t>(body.blocks), beside);
  beside.gradients_after = there_;
  return beside;
}

// A pass may be cut into ops that run some of its blocks each.
void LateGradients::backward(std::size_t chunk, std::size_t blocks, PassBeside& beside) {
  auto& [path, next] = progress_.at(chunk);
  if (path.empty()) path = writer_.backward_memory(chunks_[chunk].blocks);
  blocks = std::min(blocks, path.size() - next);
  if (blocks == 0) return;
  const auto before = next == 0 ? 0 : path[next - 1].held;
  auto kept = std::int64_t{0};
  beside.peak = beside.held_at_peak = beside.held;
  const auto consider = [&](std::int64_t bytes) {
    if (bytes + there_ <= beside.peak + beside.gradients_at_peak) return;
    beside.peak = bytes;
    beside.held_at_peak = kept;
    beside.gradients_at_peak = there_;
  };
  for (const auto end = next + blocks; next < end; ++next) {
    consider(path[next].peak - before);
    there_ += std::exchange(missing_[chunk][path.size() - 1 - next], 0);
    kept = path[next].held - before;
  }
  consider(beside.held);
}

HeldWithGradients held_with_gradients(const Scenario& scenario, const strategies::Lowered& lowered,
                                      std::uint32_t actor, units::Bytes gradients) {
  const auto& program = lowered.program;
  LateGradients late(scenario, lowered, actor, gradients);
  HeldWithGradients most;
  std::int64_t left = 0, most_bytes = 0;
  for (std::size_t i = 0; i < program.ops().size(); ++i) {
    const auto& op = program.ops()[i];
    if (op.kind != sim::Op::Kind::pass) continue;
    const auto part = part_of(program, op, actor);
    if (!part) continue;
    const auto beside = late.pass(program.labels()[i], program.body(program.body_of(op, *part)));
    if (const auto all = left + beside.peak + beside.gradients_at_peak; all > most_bytes) {
      most_bytes = all;
      most.passes.peak = left + beside.peak;
      most.passes.held_at_peak = left + beside.held_at_peak;
      most.gradients = {static_cast<double>(beside.gradients_at_peak)};
    }
    left += beside.held;
  }
  most.passes.left = left;
  return most;
}

}  // namespace forecast
