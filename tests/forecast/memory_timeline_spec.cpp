// SPDX-License-Identifier: Apache-2.0
// The list of allocations beside the bytes that passes count.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "forecast/costs.hpp"
#include "forecast/forecast.hpp"
#include "forecast/late_gradients.hpp"
#include "forecast/memory_timeline.hpp"
#include "plans/memory.hpp"
#include "sim/measures.hpp"
#include "strategies/lowering/lower.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/forecast/small_llama.hpp"

namespace memory_timeline_spec {

using allocator::Event;
using forecast::tensor_timeline;
using strategies::Recompute;
using units::Bytes;

namespace {

strategies::Lowered lowered_of(const forecast::Scenario& s, const strategies::Costs& costs) {
  return strategies::lower({s.model, s.training, s.plan, s.software, s.cluster}, costs,
                           strategies::Ranks::folded);
}

std::int64_t whole(Bytes bytes) { return static_cast<std::int64_t>(bytes.value); }

// The most bytes: those that passes hold with those that are always there, or those when gradients
// are reduced, if more.
std::int64_t counted(const forecast::Scenario& s, const strategies::Lowered& lowered,
                     std::size_t actor) {
  const auto fixed = strategies::static_memory(lowered.actors[actor].held, lowered.shards, s.plan,
                                               s.training, s.software);
  const auto always = whole(fixed.weights) + whole(fixed.gradients) + whole(fixed.optimizer) +
                      whole(s.software.workspace) +
                      (s.model.moe ? whole(s.software.expert_workspace) : 0);
  const auto after = whole(fixed.reduction) + whole(fixed.stepping);
  if (strategies::gradients_come_late(s.software, lowered.microbatches)) {
    std::vector<Bytes> gradients;
    for (const auto& facts : lowered.actors)
      gradients.push_back(
          strategies::static_memory(facts.held, lowered.shards, s.plan, s.training, s.software)
              .gradients);
    const auto most = forecast::held_with_gradients(s, lowered, gradients)[actor];
    const auto missing = whole(fixed.gradients) - whole(most.gradients);
    return always + std::max(whole(fixed.gathered) + most.passes.peak - missing, after);
  }
  const auto held = sim::memory_held(lowered.program)[actor];
  return always + std::max(whole(fixed.gathered) + held.peak, after);
}

bool pairs_passes(strategies::ScheduleKind schedule) {
  return schedule == strategies::ScheduleKind::dualpipe ||
         schedule == strategies::ScheduleKind::dualpipe_v;
}

bool recomputes_per_op(const strategies::Plan& plan) {
  const auto is = [](const Recompute& one) { return one.kind == Recompute::Kind::per_op; };
  return is(plan.recompute) || std::ranges::any_of(plan.recompute_of_stage, is) ||
         std::ranges::any_of(plan.layers, [&](const auto& range) {
           return range.recompute && is(*range.recompute);
         });
}

}  // namespace

TEST_CASE("the most bytes alive at once are those that the forecast counts") {
  std::mt19937 random(7);
  int exact = 0, near = 0;
  for (int i = 0; i < 150; ++i) {
    const auto s = tests::random_scenario(random);
    CAPTURE(i);
    const auto costs = forecast::costs_on(s.cluster);
    const auto lowered = lowered_of(s, costs);
    for (std::uint32_t actor = 0; actor < lowered.actors.size(); ++actor) {
      CAPTURE(actor);
      const auto alive = forecast::peak_of(tensor_timeline(s, lowered, actor).events).bytes;
      const auto expected = counted(s, lowered, actor);
      const double ratio = static_cast<double>(alive) / static_cast<double>(expected);
      if (pairs_passes(s.plan.schedule)) {
        // Passes of a pair take turns block by block, and tensors that both need at once are listed
        // in turn.
        CHECK(ratio <= (recomputes_per_op(s.plan) ? 1.01 : 1));
        CHECK(ratio > 0.5);
        ++near;
      } else if (recomputes_per_op(s.plan)) {
        // An output that stands for several tensors made again is listed from the first of them on.
        CHECK(alive >= expected);
        CHECK(ratio < 1.02);
        ++near;
      } else {
        CHECK(alive == expected);
        ++exact;
      }
    }
  }
  CHECK(exact > 100);
  CHECK(near > 10);
}

// With one stage and one microbatch no gradients are there when the loss is computed.
TEST_CASE("gradients that the backward pass makes are not there when it begins") {
  auto s = tests::small_llama({});
  s.plan.micro_batch = 16;
  s.training.global_batch = 16;
  const auto kept = forecast::simulate(s).memory.stages[0];
  s.software.keep_gradients = false;
  const auto made = forecast::simulate(s).memory.stages[0];
  CHECK(made.gradients.value == 0);
  CHECK(whole(kept.peak_allocated) - whole(made.peak_allocated) == whole(kept.gradients));
  CHECK(made.activations == kept.activations);
  // With a second microbatch gradients are there when its forward pass ends.
  s.training.global_batch *= 2;
  CHECK(forecast::simulate(s).memory.stages[0].peak_allocated == kept.peak_allocated);
  // With few tokens the peak is when all gradients are there: states, gradients and the workspace.
  s.training.global_batch /= 2;
  s.training.sequence_length = 16;
  s.plan.micro_batch = 1;
  s.training.global_batch = 1;
  const auto few = forecast::simulate(s).memory.stages[0];
  CHECK(few.peak_allocated >= few.weights + kept.gradients + few.optimizer + s.software.workspace);
}

// The backward pass is cut into an op for each layer, which holds nothing where all activations
// wait on the host.
TEST_CASE("gradients come block by block where activations wait on the host, too") {
  for (const auto recompute : {Recompute::Kind::none, Recompute::Kind::full}) {
    auto s = tests::small_llama({.tensor = 2, .pipeline = 4, .data = 1});
    s.plan.layers_per_stage = {1, 1, 5, 1};
    s.plan.micro_batch = 16;
    s.training.global_batch = 16;
    s.plan.recompute = {recompute};
    s.plan.offload.activations = true;
    s.software.keep_gradients = false;
    const auto costs = forecast::costs_on(s.cluster);
    const auto lowered = lowered_of(s, costs);
    for (std::uint32_t actor = 0; actor < lowered.actors.size(); ++actor) {
      CAPTURE(actor);
      CHECK(forecast::peak_of(tensor_timeline(s, lowered, actor).events).bytes ==
            counted(s, lowered, actor));
    }
    for (const auto& stage : forecast::simulate(s).memory.stages)
      CHECK(stage.temporary >= stage.buffers);
  }
}

TEST_CASE("a step frees all that it allocates") {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    const auto s = tests::random_scenario(random);
    CAPTURE(i);
    const auto costs = forecast::costs_on(s.cluster);
    const auto lowered = lowered_of(s, costs);
    const auto timeline = tensor_timeline(s, lowered, 0);
    std::map<allocator::TensorId, int> alive;
    for (const auto& event : timeline.events.step)
      alive[event.tensor] += event.kind == Event::Kind::allocate ? 1 : -1;
    CHECK(std::ranges::all_of(alive, [](const auto& one) { return one.second == 0; }));
  }
}

TEST_CASE("tensors are named by layer and operator") {
  const auto s = tests::small_llama({});
  const auto costs = forecast::costs_on(s.cluster);
  const auto lowered = lowered_of(s, costs);
  const auto timeline = tensor_timeline(s, lowered, 0);
  std::map<std::string, int> categories;
  for (const auto& tensor : timeline.names) ++categories[tensor.category];
  CHECK(timeline.names.front() == forecast::NamedTensor{"embedding", "", "weights", "parameters"});
  CHECK(forecast::NamedTensor{"layer 3", "qkv", "input", "activations"}.name() ==
        "layer 3: qkv, input");
  CHECK(categories.contains("activations"));
  CHECK(categories.contains("temporary"));
  CHECK(categories.contains("optimizer"));
}

TEST_CASE(
    "tensors that recomputation makes again are alive while their layer runs, forward and "
    "backward") {
  auto s = tests::small_llama({});
  s.plan.recompute = {Recompute::Kind::full};
  const auto costs = forecast::costs_on(s.cluster);
  const auto lowered = lowered_of(s, costs);
  const auto timeline = tensor_timeline(s, lowered, 0);
  std::map<std::string, int> allocations;
  for (const auto& event : timeline.events.step)
    if (event.kind == Event::Kind::allocate) ++allocations[timeline.named(event.tensor).category];
  CHECK(allocations["activations, made again"] > allocations["activations"]);
}

TEST_CASE("a history replays a first step and one more, and ends with the tensors that stay") {
  const auto s = tests::small_llama({});
  const auto history = forecast::memory_history(s, 0);
  std::int64_t allocated = 0;
  for (const auto& segment : history.segments)
    for (const auto& part : segment.parts)
      if (part.state == allocator::Segment::Part::State::allocated) allocated += part.requested;
  const auto forecast = forecast::simulate(s);
  const auto& stage = forecast.memory.stages[0];
  CHECK(allocated == whole(stage.weights) + whole(stage.gradients) + whole(stage.optimizer) +
                         whole(s.software.workspace));
  CHECK(std::ranges::none_of(history.trace, [](const auto& entry) {
    return entry.action == allocator::TraceEntry::Action::oom;
  }));
}

// Adam: two fp32 tensors for each tensor of weights; 8 of the 12 bytes of its states.
TEST_CASE("the update of the first step makes the moments, unless they are there from the start") {
  auto s = tests::small_llama({});
  const auto costs = forecast::costs_on(s.cluster);
  const auto made = [&](const auto& timeline) {
    std::map<std::string, std::vector<std::int64_t>> sizes;
    for (const auto& event : timeline.events.once.events)
      sizes[timeline.named(event.tensor).name()].push_back(event.size);
    return sizes;
  };
  const auto timeline = tensor_timeline(s, lowered_of(s, costs), 0);
  const auto moments = made(timeline);
  std::int64_t sum = 0;
  for (const auto& [name, sizes] : moments) {
    CAPTURE(name);
    CHECK(sizes.size() % 2 == 0);
    for (const auto size : sizes) sum += size;
  }
  const auto states = forecast::simulate(s).memory.stages[0].optimizer;
  CHECK(sum == Approx(states.value * 8 / 12).margin(1));
  const auto h = static_cast<double>(s.model.hidden), ffn = static_cast<double>(s.model.ffn);
  const auto& down = moments.at("layer 0: MLP down projection, moments");
  REQUIRE(down.size() == 2);
  CHECK(down.front() == Approx(4 * h * ffn).margin(1));
  // Joined, the two halves of the gated up projection are one tensor.
  CHECK(moments.at("layer 0: MLP up projection, moments").size() == 2);
  s.software.kernels.joined_projections = false;
  const auto apart = made(tensor_timeline(s, lowered_of(s, costs), 0));
  REQUIRE(apart.at("layer 0: MLP up projection, moments").size() == 4);
  CHECK(apart.at("layer 0: MLP up projection, moments").back() == Approx(4 * h * ffn).margin(1));
  // A tied head has no weights of its own where the embedding is.
  CHECK(moments.contains("head: LM head, moments"));
  s.model.tied_embeddings = true;
  const auto tied = made(tensor_timeline(s, lowered_of(s, costs), 0));
  CHECK_FALSE(tied.contains("head: LM head, moments"));
  CHECK(tied.at("layer 0: MLP down projection, moments").front() == Approx(4 * h * ffn).margin(1));
  // Every later step has them from its begin: the most alive at once are the same.
  s = tests::small_llama({});
  s.software.moments_at_start = true;
  const auto from_start = tensor_timeline(s, lowered_of(s, costs), 0);
  CHECK(from_start.events.once.events.empty());
  CHECK(forecast::peak_of(from_start.events).bytes == forecast::peak_of(timeline.events).bytes);
}

TEST_CASE("a microbatch's tensors have the ids of one that is over") {
  const auto s = tests::small_llama({});  // has one stage and four microbatches in turn
  const auto costs = forecast::costs_on(s.cluster);
  const auto timeline = tensor_timeline(s, lowered_of(s, costs), 0);
  CHECK(timeline.name_of.size() == timeline.names.size());
  const auto& [before, step, rounds, once] = timeline.events;
  CHECK(rounds.count == 4);
  CHECK(rounds.end - rounds.begin == step.size());
  std::map<allocator::TensorId, int> allocations;
  for (const auto& event : step)
    if (event.kind == Event::Kind::allocate) ++allocations[event.tensor];
  CHECK(std::ranges::all_of(allocations, [](const auto& one) { return one.second == 1; }));
}

TEST_CASE("the replay allocates the forecast's bytes, and reserves no less") {
  std::mt19937 random(11);
  int fitted = 0;
  for (int i = 0; i < 100; ++i) {
    const auto s = tests::random_scenario(random);
    CAPTURE(i);
    const auto memory = forecast::simulate(s, {.allocator = true}).memory;
    REQUIRE(memory.allocator);
    const auto& use = *memory.allocator;
    CHECK(use.stage == memory.peak_stage);
    if (use.failure) continue;
    ++fitted;
    for (const auto& peaks : {use.first, use.steady}) {
      CHECK(peaks.reserved >= peaks.allocated);
      CHECK(peaks.device >= peaks.reserved);
      CHECK(peaks.device <= memory.capacity);
      // Blocks are rounded up, and large blocks may have up to 1 MiB too much.
      const auto ratio = peaks.allocated / memory.peak_allocated;
      CHECK(ratio < 2.5);
    }
    // The passes of the first step have no moments beside them yet.
    CHECK(use.first.allocated <= use.steady.allocated);
    if (!pairs_passes(s.plan.schedule))
      CHECK(use.steady.allocated >= (1 - 1e-6) * memory.peak_allocated);
    CHECK(use.unused_at_peak <= use.steady.reserved - use.steady.allocated);
    CHECK(use.largest.size() <= 10);
    CHECK(std::ranges::is_sorted(use.largest, std::greater<>(), &forecast::HeldTensors::bytes));
  }
  CHECK(fitted > 50);
}

TEST_CASE("JAX takes its share of the device at once") {
  auto s = tests::small_llama({});
  s.software.allocator.preallocated = 0.75;
  const auto memory = forecast::simulate(s, {.allocator = true}).memory;
  const auto taken = 0.75 * s.cluster.node.device.usable_memory;
  CHECK(memory.allocator->steady.reserved.value == Approx(taken.value));
  CHECK(memory.allocator->steady.device == memory.capacity);
  CHECK(memory.allocator->first.reserved == memory.allocator->steady.reserved);
  CHECK(memory.allocator->steady.allocated == memory.peak_allocated);
}

TEST_CASE("what does not fit into the share of the device that JAX took is out of memory") {
  auto s = tests::small_llama({});
  const auto usable = s.cluster.node.device.usable_memory;
  const auto allocated = forecast::simulate(s).memory.peak_allocated;
  const auto with = [&](double more) {
    s.software.allocator.preallocated = more * (allocated / usable);
    return forecast::simulate(s, {.allocator = true}).memory;
  };
  const auto enough = with(1.01);
  CHECK(enough.fits);
  CHECK_FALSE(enough.allocator->failure);
  CHECK(enough.allocator->unused_at_peak.value == Approx(0.01 * allocated.value));
  const auto little = with(0.99);
  CHECK_FALSE(little.fits);
  REQUIRE(little.allocator->failure);
  CHECK_FALSE(little.allocator->failure->by_fragments);
  CHECK(little.allocator->failure->limit.value == Approx(0.99 * allocated.value));
  CHECK(little.allocator->least_room == allocated);
}

TEST_CASE("pages that grow reserve less than segments that were taken for other sizes") {
  auto s = tests::small_llama({.micro_batch = 4});
  const auto reserved = [&](bool expandable) {
    s.software.allocator.expandable_segments = expandable;
    return forecast::simulate(s, {.allocator = true}).memory.allocator->steady.reserved;
  };
  CHECK(reserved(true) < reserved(false));
}

}  // namespace memory_timeline_spec
