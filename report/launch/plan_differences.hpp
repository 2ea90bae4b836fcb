// SPDX-License-Identifier: Apache-2.0
// Private to the room: the keys in which two plans differ, as far as these have an effect.
#pragma once
#include <optional>
#include <set>
#include <string>

#include "forecast/scenario.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// Returns `asked` with the plan that the job gives; keys that it leaves out have their defaults.
// Nothing: the job's plan is no plan.
std::optional<forecast::Scenario> with_plan_of(const scenarios::JobScenario& job,
                                               const forecast::Scenario& asked);

// Returns the keys, such as "plan.overlap.data", in which the plans differ. A key that says what
// holds without it, or that has no effect in both plans, does not differ; a plan's own number of
// replicas follows from its other degrees, and is not compared.
std::set<std::string> differing_keys(const forecast::Scenario& one,
                                     const forecast::Scenario& other);

// Returns the keys of the scenario's plan that have a value and an effect.
std::set<std::string> plan_keys(const forecast::Scenario& scenario);

}  // namespace report
