// SPDX-License-Identifier: Apache-2.0
// Causes of idle time of a schedule's stages: laws over schedules, and cases that a pencil can
// play.
#include <algorithm>
#include <map>
#include <numeric>

#include "forecast/schedule_waits.hpp"
#include "tests/catch.hpp"

namespace schedule_waits_spec {

using namespace strategies;
using forecast::IdleCause, forecast::waits_of;

namespace {

struct Played {
  PipelineRun run;
  sim::Picoseconds makespan = 0;
  std::vector<sim::Picoseconds> idle;  // by stage
};

Played played(ScheduleKind kind, int stages, int chunks, int microbatches, const PassTimes& times,
              const std::vector<double>& slow = {}) {
  const auto layout = layout_of(kind, stages, chunks);
  const auto order = order_of({kind, stages, layout.parts(), microbatches,
                               chunk_times(layout, times, slow), times.latency, std::nullopt});
  Played result{.run = run_pipeline(order, layout, microbatches, times, slow)};
  for (const auto& op : result.run.operations) result.makespan = std::max(result.makespan, op.end);
  result.idle.assign(static_cast<std::size_t>(stages), result.makespan);
  for (const auto& op : result.run.operations)
    if (!op.slot.paired) result.idle[static_cast<std::size_t>(op.stage)] -= op.end - op.start;
  return result;
}

constexpr ScheduleKind kinds[] = {
    ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::zb_h1, ScheduleKind::interleaved,
    ScheduleKind::zb_v,  ScheduleKind::dualpipe,    ScheduleKind::v_half};

}  // namespace

TEST_CASE("bubbles of a schedule sum to each stage's idle time, their causes to the bubble") {
  const auto kind = GENERATE(from_range(std::begin(kinds), std::end(kinds)));
  const auto latency = GENERATE(0, 3);
  const bool slow = GENERATE(false, true);
  const int chunks = kind == ScheduleKind::interleaved ? 2 : 1;
  const auto all = played(kind, 4, chunks, 12, {10, 20, 12, latency},
                          slow ? std::vector<double>{1, 1.5, 1, 1} : std::vector<double>{});
  const auto waits = waits_of(all.run);
  std::vector<sim::Picoseconds> idle(4, 0);
  for (const auto& each : waits.idle) {
    const auto length = each.end_ps - each.start_ps;
    CHECK(length > 0);
    CHECK(std::accumulate(each.by_cause.begin(), each.by_cause.end(), std::int64_t{0}) == length);
    CHECK(each.by_cause[static_cast<std::size_t>(IdleCause::host)] == 0);
    idle[static_cast<std::size_t>(each.stage)] += length;
    if (each.until == forecast::no_slice) continue;
    const auto& next = all.run.operations[each.until];
    CHECK(next.stage == each.stage);
    CHECK(next.start == each.end_ps);
    REQUIRE_FALSE(each.chain.empty());
  }
  CHECK(idle == all.idle);
  sim::Picoseconds path = 0;
  for (const auto& part : waits.critical_path) path += part.end_ps - part.start_ps;
  CHECK(path == all.makespan);
}

// Stage 0:  F0 F1 . . B0 B0 . B1 B1     stage 1:  . F0 B0 B0 F1 B1 B1 . .
TEST_CASE("a bubble of 1F1B waits for the backward pass of the stage behind it") {
  const auto all = played(ScheduleKind::one_f_one_b, 2, 1, 2, {1, 1, 1, 0});
  const auto waits = waits_of(all.run);
  REQUIRE(waits.idle.size() == 4);
  const auto& first = waits.idle[0];
  CHECK(first.stage == 0);
  CHECK(std::pair(first.start_ps, first.end_ps) == std::pair<std::int64_t, std::int64_t>(2, 4));
  REQUIRE_FALSE(first.chain.empty());
  CHECK(first.chain[0].stage == 1);
  CHECK(first.chain[0].name == "backward m0");
  const auto& begun = waits.idle[2];
  CHECK(begun.stage == 1);
  CHECK(begun.cause == IdleCause::warm_up);
  CHECK(begun.chain[0].name == "forward m0");
  CHECK(all.run.operations[begun.until].slot.microbatch == 0);
  CHECK(waits.idle[3].cause == IdleCause::drain);
}

TEST_CASE("a stage that is slow is a straggler to those that wait for it") {
  const auto all = played(ScheduleKind::one_f_one_b, 2, 1, 16, {10, 10, 10, 0}, {1, 2});
  const auto waits = waits_of(all.run, {1, 2});
  std::map<IdleCause, sim::Picoseconds> by_cause;
  for (const auto& each : waits.idle)
    for (std::size_t c = 0; c < forecast::idle_causes; ++c)
      by_cause[static_cast<IdleCause>(c)] += each.by_cause[c];
  CHECK(by_cause[IdleCause::straggler] > by_cause[IdleCause::imbalance]);
  CHECK(by_cause[IdleCause::straggler] > all.idle[0] / 2);
}

TEST_CASE("where messages take long a bubble waits for communication") {
  const auto all = played(ScheduleKind::one_f_one_b, 2, 1, 4, {1, 1, 1, 100});
  sim::Picoseconds sending = 0;
  for (const auto& each : waits_of(all.run).idle)
    sending += each.by_cause[static_cast<std::size_t>(IdleCause::communication)];
  CHECK(sending > all.idle[0]);
}

}  // namespace schedule_waits_spec
