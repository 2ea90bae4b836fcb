// SPDX-License-Identifier: Apache-2.0
// Stages, passes and microbatches of a pipeline.
#include <numeric>
#include <string>

#include "plans/admissible.hpp"
#include "plans/schedules/limits.hpp"
#include "scenarios/checks/checker.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;

void check_layers_per_stage(const Scenario& s, const Checker& checker) {
  const auto& plan = s.plan;
  if (!checker.knows({"plan.pipeline", "plan.virtual_stages", "plan.schedule",
                      "plan.layers_per_stage", "model.layers"}))
    return;
  const auto chunks = plan.pipeline * plan.virtual_stages;
  const auto& given = plan.layers_per_stage;
  if (given.empty()) {
    if (s.model.layers < chunks)
      checker.complain("plan", checker.given("plan", "pipeline") ? "pipeline" : "virtual_stages",
                       digits(plan.pipeline) + " ranks x " + digits(plan.virtual_stages) +
                           " virtual stages = " + digits(chunks) + " stages for " +
                           digits(s.model.layers) +
                           " layers: each needs one; empty stages are written in layers_per_stage");
    return;
  }
  const auto sum = std::accumulate(given.begin(), given.end(), std::int64_t{0});
  if (static_cast<std::int64_t>(given.size()) != chunks)
    checker.complain("plan", "layers_per_stage",
                     digits(static_cast<std::int64_t>(given.size())) +
                         " entries; expected one per virtual stage: pipeline " +
                         digits(plan.pipeline) + " x virtual_stages " +
                         digits(plan.virtual_stages) + " = " + digits(chunks));
  else if (sum != s.model.layers)
    checker.complain("plan", "layers_per_stage",
                     "the entries sum to " + digits(sum) + ", but the model has " +
                         digits(s.model.layers) + " layers");
}

// Told here too, beside all other mistakes of the file.
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
  check_layers_per_stage(scenario, checker);
  checker.check(strategies::on_stages(), scenario);
  checker.check(strategies::on_microbatches(), scenario);
  check_passes(scenario, checker);
}

}  // namespace scenarios
