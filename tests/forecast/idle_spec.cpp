// SPDX-License-Identifier: Apache-2.0
// Causes of idle time: laws over random steps, and steps that a pencil can play.
#include <algorithm>
#include <map>
#include <numeric>

#include "forecast/causes.hpp"
#include "forecast/forecast.hpp"
#include "sim/measures.hpp"
#include "strategies/activity.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace idle_spec {

using forecast::Forecast, forecast::Idle, forecast::IdleByCause, forecast::IdleCause;
using forecast::no_slice, forecast::simulate;

namespace {

std::int64_t sum(const IdleByCause& by_cause) {
  return std::accumulate(by_cause.begin(), by_cause.end(), std::int64_t{0});
}

units::Seconds seconds(std::int64_t picoseconds) {
  return {static_cast<double>(picoseconds) * 1e-12};
}

// Every link of the chain ends where the one before it begins; the last began before the idle time.
void check_chain(const Idle& idle) {
  for (std::size_t i = 1; i < idle.chain.size(); ++i)
    CHECK(idle.chain[i].end_ps == idle.chain[i - 1].start_ps);
  if (!idle.chain.empty()) {
    CHECK(idle.chain.back().start_ps <= idle.start_ps);
    CHECK(idle.chain.front().end_ps >= idle.end_ps);
  }
}

void check_idle(const Forecast& f) {
  std::map<int, IdleByCause> by_stage;
  std::map<int, std::int64_t> until;
  for (const auto& idle : f.timeline.idle) {
    CHECK(idle.end_ps > idle.start_ps);
    CHECK(sum(idle.by_cause) == idle.end_ps - idle.start_ps);
    CHECK(std::ranges::min(idle.by_cause) >= 0);
    CHECK(idle.by_cause[static_cast<std::size_t>(idle.cause)] == std::ranges::max(idle.by_cause));
    CHECK(idle.start_ps >= until[idle.stage]);
    until[idle.stage] = idle.end_ps;
    for (std::size_t c = 0; c < forecast::idle_causes; ++c)
      by_stage[idle.stage][c] += idle.by_cause[c];
    if (idle.until != no_slice) {
      CHECK(f.timeline.slices[idle.until].stage == idle.stage);
      CHECK(f.timeline.slices[idle.until].start_ps >= idle.end_ps);
    }
    check_chain(idle);
  }
  for (const auto& stage : f.pipeline.stages) {
    REQUIRE(stage.bubble_by_cause);
    CHECK(*stage.bubble_by_cause == by_stage[stage.stage]);
    CHECK(seconds(sum(*stage.bubble_by_cause)) == stage.bubble);
  }
}

// The stage's bars of computation do not overlap its idle intervals.
void check_apart(const Forecast& f) {
  for (const auto& idle : f.timeline.idle)
    for (const auto& slice : f.timeline.slices)
      if (slice.lane == "compute" && slice.rank == idle.rank)
        CHECK((slice.end_ps <= idle.start_ps || slice.start_ps >= idle.end_ps));
}

void check_path(const Forecast& f) {
  const auto& path = f.timeline.critical_path;
  REQUIRE_FALSE(path.empty());
  for (std::size_t i = 1; i < path.size(); ++i) CHECK(path[i].start_ps == path[i - 1].end_ps);
  CHECK(seconds(path.back().end_ps - path.front().start_ps) == f.step.time);
  for (const auto& part : path) {
    if (part.lane == "host") continue;
    REQUIRE(part.slice != no_slice);  // every rank on the path is drawn
    const auto& slice = f.timeline.slices[part.slice];
    CHECK(slice.stage == part.stage);
    CHECK(slice.rank == part.rank);
    CHECK(slice.start_ps <= part.start_ps);
    CHECK(slice.end_ps >= part.end_ps);
  }
}

void check_memory(const Forecast& f) {
  for (std::size_t s = 0; s < f.memory.stages.size(); ++s) {
    const auto& stage = f.memory.stages[s];
    const auto& peak = f.timeline.memory[f.timeline.peaks[s]];
    CHECK(peak.stage == static_cast<int>(s));
    CHECK(peak.allocated.value == Approx(stage.peak_allocated.value).epsilon(1e-12));
    CHECK(peak.slice < f.timeline.slices.size());
    // Without activations the peak is that of gradients on their way.
    if (peak.activations.value > 0) CHECK(peak.activations == stage.activations);
  }
  for (const auto& sample : f.timeline.memory) {
    const auto& stage = f.memory.stages[static_cast<std::size_t>(sample.stage)];
    CHECK(sample.allocated == stage.weights + stage.optimizer + sample.gradients +
                                  sample.activations + sample.temporary);
  }
}

void check_links(const Forecast& f, bool steps_overlap) {
  const auto& links = f.timeline.link_names;
  std::vector<forecast::LinkLoad> sampled;  // the busiest, at most four of a kind
  for (const auto& link : f.links)
    if (std::ranges::count(sampled, link.kind, &forecast::LinkLoad::kind) < 4 && sampled.size() < 8)
      sampled.push_back(link);
  REQUIRE(links.size() == sampled.size());
  std::vector<double> used(links.size());
  const auto& samples = f.timeline.links;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool more = i + 1 < samples.size() && samples[i + 1].link == samples[i].link;
    if (!more) CHECK(samples[i].utilisation == 0);  // no bytes travel at the end
    if (more)
      used[samples[i].link] +=
          samples[i].utilisation * static_cast<double>(samples[i + 1].time_ps - samples[i].time_ps);
  }
  if (links.empty()) return;
  const double finish = used[0] / f.links[0].utilisation;  // end of the run
  const auto end = static_cast<double>(f.timeline.critical_path.back().end_ps);
  CHECK(finish >= Approx(end).epsilon(1e-9));
  if (!steps_overlap) CHECK(finish == Approx(end).epsilon(1e-9));
  for (std::size_t l = 0; l < links.size(); ++l) {
    CHECK(links[l] == sampled[l].name);
    CHECK(used[l] == Approx(sampled[l].utilisation * finish).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("causes sum to the bubble and the critical path to the step, to the picosecond") {
  const auto seed = GENERATE(range(0u, 150u / tests::fewer));
  std::mt19937 random(seed + 7000);
  const auto scenario = tests::random_scenario(random);
  const auto f = simulate(scenario, {.timeline = true});
  INFO("seed " << seed);
  check_idle(f);
  check_apart(f);
  check_path(f);
  check_memory(f);
  check_links(f, strategies::post_validates(scenario.plan, scenario.software));
}

TEST_CASE("they do whatever is shared, degraded, slow or mixed") {
  const auto seed = GENERATE(range(0u, 150u / tests::fewer));
  std::mt19937 random(seed + 8000);
  const auto f = simulate(tests::rough_scenario(random, seed % 2 == 1), {.timeline = true});
  INFO("seed " << seed);
  check_idle(f);
  check_path(f);
}

TEST_CASE("causes are the same with and without a timeline, folded or not") {
  const auto seed = GENERATE(range(0u, 60u / tests::fewer));
  std::mt19937 random(seed + 9000);
  const auto scenario = tests::rough_scenario(random);
  INFO("seed " << seed);
  const auto drawn = simulate(scenario, {.timeline = true});
  const auto plain = simulate(scenario, {.causes = true});
  const auto full = simulate(scenario, {.full = true, .causes = true});
  CHECK(plain.timeline.slices.empty());
  for (std::size_t s = 0; s < plain.pipeline.stages.size(); ++s) {
    CHECK(plain.pipeline.stages[s].bubble_by_cause == drawn.pipeline.stages[s].bubble_by_cause);
    CHECK(plain.pipeline.stages[s].bubble_by_cause == full.pipeline.stages[s].bubble_by_cause);
    CHECK_FALSE(simulate(scenario).pipeline.stages[s].bubble_by_cause);
  }
}

namespace {

constexpr std::int64_t tick = 1000;  // picoseconds

// Two stages of one GPU each play two microbatches in 1F1B order; a forward pass takes one tick, a
// backward pass two, `slow` times that on stage 1, and a message `comm`.
struct TwoStages {
  double slow = 1;
  std::int64_t comm = 0;
  bool straggles = true;  // stage 1's GPU is slow; false: its passes have more to compute
};

struct Played {
  std::vector<Idle> idle;
  forecast::Timeline timeline;
};

Played explained(forecast::Scenario scenario, strategies::Lowered& lowered) {
  const auto trace = sim::run(lowered.program);
  sim::Waits waits;
  sim::measure(lowered.program, trace, sim::Period::makespan, &waits);
  forecast::Memory memory;
  memory.stages.resize(static_cast<std::size_t>(scenario.plan.pipeline));
  auto drawn = forecast::timeline_of(scenario, lowered, trace, waits, memory, {});
  const forecast::Played played{.program = lowered.program,
                                .actors = lowered.actors,
                                .trace = trace,
                                .waits = waits,
                                .stages = static_cast<std::size_t>(scenario.plan.pipeline),
                                .slice_of = &drawn.slice_of};
  auto idle = forecast::idle_of(played);
  drawn.timeline.critical_path = critical_path_of(played);
  return {std::move(idle), std::move(drawn.timeline)};
}

Played played(const TwoStages& world) {
  using namespace strategies;
  Lowered lowered;
  auto& program = lowered.program;
  for (int stage = 0; stage < 2; ++stage)
    lowered.actors.push_back({.stage = stage,
                              .rank = stage,
                              .gpu = {0, stage == 1 && world.straggles ? world.slow : 1}});
  const auto pass = [&](int stage, LabelKind kind, int microbatch, sim::EventId after) {
    const double ticks = (kind == label_forward ? 1 : 2) * (stage == 1 ? world.slow : 1);
    const auto body = program.add_template(
        {.steps = {{.duration = static_cast<sim::Picoseconds>(ticks * tick)}}});
    const sim::Participant who{sim::ActorId{static_cast<std::uint32_t>(stage)},
                               {after, sim::no_event}};
    return program.event(program.add_pass(body, {&who, 1}, {kind, -1, microbatch}));
  };
  const auto send = [&](int from, LabelKind kind, int microbatch, sim::EventId after) {
    return program.event(
        program.add_transfer(
            sim::Op::Kind::transfer, world.comm * tick, pipeline_comm,
            {sim::ActorId{static_cast<std::uint32_t>(from)}, {after, sim::no_event}},
            sim::ActorId{static_cast<std::uint32_t>(1 - from)}, {kind, -1, microbatch}),
        1);
  };
  const auto first = pass(0, label_forward, 0, sim::no_event);
  const auto to_1 = send(0, label_send_forward, 0, first);
  const auto second = pass(0, label_forward, 1, sim::no_event);
  const auto also_to_1 = send(0, label_send_forward, 1, second);
  pass(1, label_forward, 0, to_1);
  const auto back = send(1, label_send_backward, 0, pass(1, label_backward, 0, sim::no_event));
  pass(1, label_forward, 1, also_to_1);
  const auto also_back = send(1, label_send_backward, 1, pass(1, label_backward, 1, sim::no_event));
  pass(0, label_backward, 0, back);
  pass(0, label_backward, 1, also_back);
  forecast::Scenario scenario;
  scenario.plan.pipeline = 2;
  return explained(scenario, lowered);
}

// Idle intervals in words, "0 2-4 warm-up 2": stage, interval and the ticks of its cause.
std::vector<std::string> told(const std::vector<Idle>& found) {
  std::vector<std::string> lines;
  const auto ticks = [](std::int64_t ps) {
    auto text = std::to_string(ps / tick);
    if (ps % tick != 0) text += "." + std::to_string(ps % tick * 10 / tick);
    return text;
  };
  for (const auto& idle : found) {
    auto line = std::to_string(idle.stage) + " " + ticks(idle.start_ps) + "-" + ticks(idle.end_ps);
    for (std::size_t c = 0; c < forecast::idle_causes; ++c)
      if (idle.by_cause[c] > 0)
        line +=
            " " + std::string(to_text(static_cast<IdleCause>(c))) + " " + ticks(idle.by_cause[c]);
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> names(const std::vector<forecast::Awaited>& chain) {
  std::vector<std::string> found;
  for (const auto& link : chain)
    found.push_back("stage " + std::to_string(link.stage) + " " +
                    (link.lane == "host" ? "host" : link.name));
  return found;
}

using Lines = std::vector<std::string>;

}  // namespace

// stage 0: F0 F1 .. .. B0 B0 .. B1 B1        stage 1: .. F0 B0 B0 F1 B1 B1 .. ..
TEST_CASE("even stages are idle while the pipeline fills and drains, for (p - 1)(F + B) each") {
  const auto [idle, timeline] = played({});
  CHECK(told(idle) ==
        Lines{"0 2-4 warm-up 2", "0 6-7 drain 1", "1 0-1 warm-up 1", "1 7-9 drain 2"});
  CHECK(names(idle[0].chain) == Lines{"stage 1 backward m0"});
  CHECK(timeline.slices[idle[0].until].name == "backward m0");
  CHECK(idle[3].until == no_slice);
  CHECK(names(idle[3].chain) == Lines{"stage 0 backward m1"});
  CHECK(names(timeline.critical_path) == Lines{"stage 0 forward m0", "stage 1 forward m0",
                                               "stage 1 backward m0", "stage 1 forward m1",
                                               "stage 1 backward m1", "stage 0 backward m1"});
}

// Stage 1 takes twice as long: F0 1-3, B0 3-7, F1 7-9, B1 9-13. Half of that is the straggler's.
TEST_CASE("a straggler causes the time that its passes take longer than they would") {
  const auto idle = played({.slow = 2}).idle;
  CHECK(told(idle) == Lines{"0 2-7 warm-up 2.5 straggler 2.5", "0 9-13 drain 2 straggler 2",
                            "1 0-1 warm-up 1", "1 13-15 drain 2"});
  CHECK(names(idle[0].chain) == Lines{"stage 1 backward m0", "stage 1 forward m0"});
  CHECK(idle[0].cause == IdleCause::warm_up);
}

// The mean stage takes 1.5 forward and 3 backward, stage 1 takes 2 and 4: a third of the mean too
// much, a quarter of its own.
TEST_CASE("a stage with more to do causes imbalance for its time beyond the mean stage's") {
  CHECK(told(played({.slow = 2, .straggles = false}).idle) ==
        Lines{"0 2-7 warm-up 3.7 imbalance 1.2", "0 9-13 drain 3 imbalance 1", "1 0-1 warm-up 1",
              "1 13-15 drain 2"});
}

// Messages take 3: F0 arrives at 4 and runs 4-5, B0 5-7, and its gradients arrive at 10. The
// gradients of B1, sent after them, arrive at 13. A wait for a message of the stage itself is
// exposed communication, no bubble.
TEST_CASE("a slow link causes the time that other stages lose to its messages") {
  const auto idle = played({.comm = 3}).idle;
  CHECK(told(idle) == Lines{"0 2-7 warm-up 3 communication 2", "1 0-1 warm-up 1",
                            "1 10-15 drain 2 communication 3"});
  CHECK(names(idle[0].chain) == Lines{"stage 1 send gradients m0", "stage 1 backward m0",
                                      "stage 1 forward m0", "stage 0 send activations m0"});
}

// Two replicas of one stage compute for 3 and for 5 ticks and then sum their gradients in 1.
TEST_CASE("a rank that waits at a collective for another one of its stage waits for a straggler") {
  using namespace strategies;
  Lowered lowered;
  std::vector<sim::Participant> who;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    lowered.actors.push_back({.stage = 0, .rank = rank});
    const auto body =
        lowered.program.add_template({.steps = {{.duration = (3 + 2 * rank) * tick}}});
    const sim::Participant one{sim::ActorId{rank}};
    const auto op = lowered.program.add_pass(body, {&one, 1}, {label_backward, -1, 0});
    who.push_back({sim::ActorId{rank}, {lowered.program.event(op), sim::no_event}});
  }
  lowered.program.add_collective(sim::Lane::data, tick, data_comm, who, {label_reduce_gradients});
  const auto [idle, timeline] = explained({}, lowered);
  CHECK(told(idle) == Lines{"0 3-5 straggler 2"});
  CHECK(idle[0].chain[0].rank == 1);
  CHECK(timeline.slices[idle[0].until].name == "reduce gradients");
  CHECK(names(timeline.critical_path) == Lines{"stage 0 backward m0", "stage 0 reduce gradients"});
  CHECK(timeline.critical_path[0].rank == 1);
}

// Two replicas have two stages, whose forward passes take 1 and 2 ticks. The message to rank 1
// takes no time, the one to rank 2 three ticks: rank 1 computes 1-3, rank 2 computes 4-6, and both
// sum their gradients.
TEST_CASE("a rank that waits for one of its stage that a slow link made late waits for the link") {
  using namespace strategies;
  Lowered lowered;
  auto& program = lowered.program;
  for (std::uint32_t actor = 0; actor < 4; ++actor)
    lowered.actors.push_back({.stage = actor % 3 == 0 ? 0 : 1, .rank = actor});
  const auto pass = [&](std::uint32_t actor, sim::Picoseconds ticks, sim::EventId after) {
    const auto body = program.add_template({.steps = {{.duration = ticks * tick}}});
    const sim::Participant who{sim::ActorId{actor}, {after, sim::no_event}};
    return program.event(program.add_pass(body, {&who, 1}, {label_forward, -1, 0}));
  };
  std::vector<sim::Participant> who;
  for (const auto& [from, to, comm] : {std::tuple(0u, 1u, 0), std::tuple(3u, 2u, 3)}) {
    const auto sent =
        program.add_transfer(sim::Op::Kind::transfer, comm * tick, pipeline_comm,
                             {sim::ActorId{from}, {pass(from, 1, sim::no_event), sim::no_event}},
                             sim::ActorId{to}, {label_send_forward, -1, 0});
    who.push_back({sim::ActorId{to}, {pass(to, 2, program.event(sent, 1)), sim::no_event}});
  }
  program.add_collective(sim::Lane::data, tick, data_comm, who, {label_reduce_gradients});
  forecast::Scenario scenario;
  scenario.plan.pipeline = 2;
  const auto idle = explained(scenario, lowered).idle;
  REQUIRE(idle.size() == 3);
  CHECK(told({idle[2]}) == Lines{"1 3-6 communication 3"});
  CHECK(names(idle[2].chain) == Lines{"stage 1 forward m0", "stage 0 send activations m0"});
}

// Stages 2 and 3 wait for stage 1, which waits itself: the cause is stage 0, which is slower than
// the head.
TEST_CASE("a stage that waits for one that waits for a straggler waits for the straggler") {
  auto scenario = tests::scenario_under({.pipeline = 4}, 32);
  const auto idle_share = [&](IdleCause cause, std::size_t stage) {
    const auto f = simulate(scenario, {.causes = true});
    const auto& by_cause = *f.pipeline.stages[stage].bubble_by_cause;
    return static_cast<double>(by_cause[static_cast<std::size_t>(cause)]) /
           static_cast<double>(sum(by_cause));
  };
  for (std::size_t stage = 1; stage < 4; ++stage)
    CHECK(idle_share(IdleCause::straggler, stage) == 0);
  scenario.cluster.stragglers = {{{0}, 100.0}};
  for (std::size_t stage = 1; stage < 4; ++stage)
    CHECK(idle_share(IdleCause::straggler, stage) > 0.7);
}

}  // namespace idle_spec
