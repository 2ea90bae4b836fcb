// SPDX-License-Identifier: Apache-2.0
// The engine alone: ops per second on one core without contention, and a step whose ops share
// links.
#include "sim/engine.hpp"

#include <benchmark/benchmark.h>

#include "sim/contention.hpp"
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

// A folded step of GPT-3 175B on 1,024 GPUs: 16 stages of 3 chunks, 192 microbatches, one class of
// ranks each. Activations and their gradients cross the NICs of both stages. With `shared`, both
// directions use the same links, else each has links of its own; the gradient reductions of chunks
// use those of the forward direction.
class SharedStep {
 public:
  enum class Nics { own, shared };
  static constexpr int stages = 16, chunks = 3, microbatches = 192;
  static constexpr sim::Picoseconds millisecond = 1'000'000'000;

  explicit SharedStep(Nics nics) : nics_(nics) {
    for (int link = 0; link < 4 * stages; ++link) program_.add_link(25e9);
    last_.assign(stages, std::vector<sim::EventId>(chunks, sim::no_event));
    for (int stage = 0; stage < stages; ++stage) {
      traffic_.push_back({pipeline_traffic(stage, next(stage), 0),
                          pipeline_traffic(stage, previous(stage), 2 * stages)});
      reductions_.push_back(traffic({out(stage, 0), in(stage, 0)}, 600e6));
    }
  }

  sim::Program program() {
    const auto forward = pass_of(4 * millisecond), backward = pass_of(8 * millisecond);
    std::vector<sim::EventId> ahead(stages * chunks * microbatches, sim::no_event), back = ahead;
    const auto order =
        strategies::order_of(strategies::ScheduleKind::interleaved, stages, chunks, microbatches);
    strategies::walk(order, chunks, microbatches, [&](int stage, const strategies::Slot& slot) {
      const bool forwards = slot.pass == strategies::Pass::forward;
      auto& mine = forwards ? ahead : back;
      const int here = strategies::virtual_stage_of(stage, slot.chunk, stages);
      const int from = forwards ? here - 1 : here + 1;
      const auto at = [&](int v) {
        return static_cast<std::size_t>(v * microbatches + slot.microbatch);
      };
      const bool first = from < 0 || from == stages * chunks;
      const sim::Participant who{
          sim::ActorId(stage),
          {first ? sim::no_event : send(from % stages, mine[at(from)], forwards), sim::no_event}};
      mine[at(here)] = program_.event(program_.add_pass(forwards ? forward : backward, {&who, 1}));
      last_of(stage, slot.chunk) = mine[at(here)];
    });
    for (int chunk = chunks - 1; chunk >= 0; --chunk)
      for (int stage = 0; stage < stages; ++stage) {
        const sim::Participant who{sim::ActorId(stage), {last_of(stage, chunk), sim::no_event}};
        const auto op =
            program_.add_collective(sim::Lane::data, millisecond / 20, 2, {&who, 1}, {2});
        program_.send_over_links(op, reductions_[static_cast<std::size_t>(stage)]);
      }
    return std::move(program_);
  }

 private:
  static int next(int stage) { return (stage + 1) % stages; }
  static int previous(int stage) { return (stage + stages - 1) % stages; }
  sim::LinkId out(int stage, int block) const {
    return sim::LinkId(stage + (nics_ == Nics::shared ? 0 : block));
  }
  sim::LinkId in(int stage, int block) const {
    return sim::LinkId(stages + stage + (nics_ == Nics::shared ? 0 : block));
  }
  std::uint32_t traffic(std::vector<sim::LinkId> links, double bytes) {
    sim::Traffic traffic{.bytes = bytes, .cap = 24e9};
    for (auto link : links) traffic.links.push_back({link});
    return program_.add_traffic(std::move(traffic));
  }
  std::uint32_t pipeline_traffic(int from, int to, int block) {
    return traffic({out(from, block), in(to, block)}, 6e6);
  }
  sim::TemplateId pass_of(sim::Picoseconds duration) {
    return program_.add_template({.steps = {{.issue = 4'000'000, .duration = duration}}});
  }
  sim::EventId& last_of(int stage, int chunk) {
    return last_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(chunk)];
  }
  sim::EventId send(int from, sim::EventId after, bool forwards) {
    const auto op = program_.add_transfer(
        sim::Op::Kind::transfer, 10'000'000, 1, {sim::ActorId(from), {after, sim::no_event}},
        sim::ActorId(forwards ? next(from) : previous(from)), {1});
    program_.send_over_links(op, traffic_[static_cast<std::size_t>(from)][forwards ? 0 : 1]);
    return program_.event(op, 1);
  }

  Nics nics_;
  sim::Program program_;
  std::vector<std::array<std::uint32_t, 2>> traffic_;  // by stage: towards the next stage, and back
  std::vector<std::uint32_t> reductions_;
  std::vector<std::vector<sim::EventId>> last_;
};

template <SharedStep::Nics nics>
void shared_step(benchmark::State& state) {
  const auto program = SharedStep(nics).program();
  sim::Picoseconds finish = 0;
  for (auto _ : state) finish = sim::run(program).finish;
  state.counters["finish_ms"] = 1e-9 * static_cast<double>(finish);
  state.counters["ops"] = static_cast<double>(program.ops().size());
}

void who_slowed_whom(benchmark::State& state) {
  const auto program = SharedStep(SharedStep::Nics::shared).program();
  const auto trace = sim::run(program);
  for (auto _ : state) benchmark::DoNotOptimize(sim::slowed(program, trace));
}

}  // namespace

BENCHMARK(every_operator)->Arg(1)->Arg(40)->Unit(benchmark::kMillisecond);
BENCHMARK(templates)->Arg(40)->Unit(benchmark::kMillisecond);
BENCHMARK(shared_step<SharedStep::Nics::own>)->Unit(benchmark::kMillisecond);
BENCHMARK(shared_step<SharedStep::Nics::shared>)->Unit(benchmark::kMillisecond);
BENCHMARK(who_slowed_whom)->Unit(benchmark::kMillisecond);
