// SPDX-License-Identifier: Apache-2.0
// Searches among the plans that a training framework can run. A framework can run a plan if
// launch() writes it without a sentence about the plan; there is no second list of limits.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/launch.hpp"
#include "scenarios/jobs/job.hpp"
#include "search/question.hpp"

namespace report {

// The version that a framework's launch configurations are written for: "d98e8a64dd".
std::string_view launch_version(Framework framework);

// Returns the sentences of launch() about the choices of a search: degrees, stages, schedule,
// sharding and recomputation. None: the framework can run the plan.
std::vector<std::string> beyond(const forecast::Scenario& scenario, Framework framework);

// Returns a warning that the framework whose software a scenario takes (megatron-core, deepspeed,
// torchtitan, nanotron) does not run the plan's schedule, chunks or stage of ZeRO; empty if it
// does, and of other software. Linear in the model's layers.
std::string not_run_words(const forecast::Scenario& scenario);

// Returns the question with its space, and those of its alternatives, within the limits of the
// framework: schedules, ZeRO stages, pipelines and partitions that launch() writes as they are, and
// one recomputation for all layers out of those that it has. Each key is tried for itself, so a
// plan of this space may still be beyond the framework: call beyond() for each that is found. With
// a job, whose change a plan will be, the space is within what its program has: Megatron-DeepSpeed
// has one stage for each rank, alike, and divides sequences by ulysses.
search::Question within_limits(const search::Question& question, Framework framework,
                               const scenarios::JobAccount* job = nullptr);

}  // namespace report
