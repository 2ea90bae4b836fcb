// SPDX-License-Identifier: Apache-2.0
// The places of virtual stages, and the numbers that schedules take.
#include <set>
#include <utility>
#include <vector>

#include "plans/schedules/schedule_layout.hpp"
#include "plans/schedules/schedule_needs.hpp"
#include "tests/catch.hpp"

namespace schedule_layout_spec {

using namespace strategies;
using Kind = Layout::Kind;

namespace {

// The stage of every virtual stage, in the order of the model.
std::vector<int> stages_of(const Layout& layout, int direction = 0) {
  std::vector<int> stages;
  for (int v = 0; v < layout.virtual_stages(); ++v)
    stages.push_back(place_of(v, layout, direction).stage);
  return stages;
}

}  // namespace

TEST_CASE("a model goes round the stages, down and up again, or both ways at once") {
  using Stages = std::vector<int>;
  CHECK(stages_of({Kind::loop, 3, 1}) == Stages{0, 1, 2});
  CHECK(stages_of({Kind::loop, 3, 2}) == Stages{0, 1, 2, 0, 1, 2});
  CHECK(stages_of({Kind::v, 3, 2}) == Stages{0, 1, 2, 2, 1, 0});
  CHECK(stages_of({Kind::mirrored, 4, 2}, 0) == Stages{0, 1, 2, 3});
  CHECK(stages_of({Kind::mirrored, 4, 2}, 1) == Stages{3, 2, 1, 0});
}

TEST_CASE("every chunk of every stage is one virtual stage, and found again from it") {
  for (const auto kind : {Kind::loop, Kind::v, Kind::mirrored})
    for (int stages = 1; stages <= 6; ++stages)
      for (int chunks = 1; chunks <= 3; ++chunks) {
        if (kind != Kind::loop && chunks != 2) continue;
        const Layout layout{kind, stages, chunks};
        INFO(static_cast<int>(kind) << ": " << stages << " x " << chunks);
        std::multiset<int> seen;
        for (int stage = 0; stage < stages; ++stage)
          for (int chunk = 0; chunk < chunks; ++chunk) {
            const int v = virtual_stage_of(stage, chunk, layout);
            seen.insert(v);
            CHECK(place_of(v, layout, chunk) == ChunkPlace{stage, chunk});
            // Neighbours of the model are each other's.
            if (const auto next = behind({stage, chunk}, layout))
              CHECK(before(*next, layout) == ChunkPlace{stage, chunk});
            else
              CHECK(v + 1 == layout.virtual_stages());
          }
        const std::size_t copies = kind == Kind::mirrored ? 2 : 1;
        for (int v = 0; v < layout.virtual_stages(); ++v) CHECK(seen.count(v) == copies);
      }
}

TEST_CASE("schedules take the stages, chunks and microbatches that their order is made for") {
  using enum ScheduleKind;
  struct Case {
    ScheduleKind schedule;
    bool odd_stages;
    std::int64_t least_microbatches;  // of four stages
    bool odd_microbatches;
    std::vector<std::int64_t> chunks;  // of one to three
    std::optional<int> limit;          // microbatches of four stages held at once
  };
  const std::vector<Case> cases{{gpipe, true, 1, true, {1}, {}},
                                {one_f_one_b, true, 1, true, {1}, {}},
                                {interleaved, true, 1, true, {1, 2, 3}, {}},
                                {zb_h1, true, 1, true, {1}, 4},
                                {zb_h2, true, 1, true, {1}, 7},
                                {zb_v, true, 1, true, {2}, 4},
                                {v_half, true, 1, true, {2}, 3},
                                {v_min, true, 1, true, {2}, 2},
                                {dualpipe, false, 8, false, {1}, {}},
                                {dualpipe_v, true, 8, true, {2}, {}}};
  for (const auto& one : cases) {
    INFO(units::word(one.schedule));
    CHECK(takes_stages(one.schedule, 4));
    CHECK(takes_stages(one.schedule, 3) == one.odd_stages);
    CHECK(least_microbatches(one.schedule, 4) == one.least_microbatches);
    CHECK(takes_microbatches(one.schedule, 4, one.least_microbatches));
    CHECK_FALSE(takes_microbatches(one.schedule, 4, one.least_microbatches - 1));
    CHECK(takes_microbatches(one.schedule, 4, one.least_microbatches + 8));
    CHECK(takes_microbatches(one.schedule, 4, one.least_microbatches + 1) ==
          (one.odd_microbatches || one.least_microbatches % 2 == 1));
    std::vector<std::int64_t> chunks;
    for (std::int64_t count = 1; count <= 3; ++count)
      if (takes_chunks(one.schedule, count)) chunks.push_back(count);
    CHECK(chunks == one.chunks);
    CHECK(memory_limit(one.schedule, 4) == one.limit);
    CHECK(is_searched(one.schedule) == one.limit.has_value());
  }
}

}  // namespace schedule_layout_spec
