// SPDX-License-Identifier: Apache-2.0
// The places of virtual stages: the part of a schedule that says which stage waits for which.
#pragma once
#include <optional>

#include "plans/schedules/schedule_kind.hpp"

namespace strategies {

// The model is cut into virtual stages, first to last; a device ("stage") holds `chunks` of them.
//   loop:     virtual stage v sits on stage v mod stages, as chunk v / stages.
//   v:        two chunks; chunk 0 goes down the stages, chunk 1 comes back up.
//   mirrored: two copies of the model, one down the stages (chunk 0) and one up (chunk 1); each
//             serves half of the microbatches, the lower half goes down. Every chunk is a whole
//             stage, and a virtual stage sits on two devices.
struct Layout {
  enum class Kind { loop, v, mirrored };
  Kind kind = Kind::loop;
  int stages = 1, chunks = 1;

  int virtual_stages() const { return kind == Kind::mirrored ? stages : stages * chunks; }
  // The number of chunks that make one full stage: pass times and activations are divided by it.
  int parts() const { return kind == Kind::mirrored ? 1 : chunks; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

struct ChunkPlace {
  int stage, chunk;
  friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

// Layout of a schedule. V schedules have two chunks, whatever `chunks` says; so has DualPipe.
inline Layout layout_of(ScheduleKind schedule, int stages, int chunks) {
  switch (schedule) {
    case ScheduleKind::zb_v:
    case ScheduleKind::v_half:
    case ScheduleKind::v_min:
    case ScheduleKind::dualpipe_v:
      return {Layout::Kind::v, stages, 2};
    case ScheduleKind::dualpipe:
      return {Layout::Kind::mirrored, stages, 2};
    default:
      return {Layout::Kind::loop, stages, chunks};
  }
}

inline int virtual_stage_of(int stage, int chunk, const Layout& layout) {
  if (layout.kind == Layout::Kind::loop) return chunk * layout.stages + stage;
  if (chunk == 0) return stage;
  return (layout.kind == Layout::Kind::v ? 2 * layout.stages : layout.stages) - 1 - stage;
}
inline int virtual_stage_of(int stage, int chunk, int stages) { return chunk * stages + stage; }

// The place of a virtual stage; `direction` chooses the copy of a mirrored model.
inline ChunkPlace place_of(int virtual_stage, const Layout& layout, int direction = 0) {
  const int turn = virtual_stage % layout.stages, chunk = virtual_stage / layout.stages;
  switch (layout.kind) {
    case Layout::Kind::loop:
      return {turn, chunk};
    case Layout::Kind::v:
      return {chunk == 0 ? turn : layout.stages - 1 - turn, chunk};
    case Layout::Kind::mirrored:
      return {direction == 0 ? turn : layout.stages - 1 - turn, direction};
  }
  return {0, 0};
}

// The neighbours of a chunk in the model: its forward waits for the forward of the one before, its
// backward for the backward of the one behind. None: the first, or the last, virtual stage.
inline std::optional<ChunkPlace> before(ChunkPlace place, const Layout& layout) {
  const int v = virtual_stage_of(place.stage, place.chunk, layout);
  if (v == 0) return std::nullopt;
  return place_of(v - 1, layout, place.chunk);
}
inline std::optional<ChunkPlace> behind(ChunkPlace place, const Layout& layout) {
  const int v = virtual_stage_of(place.stage, place.chunk, layout);
  if (v + 1 == layout.virtual_stages()) return std::nullopt;
  return place_of(v + 1, layout, place.chunk);
}

}  // namespace strategies
