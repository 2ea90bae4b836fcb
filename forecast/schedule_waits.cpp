// SPDX-License-Identifier: Apache-2.0
#include "forecast/schedule_waits.hpp"

#include <algorithm>
#include <cstdint>

#include "forecast/causes.hpp"

namespace forecast {
namespace {

std::vector<strategies::ActorFacts> stages_of(const strategies::PipelineRun& run,
                                              const std::vector<double>& slow) {
  std::vector<strategies::ActorFacts> stages(run.program.actors());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    stages[s].stage = static_cast<int>(s);
    stages[s].rank = static_cast<std::int64_t>(s);
    if (s < slow.size()) stages[s].gpu.slowdown = slow[s];
  }
  return stages;
}

// Returns all times between passes: in a schedule a stage is idle while its input is on the way.
std::vector<sim::Idle> gaps_of(const strategies::PipelineRun& run) {
  sim::Picoseconds first = INT64_MAX, last = 0;
  for (const auto& op : run.operations) {
    first = std::min(first, op.start);
    last = std::max(last, op.end);
  }
  std::vector<sim::Idle> gaps;
  const auto add = [&](int stage, sim::Picoseconds from, sim::Picoseconds to, sim::EventId until) {
    if (to > from) gaps.push_back({sim::ActorId(stage), from, to, until});
  };
  for (std::size_t i = 0; i < run.operations.size(); ++i) {
    const auto& op = run.operations[i];
    const bool begins = i == 0 || run.operations[i - 1].stage != op.stage;
    const bool ends = i + 1 == run.operations.size() || run.operations[i + 1].stage != op.stage;
    add(op.stage, begins ? first : run.operations[i - 1].end, op.start, op.event);
    if (ends) add(op.stage, op.end, last, sim::no_event);
  }
  return gaps;
}

}  // namespace

ScheduleWaits waits_of(const strategies::PipelineRun& run, const std::vector<double>& slow) {
  const auto stages = stages_of(run, slow);
  std::vector<std::size_t> slice_of(run.trace.start.size(), no_slice);
  for (std::size_t i = 0; i < run.operations.size(); ++i)
    slice_of[static_cast<std::size_t>(run.operations[i].event)] = i;
  sim::Waits waits;
  sim::measure(run.program, run.trace, sim::Period::makespan, &waits);
  waits.idle = gaps_of(run);
  const bool chunks = std::ranges::any_of(
      run.operations, [](const auto& operation) { return operation.slot.chunk > 0; });
  const Played played{.program = run.program,
                      .actors = stages,
                      .trace = run.trace,
                      .waits = waits,
                      .stages = stages.size(),
                      .chunks = chunks,
                      .slice_of = &slice_of};
  return {idle_of(played), critical_path_of(played)};
}

}  // namespace forecast
