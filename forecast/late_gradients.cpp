// SPDX-License-Identifier: Apache-2.0
#include "forecast/late_gradients.hpp"

#include <algorithm>
#include <utility>

namespace forecast {

const StagePaths::OfStage& StagePaths::of(int stage) {
  const auto [at, is_new] = stages_.try_emplace(stage);
  if (!is_new) return at->second;
  at->second.chunks = chunks_of(scenario_, stage);
  for (const auto& chunk : at->second.chunks)
    at->second.backward.push_back(writer().backward_memory(chunk.blocks));
  return at->second;
}

LateGradients::LateGradients(StagePaths& paths, int stage, units::Bytes gradients)
    : stage_(paths.of(stage)),
      missing_(spread_by_parameters(gradients, stage_.chunks, paths.writer())),
      next_(stage_.chunks.size()) {}

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
  const auto& path = stage_.backward.at(chunk);
  auto& next = next_[chunk];
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

std::vector<HeldWithGradients> held_with_gradients(const Scenario& scenario,
                                                   const strategies::Lowered& lowered,
                                                   const std::vector<units::Bytes>& gradients) {
  const auto& program = lowered.program;
  StagePaths paths(scenario, lowered);
  std::vector<LateGradients> late;
  for (std::size_t actor = 0; actor < gradients.size(); ++actor)
    late.emplace_back(paths, lowered.actors[actor].stage, gradients[actor]);
  std::vector<HeldWithGradients> most(gradients.size());
  std::vector<std::int64_t> most_bytes(gradients.size(), 0);
  for (std::size_t i = 0; i < program.ops().size(); ++i) {
    const auto& op = program.ops()[i];
    if (op.kind != sim::Op::Kind::pass) continue;
    for (std::uint32_t part = 0; part < op.count; ++part) {
      const auto actor = static_cast<std::uint32_t>(program.participants()[op.first + part].actor);
      const auto beside =
          late[actor].pass(program.labels()[i], program.body(program.body_of(op, part)));
      auto& here = most[actor].passes;
      const auto all = here.left + beside.peak + beside.gradients_at_peak;
      if (all > most_bytes[actor]) {
        most_bytes[actor] = all;
        here.peak = here.left + beside.peak;
        here.held_at_peak = here.left + beside.held_at_peak;
        most[actor].gradients = {static_cast<double>(beside.gradients_at_peak)};
      }
      here.left += beside.held;
    }
  }
  return most;
}

}  // namespace forecast
