// SPDX-License-Identifier: Apache-2.0
// Stages, passes and microbatches of a pipeline.
#include <string>

#include "plans/admissible.hpp"
#include "plans/schedules/limits.hpp"
#include "scenarios/checks/checker.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;

// Complains of pipelines that are too large to simulate here, so that it comes out with all other
// mistakes of the file.
void check_passes(const Scenario& s, const Checker& checker) {
  const auto& plan = s.plan;
  const auto replicas = plan.micro_batch * plan.data;
  if (!checker.knows({"plan.schedule", "plan.virtual_stages", "plan.pipeline", "plan.micro_batch",
                      "plan.data", "plan.tensor", "plan.context", "cluster",
                      "training.global_batch"}) ||
      s.training.global_batch % replicas != 0)
    return;
  const auto refused = strategies::too_large(
      {plan.schedule, plan.pipeline, plan.virtual_stages, s.training.global_batch / replicas});
  if (!refused) return;
  const auto& key = refused->keys.front();
  const auto dot = key.find('.');
  checker.complain(key.substr(0, dot), key.substr(dot + 1), refused->what());
}

}  // namespace

void check_pipeline(const Scenario& scenario, const Checker& checker) {
  checker.check(strategies::on_chunks(), scenario);
  checker.check(strategies::on_layers(), scenario);
  checker.check(strategies::on_stages(), scenario);
  checker.check(strategies::on_microbatches(), scenario);
  check_passes(scenario, checker);
}

}  // namespace scenarios
