// SPDX-License-Identifier: Apache-2.0
// The engine alone: ops per second on one core without contention.
#include "sim/engine.hpp"

#include <benchmark/benchmark.h>

#include "strategies/pipeline.hpp"

namespace {

// A 1F1B pipeline of 16 stages whose every pass has `steps` operators.
sim::Program pipeline_program(int microbatches, int steps) {
  constexpr int stages = 16;
  const auto order =
      strategies::order_of(strategies::ScheduleKind::one_f_one_b, stages, 1, microbatches);
  sim::Program program;
  const auto body = program.add_template(
      {.steps = std::vector<sim::Step>(static_cast<std::size_t>(steps),
                                       sim::Step{.issue = 4, .duration = 10})});
  std::vector<sim::EventId> forward(static_cast<std::size_t>(stages * microbatches));
  auto backward = forward;
  strategies::walk(order, 1, microbatches, [&](int stage, const strategies::Slot& slot) {
    const bool ahead = slot.pass == strategies::Pass::forward;
    auto& mine = ahead ? forward : backward;
    const int from = ahead ? stage - 1 : stage + 1;
    const auto at = [&](int s) {
      return static_cast<std::size_t>(s * microbatches + slot.microbatch);
    };
    auto after = sim::no_event;
    if (from >= 0 && from < stages)
      after =
          program.event(program.add_transfer(sim::Op::Kind::transfer, 5, 1,
                                             {sim::ActorId(from), {mine[at(from)], sim::no_event}},
                                             sim::ActorId(stage)),
                        1);
    const sim::Participant who{sim::ActorId(stage), {after, sim::no_event}};
    mine[at(stage)] = program.event(program.add_pass(body, {&who, 1}));
  });
  return program;
}

void play(benchmark::State& state, sim::Detail detail) {
  const auto program = pipeline_program(1000, static_cast<int>(state.range(0)));
  std::int64_t steps = 0;
  for (auto _ : state) steps += sim::run(program, detail).steps;
  state.counters["ops/s"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}

void every_operator(benchmark::State& state) { play(state, sim::Detail::every_step); }
void templates(benchmark::State& state) { play(state, sim::Detail::templates); }

}  // namespace

BENCHMARK(every_operator)->Arg(1)->Arg(40)->Unit(benchmark::kMillisecond);
BENCHMARK(templates)->Arg(40)->Unit(benchmark::kMillisecond);
