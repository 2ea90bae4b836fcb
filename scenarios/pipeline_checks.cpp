// SPDX-License-Identifier: Apache-2.0
// Stages, passes and microbatches of a pipeline.
#include <numeric>
#include <string>

#include "plans/limits.hpp"
#include "plans/schedule_layout.hpp"
#include "scenarios/judge.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;
using strategies::ScheduleKind;

void check_chunks(const Scenario& s, const Judge& judge) {
  const auto chunks = s.plan.virtual_stages;
  if (!judge.knows({"plan.virtual_stages", "plan.schedule"})) return;
  if (two_chunks(s.plan.schedule) && chunks != 2)
    judge.complain("plan", "virtual_stages",
                   digits(chunks) + " with schedule: " + judge.written("plan", "schedule") +
                       ", which folds the model into two chunks per rank; write 2 or leave it out");
  if (!two_chunks(s.plan.schedule) && s.plan.schedule != ScheduleKind::interleaved && chunks > 1)
    judge.complain("plan", "virtual_stages",
                   digits(chunks) +
                       " needs schedule: interleaved, the only one that runs any number of chunks "
                       "per rank; write 1 or change the schedule");
}

void check_layers_per_stage(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  if (!judge.knows({"plan.pipeline", "plan.virtual_stages", "plan.schedule",
                    "plan.layers_per_stage", "model.layers"}))
    return;
  const auto chunks = plan.pipeline * plan.virtual_stages;
  const auto& given = plan.layers_per_stage;
  if (given.empty()) {
    if (s.model.layers < chunks)
      judge.complain("plan", judge.given("plan", "pipeline") ? "pipeline" : "virtual_stages",
                     digits(plan.pipeline) + " ranks x " + digits(plan.virtual_stages) +
                         " virtual stages = " + digits(chunks) + " stages for " +
                         digits(s.model.layers) +
                         " layers: each needs one; empty stages are written in layers_per_stage");
    return;
  }
  const auto sum = std::accumulate(given.begin(), given.end(), std::int64_t{0});
  if (static_cast<std::int64_t>(given.size()) != chunks)
    judge.complain("plan", "layers_per_stage",
                   digits(static_cast<std::int64_t>(given.size())) +
                       " entries; expected one per virtual stage: pipeline " +
                       digits(plan.pipeline) + " x virtual_stages " + digits(plan.virtual_stages) +
                       " = " + digits(chunks));
  else if (sum != s.model.layers)
    judge.complain("plan", "layers_per_stage",
                   "the entries sum to " + digits(sum) + ", but the model has " +
                       digits(s.model.layers) + " layers");
}

// DualPipe (DeepSeek-V3, arXiv 2412.19437, section 3.2.1) feeds half of the microbatches from
// either end of the ranks; cut in half, dualpipe-v feeds all into either arm of a V.
void check_dualpipe(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  const bool mirrored = plan.schedule == ScheduleKind::dualpipe;
  if (!mirrored && plan.schedule != ScheduleKind::dualpipe_v) return;
  if (!judge.knows({"plan.schedule", "plan.pipeline"})) return;
  if (mirrored && plan.pipeline % 2 != 0) {
    judge.complain("plan", "pipeline",
                   digits(plan.pipeline) +
                       " is odd: dualpipe pairs the ranks from both ends; write an even number");
    return;
  }
  const auto replicas = plan.micro_batch * plan.data;
  if (!judge.knows({"plan.micro_batch", "plan.data", "plan.tensor", "plan.context", "cluster",
                    "training.global_batch"}) ||
      s.training.global_batch % replicas != 0)
    return;
  const auto microbatches = s.training.global_batch / replicas;
  if ((mirrored && microbatches % 2 != 0) || microbatches < 2 * plan.pipeline)
    judge.complain("training", "global_batch",
                   digits(s.training.global_batch) + " makes " + digits(microbatches) +
                       " microbatches: " +
                       (mirrored ? "dualpipe feeds half of them from each end; expected an even "
                                   "number, at least 2 x pipeline = "
                                 : "dualpipe-v fills both arms of a V; expected at least 2 x "
                                   "pipeline = ") +
                       digits(2 * plan.pipeline));
}

// Told here too, beside all other mistakes of the file.
void check_passes(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  const auto replicas = plan.micro_batch * plan.data;
  if (!judge.knows({"plan.schedule", "plan.virtual_stages", "plan.pipeline", "plan.micro_batch",
                    "plan.data", "plan.tensor", "plan.context", "cluster",
                    "training.global_batch"}) ||
      s.training.global_batch % replicas != 0)
    return;
  const auto refused = strategies::too_large(
      {plan.schedule, plan.pipeline, plan.virtual_stages, s.training.global_batch / replicas});
  if (!refused) return;
  const auto& key = refused->keys.front();
  const auto dot = key.find('.');
  judge.complain(key.substr(0, dot), key.substr(dot + 1), refused->what());
}

}  // namespace

bool two_chunks(ScheduleKind schedule) {
  using strategies::Layout;
  return strategies::layout_of(schedule, 1, 1).kind == Layout::Kind::v;
}

void check_pipeline(const Scenario& scenario, const Judge& judge) {
  check_chunks(scenario, judge);
  check_layers_per_stage(scenario, judge);
  check_dualpipe(scenario, judge);
  check_passes(scenario, judge);
}

}  // namespace scenarios
