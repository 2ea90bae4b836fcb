// SPDX-License-Identifier: Apache-2.0
// Checks on the degrees of a plan: the sizes that they must divide, and the product that they must
// have.
#include <string>

#include "plans/admissible.hpp"
#include "scenarios/checks/checker.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;

// Checks that the degrees multiply to the cluster; false if further checks would make no sense.
bool check_cluster(const Scenario& s, bool data_given, const Checker& checker) {
  const auto& plan = s.plan;
  if (!checker.knows({"plan.tensor", "plan.pipeline", "plan.data", "plan.context", "cluster"}))
    return false;
  const auto gpus = s.cluster.gpus, held = plan.tensor * plan.context * plan.pipeline;
  const std::string blamed = checker.given("plan", "pipeline")  ? "pipeline"
                             : checker.given("plan", "context") ? "context"
                                                                : "tensor";
  const auto product = "tensor " + digits(plan.tensor) +
                       (plan.context > 1 ? " x context " + digits(plan.context) : "") +
                       " x pipeline " + digits(plan.pipeline);
  if (gpus % held != 0) {
    checker.complain("plan", blamed,
                     product + " = " + digits(held) + " does not divide " + digits(gpus) +
                         " GPUs: every replica takes that many");
    return false;
  }
  if (data_given && held * plan.data != gpus) {
    checker.complain("plan", "data",
                     product + " x data " + digits(plan.data) + " = " + digits(held * plan.data) +
                         ", but the cluster has " + digits(gpus) +
                         " GPUs; write data: " + digits(gpus / held) + " or leave it out");
    return false;
  }
  return true;
}

}  // namespace

void check_degrees(const Scenario& scenario, bool data_given, const Checker& checker) {
  using namespace strategies;
  for (const auto& conditions : {on_tensor(), on_context(), on_sequence_parts(), on_ulysses(),
                                 on_experts(), on_expert_rows()})
    checker.check(conditions, scenario);
  if (!check_cluster(scenario, data_given, checker)) return;
  for (const auto& conditions : {on_expert_ranks(), on_shards(), on_batch()})
    checker.check(conditions, scenario);
}

}  // namespace scenarios
