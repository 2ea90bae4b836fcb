// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/step_order.hpp"

#include "strategies/lowering/messages.hpp"

namespace strategies {

namespace {

// Throws Refusal where the pieces of a pass, one after the other, take 26 days.
void check_pass(const Pieces& pass) {
  double sum = 0;
  for (const auto& piece : pass) {
    for (const auto& step : piece.body.steps)
      sum += static_cast<double>(step.duration) + static_cast<double>(step.issue);
    if (piece.then) sum += static_cast<double>(to_ticks(piece.then->sending.time()));
  }
  check_ticks(sum);
}

// The mean times of the passes of a stage's chunks.
ChunkTimes times_of(const Cast& cast, int stage) {
  const auto writer = cast.cells_at(stage).front().writers.front();
  double work = 0;  // of all microbatches
  const auto time = [&](Pass pass) {
    sim::Picoseconds sum = 0;
    for (int chunk = 0; chunk < cast.chunks(); ++chunk) {
      const auto pieces = written(cast, writer, cast.blocks_at(stage, chunk), pass);
      check_pass(pieces);
      const auto one = spent_alone(pieces).total();
      work += static_cast<double>(one) * static_cast<double>(cast.microbatches.all);
      check_ticks(work);
      sum += one;
    }
    return sum / cast.chunks();
  };
  return {time(Pass::forward), time(Pass::backward_input), time(Pass::backward_weight)};
}

sim::Picoseconds latency_of(Emitter& emitter, const Cast& cast) {
  const auto& [fixed, traffic, asked] = message(emitter, cast, cast.cells_at(0).front(), 0, true);
  if (traffic == sim::no_traffic) return fixed;
  const auto& sent = emitter.program.traffic()[traffic];
  // The rate is that of sound links, so that a fault somewhere does not change the order.
  return fixed + to_ticks(units::Seconds{sent.bytes / sent.cap});
}

}  // namespace

void find_order(Emitter& emitter, const Cast& cast, KnownOrders* orders) {
  const auto& job = cast.job;
  OrderInput input{.schedule = job.plan.schedule,
                   .stages = cast.stages(),
                   .chunks = cast.layout.parts(),
                   .microbatches = static_cast<int>(cast.microbatches.written),
                   .pairs = pairs_passes(job.model, job.plan, job.software)};
  if (is_searched(job.plan.schedule)) {
    for (int stage = 0; stage < cast.stages(); ++stage)
      input.times.push_back(times_of(cast, stage));
    input.latency = latency_of(emitter, cast);
  }
  auto& [order, last_backward, latest, first_of_pair] = emitter.slots;
  order = order_of(input, orders);
  for (const auto& slots : order) {
    auto& last = last_backward.emplace_back(static_cast<std::size_t>(cast.chunks()));
    for (const auto& slot : slots)
      if (slot.pass == Pass::backward || slot.pass == Pass::backward_weight)
        last[static_cast<std::size_t>(slot.chunk)] = slot;
  }
}

}  // namespace strategies
