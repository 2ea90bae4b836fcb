// SPDX-License-Identifier: Apache-2.0
// DualPipe in a step, and passes that run beside each other.
#include <algorithm>
#include <map>
#include <random>

#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/walk.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/groups.hpp"
#include "tests/strategies/recorded.hpp"
#include "tests/strategies/small_world.hpp"

namespace pairs_spec {

using namespace strategies;

namespace {

// A world in which every kernel takes `ticks`, exchanges between context-parallel ranks take
// `exchange` ticks, and other collectives as many as they move bytes per rank of a large group.
struct World : tests::World {
  double ticks = 1000, exchange = 0;
  mutable int most_ranks = 0;  // of the groups that reduce gradients

  World() {
    model.layers = 4;
    training.global_batch = 8;
    software.gradient_precision = units::Precision::bf16;
    software.kernels.attention = model::AttentionKernel::flash;
  }
  Lowered lowered() const {
    using topology::Collective;
    const auto collective = [this](Collective kind, double bytes,
                                   const topology::GroupShape& group) {
      if (kind == Collective::all_to_all) return exchange;
      if (bytes > 1e3) most_ranks = std::max(most_ranks, group.ranks);
      return tests::sent(kind, bytes, group);
    };
    return tests::World::lowered(
        tests::costs_of([this](const units::Kernel&) { return ticks; }, collective));
  }
};

struct Played {
  Lowered step;
  sim::Trace trace;
  // The latest end of a pass other than the optimizer's, in ticks.
  sim::Picoseconds drained() const {
    sim::Picoseconds latest = 0;
    for (std::size_t i = 0; i < step.program.ops().size(); ++i)
      if (step.program.labels()[i].kind <= label_backward_weight) {
        const auto& op = step.program.ops()[i];
        for (auto event = op.first; event < op.first + op.count; ++event)
          latest = std::max(latest, trace.end[event]);
      }
    return latest;
  }
  int count(LabelKind kind) const {
    return static_cast<int>(
        std::ranges::count(step.program.labels(), kind, [](const auto& l) { return l.kind; }));
  }
};

Played played(const World& world) {
  Played result{world.lowered(), {}};
  result.trace = sim::run(result.step.program);
  return result;
}

sim::Picoseconds work(const Played& run, std::uint32_t actor) {
  sim::Picoseconds sum = 0;
  for (std::size_t i = 0; i < run.step.program.ops().size(); ++i) {
    const auto& op = run.step.program.ops()[i];
    if (run.step.program.labels()[i].kind > label_backward_weight) continue;
    for (std::uint32_t p = 0; p < op.count; ++p)
      if (static_cast<std::uint32_t>(run.step.program.participants()[op.first + p].actor) == actor)
        sum += sim::spent_alone(run.step.program.body(run.step.program.body_of(op, p))).total();
  }
  return sum;
}

}  // namespace

TEST_CASE("DualPipe's stages s and p - 1 - s hold the same parameters and share their states") {
  Plan plan{
      .tensor = 2, .pipeline = 4, .data = 3, .context = 2, .schedule = ScheduleKind::dualpipe};
  const auto order = GENERATE(0, 1, 2);
  if (order == 1)
    plan.rank_order = {Degree::pipeline, Degree::data, Degree::tensor, Degree::context};
  if (order == 2)
    plan.rank_order = {Degree::data, Degree::tensor, Degree::pipeline, Degree::context};
  const Placement placement(plan);
  CHECK(placement.sharers() == 2 * 3 * 2);
  for (std::int64_t rank = 0; rank < placement.ranks(); ++rank) {
    const auto where = placement.at(rank);
    const auto group = tests::data_group(placement, rank);
    CHECK(std::ranges::is_sorted(group));
    CHECK(placement.rank_of_sharer(placement.index_of_sharer(where), where) == rank);
    auto mirror = where;
    mirror.pipeline = 3 - where.pipeline;
    CHECK(tests::data_group(placement, placement.rank_of(mirror)) == group);
    for (auto member : group) {
      const auto there = placement.at(member);
      CHECK((there.pipeline == where.pipeline || there.pipeline == mirror.pipeline));
      CHECK(there.tensor == where.tensor);
    }
  }
}

TEST_CASE("DualPipe on two stages has no bubble: both do the same at every instant") {
  World world;
  world.plan = {.pipeline = 2, .schedule = ScheduleKind::dualpipe};
  const auto run = played(world);
  CHECK(work(run, 0) == work(run, 1));
  CHECK(run.drained() == work(run, 0));
}

TEST_CASE("DualPipe's gradients of a stage meet over both of its copies: once for each half") {
  World world;
  world.plan = {.pipeline = 4, .data = 2, .schedule = ScheduleKind::dualpipe};
  world.training.global_batch = 16;
  world.plan.overlap.data = GENERATE(false, true);
  world.plan.zero = GENERATE(0, 1);
  const auto run = played(world);
  CHECK(world.most_ranks == 4);
  CHECK(run.step.shards.with_layer == (world.plan.zero == 0 ? 1 : 4));
  // Each rank moves its gradients of two bytes twice (a reduction and its echo), rounded to whole
  // ticks.
  const auto& program = run.step.program;
  std::vector<double> bytes(program.actors());
  for (std::size_t i = 0; i < program.ops().size(); ++i) {
    const auto& op = program.ops()[i];
    const auto kind = program.labels()[i].kind;
    if (kind != label_reduce_gradients && kind != label_gather_parameters) continue;
    for (auto event = op.first; event < op.first + op.count; ++event)
      bytes[static_cast<std::size_t>(program.participants()[event].actor)] +=
          static_cast<double>(op.duration);
  }
  for (std::size_t actor = 0; actor < bytes.size(); ++actor)
    CHECK(bytes[actor] ==
          Approx(2 * 2 * run.step.actors[actor].held.parameters.all()).epsilon(1e-4));
  CHECK(run.count(label_tied_embedding) == 0);
}

TEST_CASE("DualPipe holds both halves on every device: the parameters of two 1F1B stages") {
  World world;
  world.plan = {.pipeline = 4};
  const auto once = world.lowered();
  world.plan.schedule = ScheduleKind::dualpipe;
  const auto twice = world.lowered();
  for (std::size_t s = 0; s < 4; ++s) {
    CHECK(twice.actors[s].held.parameters.all() ==
          once.actors[s].held.parameters.all() + once.actors[3 - s].held.parameters.all());
    CHECK(twice.actors[s].layers == 2);
  }
}

TEST_CASE("DualPipe's ends hold the embedding once, for look-up, head and prediction modules") {
  World world;
  world.plan = {.pipeline = 4, .data = 2, .schedule = ScheduleKind::dualpipe};
  world.training.global_batch = 16;
  world.model.tied_embeddings = GENERATE(false, true);
  world.model.multi_token_prediction = GENERATE(0, 1);
  const auto run = played(world);
  double held = 0;
  for (const auto& actor : run.step.actors) held += actor.held.parameters.all();
  CHECK(held ==
        2.0 * static_cast<double>(parameters(world.model) + prediction_parameters(world.model)));
  CHECK(run.count(label_tied_embedding) == 0);
}

TEST_CASE("DualPipe sends every microbatch over every edge once each way, from either end") {
  World world;
  world.plan = {.pipeline = 4, .schedule = ScheduleKind::dualpipe};
  const auto run = played(world);
  CHECK(run.count(label_send_forward) == 8 * 3);
  CHECK(run.count(label_send_backward) == 8 * 3);
  std::map<std::pair<int, int>, int> first;  // sends of microbatches 0 and 4, by (stage, chunk)
  for (std::size_t i = 0; i < run.step.program.ops().size(); ++i) {
    const auto& label = run.step.program.labels()[i];
    if (label.kind != label_send_forward || label.microbatch % 4 != 0) continue;
    const auto& from = run.step.program.participants()[run.step.program.ops()[i].first];
    ++first[{static_cast<int>(from.actor), label.chunk}];
  }
  CHECK(first == std::map<std::pair<int, int>, int>{
                     {{0, 0}, 1}, {{1, 0}, 1}, {{2, 0}, 1}, {{3, 1}, 1}, {{2, 1}, 1}, {{1, 1}, 1}});
}

TEST_CASE("every activation that a DualPipe pass keeps is freed, with every ZeRO stage") {
  World world;
  const auto v = GENERATE(false, true);
  world.plan = {.pipeline = 2,
                .data = 2,
                .schedule = v ? ScheduleKind::dualpipe_v : ScheduleKind::dualpipe,
                .virtual_stages = v ? 2 : 1,
                .zero = GENERATE(0, 1, 2, 3)};
  world.training.global_batch = 16;
  for (const auto& held : sim::memory_held(world.lowered().program)) CHECK(held.left == 0);
}

TEST_CASE("in a pair the exchanges of one pass travel while the other pass computes") {
  // Two stages have one layer each and run eight microbatches: the order has 8 forwards and 8
  // backwards, of which m - 3 = 5 of each are paired. Ulysses exchanges q, k and v before every
  // attention core and its output after it, which is four times.
  World world;
  world.model.layers = 2;
  world.plan = {.pipeline = 2,
                .context = 2,
                .context_method = ContextMethod::ulysses,
                .schedule = ScheduleKind::dualpipe};
  world.plan.rank_order = {Degree::tensor, Degree::pipeline, Degree::context, Degree::data};
  const auto idle = played(world).drained();
  world.exchange = 7;  // less than a kernel
  CHECK(played(world).drained() - idle == 7 * 4 * (3 + 3));
  // An exchange is exposed where it is longer than the other pass's computation beside it.
  world.exchange = 1e6;
  CHECK(played(world).drained() - idle > 7 * 4 * (3 + 3));
}

TEST_CASE("exchanges slow the computation that covers them, in pairs too") {
  World world;
  world.model.layers = 2;
  world.plan = {.pipeline = 2,
                .context = 2,
                .context_method = ContextMethod::ulysses,
                .schedule = ScheduleKind::dualpipe};
  world.exchange = 500;
  const auto free = played(world).drained();
  world.software.interference = 0.2;
  const auto slowed = played(world).drained();
  // Each of the five pairs computes 0.2 x 500 ticks longer for each of its eight exchanges.
  CHECK(slowed - free == Approx(5 * 8 * 100).epsilon(0.01));
}

TEST_CASE(
    "layer by layer a pair fills the memory it frees: one layer kept beside the need of two") {
  World world;
  const auto step = world.lowered();
  const std::vector<Block> layers(4);
  const auto& cost = step.writer->cost(layers.front());
  const auto pair = step.writer->pair_memory(layers, layers);
  CHECK(pair.held == 0);
  CHECK(pair.peak == cost.kept + cost.largest_growing + cost.gradients_freeing);
  // All forward layers stay where no backward layer frees memory.
  CHECK(step.writer->pair_memory(layers, {}).held == 4 * cost.kept);
  CHECK(step.writer->pair_memory({}, layers).held == -4 * cost.kept);
  CHECK(step.writer->pair_memory({}, layers).peak == cost.gradients_freeing);
}

TEST_CASE("a pair needs the memory of both of its passes besides their kept tensors") {
  World world;
  world.plan = {.pipeline = 2, .schedule = ScheduleKind::dualpipe};
  const auto step = world.lowered();
  std::int64_t most = 0, paired = 0;
  for (std::size_t i = 0; i < step.program.ops().size(); ++i) {
    const auto kind = step.program.labels()[i].kind;
    if (kind != label_backward) continue;
    const auto peak = step.program.body(sim::TemplateId{step.program.ops()[i].body}).peak;
    const bool alone = step.program.body(sim::TemplateId{step.program.ops()[i].body}).drains;
    (alone ? most : paired) = std::max(alone ? most : paired, peak);
  }
  CHECK(most > 0);
  CHECK(paired > most);
}

TEST_CASE("1F1B in pairs, by hand: two warm-up forwards more per stage to come, and one") {
  constexpr auto F = Pass::forward, B = Pass::backward;
  CHECK(interleaved_pairs(1, 2, 1, 4) == std::vector<Slot>{{F, 0, 0},
                                                           {F, 1, 0, true},
                                                           {B, 0, 0},
                                                           {F, 2, 0, true},
                                                           {B, 1, 0},
                                                           {F, 3, 0, true},
                                                           {B, 2, 0},
                                                           {B, 3, 0}});
  CHECK(interleaved_pairs(0, 2, 1, 4) == std::vector<Slot>{{F, 0, 0},
                                                           {F, 1, 0},
                                                           {F, 2, 0},
                                                           {F, 3, 0, true},
                                                           {B, 0, 0},
                                                           {B, 1, 0},
                                                           {B, 2, 0},
                                                           {B, 3, 0}});
}

TEST_CASE("pairs of 1F1B and interleaved 1F1B never wait for ever and hold one chunk more") {
  const auto seed = GENERATE(range(0u, 100u));
  std::mt19937 random(seed);
  const auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const int p = pick(1, 8), chunks = pick(1, 4), m = pick(1, 40);
  const auto kind = chunks == 1 ? ScheduleKind::one_f_one_b : ScheduleKind::interleaved;
  const auto order =
      order_of({.schedule = kind, .stages = p, .chunks = chunks, .microbatches = m, .pairs = true});
  INFO(p << " stages, " << chunks << " chunks, " << m << " microbatches");
  CHECK(can_run(order, layout_of(kind, p, chunks), m));
  for (int stage = 0; stage < p; ++stage) {
    const auto& slots = order[static_cast<std::size_t>(stage)];
    CHECK(slots.size() == static_cast<std::size_t>(2 * m * chunks));
    const auto alone = interleaved(stage, p, chunks, m);
    CHECK(peak_in_flight(slots, 1) <= peak_in_flight(alone, 1) + 1);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].paired) CHECK(slots[i + 1].pass == Pass::backward);
  }
}

TEST_CASE("pairs follow each other without a gap once the pipeline is full") {
  const int p = GENERATE(1, 2, 4, 6), chunks = GENERATE(1, 2);
  const auto kind = chunks == 1 ? ScheduleKind::one_f_one_b : ScheduleKind::interleaved;
  const auto layout = layout_of(kind, p, chunks);
  const auto bubble = [&](int m) {
    const auto order = order_of(
        {.schedule = kind, .stages = p, .chunks = chunks, .microbatches = m, .pairs = true});
    const auto run = run_pipeline(order, layout, m, {12, 12, 12, 0});
    return recorded::length_of(run, p).makespan - 36 * m;
  };
  CHECK(bubble(4 * p) == bubble(12 * p));
}

TEST_CASE("only 1F1B and interleaved 1F1B are paired when asked to") {
  CHECK_THROWS_WITH(order_of({.schedule = ScheduleKind::gpipe, .microbatches = 2, .pairs = true}),
                    "only 1f1b and interleaved pair their passes when asked to");
}

TEST_CASE("passes of 1F1B run in pairs where experts are spread and their exchanges hidden") {
  World world;
  world.plan = {.expert = 2};
  world.software.overlap_expert = true;
  CHECK_FALSE(pairs_passes(world.model, world.plan, world.software));  // the model has no experts
  world.model.moe.emplace();
  CHECK(pairs_passes(world.model, world.plan, world.software));
  world.plan.overlap.expert = false;
  CHECK_FALSE(pairs_passes(world.model, world.plan, world.software));
  world.plan = {.schedule = ScheduleKind::gpipe, .overlap = {.expert = true}};
  world.plan.expert = 2;
  CHECK_FALSE(pairs_passes(world.model, world.plan, world.software));
}

TEST_CASE("with post-validation no stage of a zero-bubble schedule waits for the gradient norm") {
  World world;
  world.plan = {.pipeline = 4, .schedule = ScheduleKind::zb_h2};
  CHECK(played(world).count(label_gradient_norm) == 1);
  world.software.post_validation = true;
  CHECK(played(world).count(label_gradient_norm) == 0);
  world.plan.schedule = ScheduleKind::one_f_one_b;
  CHECK(played(world).count(label_gradient_norm) == 1);
}

}  // namespace pairs_spec
