// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/timetable.hpp"
#include "search/solvers/trellis.hpp"
#include "strategies/pipeline.hpp"
#include "tests/catch.hpp"
#include "tests/search/pipelines.hpp"

namespace timetable_spec {

using namespace search;
using namespace pipelines;

namespace {

struct Case {
  ScheduleKind schedule;
  int stages, chunks, microbatches;
};
const std::vector<Case> cases{
    {ScheduleKind::gpipe, 3, 1, 5},       {ScheduleKind::one_f_one_b, 4, 1, 6},
    {ScheduleKind::interleaved, 3, 2, 6}, {ScheduleKind::zb_h1, 3, 1, 7},
    {ScheduleKind::zb_v, 3, 2, 6},        {ScheduleKind::dualpipe, 4, 1, 8},
    {ScheduleKind::dualpipe_v, 2, 2, 6}};

std::vector<StageTimes> random_times(std::mt19937& random, int stages) {
  const auto draw = [&] { return static_cast<Picoseconds>(1 + random() % 9); };
  std::vector<StageTimes> times;
  for (int i = 0; i < stages; ++i) times.push_back({draw(), draw(), draw()});
  return times;
}

Picoseconds longest(const Trellis& trellis, const std::vector<StageTimes>& times,
                    Picoseconds latency) {
  std::vector<Picoseconds> at{0};
  for (std::size_t v = 0; v < times.size(); ++v) {
    std::vector<Picoseconds> next(trellis.states[v + 1], 0);
    for (const auto& arc : trellis.arcs[v])
      next[arc.to] = std::max(next[arc.to], at[arc.from] + time_of(arc.visits, times[v], latency));
    at = next;
  }
  return at.front();
}

}  // namespace

TEST_CASE("four equal stages of 1F1B with 8 microbatches take 8 + 3 times forward + backward") {
  const Timetable table(strategies::order_of(ScheduleKind::one_f_one_b, 4, 1, 8),
                        {Layout::Kind::loop, 4, 1}, 8, 0);
  const std::vector<StageTimes> stages(4, {1, 1, 1});
  CHECK(table.makespan(stages) == (8 + 3) * 3);
  CHECK(length(table.critical_path(stages), stages, 0) == 33);
}

TEST_CASE("schedules take as long as when their passes are swept over until nothing moves") {
  std::mt19937 random(4);
  for (const auto& c : cases)
    for (const Picoseconds latency : {0, 3}) {
      const auto layout = strategies::layout_of(c.schedule, c.stages, c.chunks);
      const auto order = strategies::order_of(c.schedule, c.stages, c.chunks, c.microbatches);
      const Timetable table(order, layout, c.microbatches, latency);
      for (int trial = 0; trial < 20; ++trial) {
        const auto times = random_times(random, layout.virtual_stages());
        const auto makespan = table.makespan(times);
        CHECK(makespan == slow_makespan(order, layout, times, latency));
        CHECK(length(table.critical_path(times), times, latency) == makespan);
      }
    }
}

TEST_CASE("paths found for some times bound the step from below for all others") {
  std::mt19937 random(5);
  for (const auto& c : cases) {
    const auto layout = strategies::layout_of(c.schedule, c.stages, c.chunks);
    const Timetable table(strategies::order_of(c.schedule, c.stages, c.chunks, c.microbatches),
                          layout, c.microbatches, 2);
    auto paths = table.device_paths(random_times(random, layout.virtual_stages()));
    for (int i = 0; i < 5; ++i)
      paths.push_back(table.critical_path(random_times(random, layout.virtual_stages())));
    for (int trial = 0; trial < 20; ++trial) {
      const auto times = random_times(random, layout.virtual_stages());
      Picoseconds most = 0;
      for (const auto& path : paths) most = std::max(most, length(path, times, 2));
      CHECK(most <= table.makespan(times));
      CHECK(longest(fold(paths), times, 2) == most);
    }
  }
}

TEST_CASE("the device paths of 1F1B fold into a handful of states per stage") {
  const Timetable table(strategies::order_of(ScheduleKind::one_f_one_b, 16, 1, 64),
                        {Layout::Kind::loop, 16, 1}, 64, 5);
  const auto trellis = fold(table.device_paths(std::vector<StageTimes>(16, {10, 10, 10})));
  CHECK(*std::ranges::max_element(trellis.states) <= 6);
}

}  // namespace timetable_spec
