// SPDX-License-Identifier: Apache-2.0
// The bounds of a search are never above the times of steps.
#include <algorithm>
#include <random>
#include <vector>

#include "forecast/costs.hpp"
#include "forecast/forecast.hpp"
#include "strategies/pass_costs.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace least_costs_spec {

using namespace strategies;

namespace {

std::vector<Block> distinct(const std::vector<std::vector<Block>>& stages) {
  std::vector<Block> all;
  for (const auto& stage : stages)
    for (const auto& block : stage)
      if (std::ranges::find(all, block) == all.end()) all.push_back(block);
  return all;
}

// The least time of a microbatch's passes over the blocks, with gradients in the cheaper of both
// orders.
LeastTime work(const LeastCosts& least_costs, const std::vector<Block>& blocks) {
  LeastTime forward, fused, apart;
  for (const auto& block : blocks) {
    const auto& one = least_costs.of(block);
    forward += one.forward;
    fused += one.backward;
    apart += one.backward_input;
    apart += one.backward_weight;
  }
  return {forward.device + std::min(fused.device, apart.device),
          forward.host + std::min(fused.host, apart.host),
          forward.computing + std::min(fused.computing, apart.computing),
          forward.exchanging + std::min(fused.exchanging, apart.exchanging)};
}

}  // namespace

TEST_CASE("no step is shorter than the least work of any of its stages") {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    const auto s = i % 2 == 0 ? tests::random_scenario(random) : tests::sharded_scenario(random);
    CAPTURE(i);
    const auto blocks = blocks_of(s.model, s.training, s.plan, s.software.keep_sent_outputs);
    const auto costs = forecast::costs_on(s.cluster);
    const LeastCosts least_costs({s.model, s.training, s.plan, s.software, s.cluster}, costs,
                                 distinct(blocks));
    const auto layout = layout_of(s.plan.schedule, static_cast<int>(s.plan.pipeline),
                                  static_cast<int>(s.plan.virtual_stages));
    const auto microbatches = microbatches_of(s.plan, s.training);
    const auto step = forecast::simulate(s).step.time.value * 1e12;
    for (int stage = 0; stage < layout.stages; ++stage) {
      LeastTime sum;
      for (int chunk = 0; chunk < layout.chunks; ++chunk)
        sum += work(least_costs,
                    blocks[static_cast<std::size_t>(virtual_stage_of(stage, chunk, layout))]);
      // Each copy of a mirrored model serves half of the microbatches.
      const double times = static_cast<double>(microbatches) * layout.parts() / layout.chunks;
      // Exchanges may hide where passes run two at a time.
      const bool pairs = layout.kind == Layout::Kind::mirrored ||
                         s.plan.schedule == ScheduleKind::dualpipe_v ||
                         pairs_passes(s.model, s.plan, s.software);
      CHECK(times * static_cast<double>(pairs ? sum.computing : sum.device) <= step * (1 + 1e-9));
      CHECK(times * static_cast<double>(sum.exchanging) <= step * (1 + 1e-9));
      CHECK(times * static_cast<double>(sum.host) <= step * (1 + 1e-9));
    }
  }
}

// Kernels that take longer than launches hide all launches but the first; where launches take
// longer, all of them pass before the last kernel begins.
TEST_CASE("a pass that finds nothing queued is later by the launches that no kernel hides") {
  auto s = tests::scenario_under({.pipeline = 2}, 4);
  const auto blocks =
      distinct(blocks_of(s.model, s.training, s.plan, s.software.keep_sent_outputs));
  const auto costs = forecast::costs_on(s.cluster);
  const auto lead_of = [&](double launch, const auto& check) {
    s.software.launch_forward = s.software.launch_backward = {launch};
    const LeastCosts least_costs({s.model, s.training, s.plan, s.software, s.cluster}, costs,
                                 blocks);
    for (const auto& block : blocks) {
      const auto& least = least_costs.of(block);
      check(least.forward, least.lead.forward);
      check(least.backward, least.lead.backward);
    }
  };
  lead_of(1e-9, [](const LeastTime&, sim::Picoseconds lead) { CHECK(lead == 1000); });
  lead_of(1.0, [](const LeastTime& time, sim::Picoseconds lead) {
    CHECK(lead > time.host - time.device);
    CHECK(lead < time.host);
  });
}

TEST_CASE("no step is shorter than a device's passes and pairs, one after the other") {
  std::mt19937 random(5);
  int pairs = 0, shorter = 0;
  for (int drawn = 0; drawn < 3000 && pairs < 40; ++drawn) {
    const auto s = tests::random_scenario(random);
    const auto& plan = s.plan;
    if (plan.schedule != ScheduleKind::dualpipe && plan.schedule != ScheduleKind::dualpipe_v)
      continue;
    CAPTURE(drawn);
    const auto stages = blocks_of(s.model, s.training, plan, s.software.keep_sent_outputs);
    const auto costs = forecast::costs_on(s.cluster);
    PassCosts times({s.model, s.training, plan, s.software, s.cluster}, rank_kinds(plan, s.cluster),
                    costs, distinct(stages));
    const auto layout = layout_of(plan.schedule, static_cast<int>(plan.pipeline), 2);
    const auto m = static_cast<int>(microbatches_of(plan, s.training));
    const auto step = forecast::simulate(s).step.time.value * 1e12;
    for (int stage = 0; stage < layout.stages; ++stage) {
      const auto slots = plan.schedule == ScheduleKind::dualpipe
                             ? dualpipe(stage, layout.stages, m)
                             : dualpipe_v(stage, layout.stages, m);
      const auto blocks = [&](const Slot& slot) -> const std::vector<Block>& {
        return stages[static_cast<std::size_t>(virtual_stage_of(stage, slot.chunk, layout))];
      };
      sim::Picoseconds sum = 0;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto alone = times.time_alone(blocks(slots[i]), slots[i].pass);
        sum += alone;
        if (!slots[i].paired) continue;
        const auto& back = blocks(slots[++i]);
        const auto other = times.time_alone(back, Pass::backward);
        const auto both = times.pair(blocks(slots[i - 1]), back);
        CHECK(both >= std::max(alone, other));
        CHECK(both <= alone + other);
        shorter += both < alone + other;
        ++pairs;
        sum += both - alone;
      }
      CHECK(static_cast<double>(sum) <= step * (1 + 1e-9));
    }
  }
  CHECK(pairs >= 40);
  CHECK(shorter > 0);
}

}  // namespace least_costs_spec
