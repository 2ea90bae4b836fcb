// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/segments.hpp"

#include <vector>

#include "strategies/lowering/layer_exchanges.hpp"

namespace strategies {

using sim::EventId;
using sim::no_event;

namespace {

LabelKind label_of_pass(Pass pass) {
  return pass == Pass::forward          ? label_forward
         : pass == Pass::backward       ? label_backward
         : pass == Pass::backward_input ? label_backward_input
                                        : label_backward_weight;
}

// Takes the pieces of a pass for `run`: each writer of the stage has those at `pieces_of(writer)`.
template <class PiecesOf>
void take_pieces(SegmentRun& run, const Cast& cast, int stage, PiecesOf pieces_of) {
  run.pieces.assign(cast.writers.size(), nullptr);
  for (const auto& cell : cast.cells_at(stage))
    for (auto writer : cell.writers) {
      run.pieces[writer] = pieces_of(writer);
      run.count = run.pieces[writer]->size();
    }
  if (run.exchanged.size() < run.count)
    run.exchanged.resize(run.count, std::vector<EventId>(cast.actors.size(), no_event));
}

// Returns the factor, at least 1, by which communication beside a segment slows its computation on
// the GPUs of this writer. A collective holds processors for the same time on a slow device and on
// a fast one, and so slows a smaller share of the slow one's computation.
double slowdown_of(Emitter& emitter, std::size_t writer, const Segment& segment, Pass pass,
                   const Interference& beside) {
  if (!beside.any()) return 1.0;  // the usual case
  sim::Picoseconds alone = 0;
  for (const auto& piece : emitter.bodies.pass(writer, segment, pass))
    for (const auto& step : emitter.program.body(piece.body).steps)
      if (step.lane == sim::Lane::compute) alone += step.duration;
  return beside.slowdown(alone);
}

}  // namespace

void begin_half(Emitter& emitter, const Cast& cast, int stage, const PairOfSegments& pair,
                Pass half, const Interference& beside) {
  const bool second = half != Pass::forward;
  auto& bodies = emitter.bodies;
  take_pieces(second ? emitter.beside : emitter.running, cast, stage, [&](std::size_t writer) {
    const auto both = bodies.pair_memory(writer, pair.ahead, pair.back);
    const auto& segment = second ? pair.back : pair.ahead;
    return &bodies.pass(writer, segment, half,
                        {slowdown_of(emitter, writer, segment, half, beside), second,
                         second ? both : PassMemory{}});
  });
}

void emit_piece(SegmentRun& run, Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                std::size_t index) {
  const bool first = index == 0;
  const auto label = label_of_pass(slot.pass);
  auto& program = emitter.program;
  for (const auto& cell : cast.cells_at(stage)) {
    const auto its = run_by(cast, cell.stage, slot);
    const sim::Label named{label, static_cast<std::int16_t>(its.chunk), its.microbatch};
    const auto waits_for = (*run.pieces[cell.writers.front()])[index].waits_for;
    run.who.clear();
    for (auto actor : cell.actors) {
      const auto& clock = emitter.clocks[actor];
      const auto awaited =
          waits_for < 0 ? no_event : run.exchanged[static_cast<std::size_t>(waits_for)][actor];
      run.who.push_back({sim::ActorId{actor},
                         {first ? clock.arrival : awaited, first ? clock.gathered : no_event}});
    }
    run.bodies.clear();
    for (auto writer : cell.writers) run.bodies.push_back((*run.pieces[writer])[index].body);
    const auto op = run.bodies.size() == 1 ? program.add_pass(run.bodies.front(), run.who, named)
                                           : program.add_pass(run.bodies, run.who, named);
    for (std::uint32_t i = 0; i < run.who.size(); ++i) {
      auto& clock = emitter.clocks[cell.actors[i]];
      if (first) clock.before_latest = clock.latest;
      clock.latest = program.event(op, i);
      if (first) clock.arrival = clock.gathered = no_event;
    }
  }
}

void emit_segment(Emitter& emitter, const Cast& cast, int stage, const Slot& slot,
                  const Segment& segment, const Interference& beside) {
  auto& run = emitter.running;
  take_pieces(run, cast, stage, [&](std::size_t writer) {
    return &emitter.bodies.pass(writer, segment, slot.pass,
                                {slowdown_of(emitter, writer, segment, slot.pass, beside)});
  });
  for (std::size_t i = 0; i < run.count; ++i) {
    emit_piece(run, emitter, cast, stage, slot, i);
    emit_exchange(run, emitter, cast, stage, slot, i);
  }
}

}  // namespace strategies
