// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/messages.hpp"

#include "plans/duties.hpp"
#include "strategies/least_costs.hpp"
#include "strategies/lowering/data_loading.hpp"

namespace strategies {

namespace {

// The place of a slot's input in ActorInputs.
std::size_t input_of(const Cast& cast, int chunk, std::int64_t microbatch) {
  return static_cast<std::size_t>(chunk) * static_cast<std::size_t>(cast.microbatches.written) +
         static_cast<std::size_t>(microbatch);
}

}  // namespace

// With sequence parallelism, or where the software scatters, each tensor-parallel rank sends its
// part only.
const Sent& message(Emitter& emitter, const Cast& cast, const Cell& cell, std::size_t index,
                    bool forward) {
  auto& known = emitter.sendings.messages[2 * cell.actors[index] + (forward ? 1 : 0)];
  if (known) return *known;
  const auto& plan = cast.job.plan;
  const units::Bytes bytes{message_bytes(cast.job.share())};
  const bool split =
      plan.tensor > 1 && (plan.sequence_parallel || cast.job.software.scatter_gather);
  const auto rank = cell.ranks[index];
  auto there = cast.placement.at(rank);
  there.pipeline = (there.pipeline + (forward ? 1 : -1) + cast.stages()) % cast.stages();
  const auto sending = cast.costs.transfer(bytes, rank, cast.placement.rank_of(there));
  known = emitter.sent(cast, sending, forward ? FlowKind::onward : FlowKind::back, rank);
  if (split && !plan.sequence_parallel)
    known->fixed += cast.writers[cell.writers.front()]->row_gather();
  return *known;
}

void await_input(Emitter& emitter, const Cast& cast, int stage, const Slot& slot) {
  const bool forward = slot.pass == Pass::forward;
  for (const auto& cell : cast.cells_at(stage)) {
    const auto its = run_by(cast, cell.stage, slot);
    const auto at = input_of(cast, its.chunk, its.microbatch);
    for (auto actor : cell.actors) {
      const auto& inputs = emitter.inputs[actor];
      emitter.clocks[actor].arrival = (forward ? inputs.forward : inputs.backward)[at];
    }
  }
  if (forward && virtual_stage_of(stage, slot.chunk, cast.layout) == 0 &&
      cast.job.software.data_loader)
    load_data(emitter, cast, stage, slot);
}

void send_onwards(Emitter& emitter, const Cast& cast, int stage, const Slot& slot) {
  const bool forward = slot.pass == Pass::forward;
  if (slot.pass == Pass::backward_weight) return;
  const bool overlapped = overlaps_pipeline(cast.job.plan, cast.job.software);
  for (const auto& cell : cast.cells_at(stage)) {
    const auto its = run_by(cast, cell.stage, slot);
    const ChunkPlace here{cell.stage, its.chunk};
    const auto there = forward ? behind(here, cast.layout) : before(here, cast.layout);
    if (!there) return;
    const auto at = input_of(cast, there->chunk, its.microbatch);
    const bool onward = there->stage == (cell.stage + 1) % cast.stages();
    for (std::size_t i = 0; i < cell.actors.size(); ++i) {
      const auto actor = cell.actors[i];
      const auto peer = onward ? cell.next[i] : cell.previous[i];
      auto& inputs = emitter.inputs[there->stage == cell.stage ? actor : peer];
      auto& arrived = (forward ? inputs.forward : inputs.backward)[at];
      const auto& clock = emitter.clocks[actor];
      if (there->stage == cell.stage) {
        arrived = clock.latest;
        continue;
      }
      const auto& [fixed, traffic, asked] = message(emitter, cast, cell, i, onward);
      const auto op = emitter.program.add_transfer(
          overlapped ? sim::Op::Kind::transfer : sim::Op::Kind::blocking, fixed, pipeline_comm,
          {sim::ActorId{actor}, {clock.latest, clock.ended_beside}}, sim::ActorId{peer},
          {forward ? label_send_forward : label_send_backward, static_cast<std::int16_t>(its.chunk),
           its.microbatch});
      if (traffic != sim::no_traffic) emitter.program.send_over_links(op, traffic);
      arrived = emitter.program.event(op, 1);
    }
  }
}

}  // namespace strategies
