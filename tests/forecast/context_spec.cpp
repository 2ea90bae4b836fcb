// SPDX-License-Identifier: Apache-2.0
// Steps in which parts of a sequence lie on several ranks.
#include <algorithm>
#include <string>

#include "forecast/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace context_spec {

using forecast::simulate;
using strategies::ContextMethod;

namespace {

forecast::Scenario divided(const strategies::Plan& plan) {
  auto s = tests::scenario_under(plan, 2 * plan.data);
  s.training.sequence_length = 512;
  return s;
}

}  // namespace

TEST_CASE("exchanges for attention have a place of their own in time and picture") {
  const auto method =
      GENERATE(ContextMethod::ring, ContextMethod::all_gather, ContextMethod::ulysses);
  const auto per_node = GENERATE(2, 8);
  auto s = divided({.data = 2, .context = 4, .context_method = method});
  s.cluster.node.gpus = per_node;
  // Neither a host nor the gaps between the kernels of a ring shall hide the exchanges.
  s.software.launch_forward = s.software.launch_backward = {};
  for (auto* bandwidth : {&s.cluster.node.nvlink.bandwidth, &s.cluster.node.nics.bandwidth})
    *bandwidth = 0.01 * *bandwidth;
  const auto f = simulate(s, {.timeline = true});
  CHECK(f.time[forecast::StepPart::context_comm].value > 0);
  CHECK(f.time[forecast::StepPart::tensor_comm].value == 0);
  CHECK(std::ranges::count(f.critical_path, forecast::StepPart::context_comm,
                           &forecast::PartTime::part) == 1);
  const auto drawn = std::ranges::count_if(f.timeline.slices, [](const auto& slice) {
    return slice.kind == std::string("context_comm") && slice.lane == std::string("context");
  });
  // Each layer and microbatch has two exchanges with a ring, one each way; three with all-gather,
  // gathers each way and a scatter; four with Ulysses, two each way.
  const int each = method == ContextMethod::ring ? 2 : method == ContextMethod::all_gather ? 3 : 4;
  CHECK(drawn == (s.model.layers + s.model.multi_token_prediction) * 2 * each);
}

TEST_CASE("folding costs no more for more replicas of whole context groups") {
  const auto f = simulate(divided({.tensor = 2, .pipeline = 4, .data = 4096, .context = 4}));
  CHECK(f.simulation.ranks == 131072);
  CHECK(f.simulation.ranks_simulated == 4);
}

TEST_CASE("a straggler holds up the parts of its sequences, and no other replica's exchanges") {
  auto s = divided({.tensor = 2, .data = 4, .context = 4});
  s.cluster.stragglers = {{{9}, 1.5}};
  const auto folded = simulate(s), full = simulate(s, {.full = true});
  CHECK(folded.step.time == full.step.time);
  CHECK(folded.time[forecast::StepPart::context_comm] ==
        full.time[forecast::StepPart::context_comm]);
  CHECK(folded.simulation.ranks_simulated < 32);
}

}  // namespace context_spec
