// SPDX-License-Identifier: Apache-2.0
// Passes that run beside each other. DualPipe's stages s and p - 1 - s run the same passes of the
// same virtual stages in the same order, one for a microbatch that goes down, the other for one
// that goes up: their slots are written together, so that they meet in the collectives of the
// parameters that both hold.
// A pair is a forward and a backward pass whose pieces alternate: what one exchanges after a piece
// travels while the other computes. It begins when the inputs of both are there and sends when both
// have ended, as one pass of forward + backward would. Where collectives of data parallelism cut
// its passes, they run one after the other.
#include <algorithm>
#include <utility>

#include "strategies/lowering.hpp"

namespace strategies {

using sim::EventId;
using sim::no_event;

// The slot of the lower stage of a mirrored pair, as `stage` runs it.
Slot Lowering::run_by(int stage, const Slot& slot) const {
  if (placement_.lead_of(stage) == stage) return slot;
  const auto microbatches = static_cast<int>(out_.microbatches);
  auto its = slot;
  its.chunk = 1 - slot.chunk;
  its.microbatch = (slot.microbatch + microbatches / 2) % microbatches;
  return its;
}

void Lowering::await_input(int stage, const Slot& slot) {
  const auto& arrived = slot.pass == Pass::forward ? arrived_forward_ : arrived_backward_;
  for (auto index : cells_of_stage_[static_cast<std::size_t>(stage)]) {
    const auto its = run_by(cells_[index].stage, slot);
    const auto at =
        static_cast<std::size_t>(its.chunk) * static_cast<std::size_t>(out_.microbatches) +
        static_cast<std::size_t>(its.microbatch);
    for (auto actor : cells_[index].actors) arrival_[actor] = arrived[actor][at];
  }
  if (slot.pass == Pass::forward && virtual_stage_of(stage, slot.chunk, layout_) == 0 &&
      job_.software.data_loader)
    load_data(stage, slot);
}

// Every stage's order is walked; mirrored stages are written with the lower one. What that needs of
// the upper one has been written: it is the mirror image of what the lower one needs itself.
void Lowering::emit(int stage, const Slot& slot) {
  if (placement_.lead_of(stage) != stage) return;
  if (slot.paired) {
    first_of_pair_ = slot;
  } else if (first_of_pair_) {
    emit_pair(stage, *first_of_pair_, slot);
    first_of_pair_.reset();
  } else {
    emit_passes(stage, slot);
    send_onwards(stage, slot);
  }
}

// As the second of a pair, the pass runs beside the first.
void Lowering::begin(Running& running, int stage, const Segment& segment, Pass pass, double slow,
                     const Running* beside) {
  running.pieces.assign(writers_.size(), nullptr);
  for (auto index : cells_of_stage_[static_cast<std::size_t>(stage)])
    for (auto writer : cells_[index].writers) {
      Manner how{slow};
      if (beside != nullptr) {
        const auto& other = out_.program.body(beside->pieces[writer]->front().body);
        how.beside = other.peak - other.held;
      }
      running.pieces[writer] = &sequence(writer, segment, pass, how);
      running.count = running.pieces[writer]->size();
    }
  if (running.exchanged.size() < running.count)
    running.exchanged.resize(running.count, std::vector<EventId>(out_.actors.size(), no_event));
}

// Time that exchanges of a segment take on an idle network.
sim::Picoseconds Lowering::exchanged_in(int stage, const Running& running) const {
  const auto& cell = cells_[cells_of_stage_[static_cast<std::size_t>(stage)].front()];
  sim::Picoseconds sum = 0;
  for (const auto& part : *running.pieces[cell.writers.front()])
    if (part.then) sum += to_ticks(part.then->sending.time());
  return sum;
}

void Lowering::emit_pair(int stage, const Slot& forward, const Slot& backward) {
  const auto each_actor = [&](auto visit) {
    for (auto index : cells_of_stage_[static_cast<std::size_t>(stage)])
      for (auto actor : cells_[index].actors) visit(actor);
  };
  const auto one_has_ended = [&] {
    each_actor([&](auto actor) { ended_beside_[actor] = latest_[actor]; });
  };
  await_input(stage, backward);
  each_actor([&](auto actor) {
    if (gathered_[actor] == no_event) gathered_[actor] = arrival_[actor];
  });
  if (duties_of(stage, forward).any() || duties_of(stage, backward).any()) {
    emit_passes(stage, forward);
    one_has_ended();
    emit_passes(stage, backward);
  } else {
    begin_pair(stage, forward, backward);
    bool ended = false;
    for (std::size_t i = 0; i < std::max(running_.count, beside_.count); ++i)
      for (auto [running, slot] : {std::pair{&running_, &forward}, {&beside_, &backward}}) {
        if (i >= running->count) continue;
        if (i == 0) await_input(stage, *slot);
        emit_part(*running, stage, *slot, i);
        emit_exchange(*running, stage, *slot, i);
        if (i + 1 == running->count && !std::exchange(ended, true)) one_has_ended();
      }
  }
  send_onwards(stage, forward);
  send_onwards(stage, backward);
  each_actor([&](auto actor) { ended_beside_[actor] = no_event; });
}

// Each pass is slowed by what the other exchanges.
void Lowering::begin_pair(int stage, const Slot& forward, const Slot& backward) {
  const auto& ahead = blocks_in(stage, forward);
  const auto& back = blocks_in(stage, backward);
  begin(running_, stage, ahead, Pass::forward, 1.0);
  begin(beside_, stage, back, Pass::backward, 1.0, &running_);
  if (job_.software.interference <= 0) return;
  const auto slow_ahead = slowdown(ahead, Pass::forward, exchanged_in(stage, beside_));
  const auto slow_back = slowdown(back, Pass::backward, exchanged_in(stage, running_));
  begin(running_, stage, ahead, Pass::forward, slow_ahead);
  begin(beside_, stage, back, Pass::backward, slow_back, &running_);
}

}  // namespace strategies
