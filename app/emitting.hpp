// SPDX-License-Identifier: Apache-2.0
// Plans written as launch configurations of training frameworks.
#pragma once
#include <string>
#include <vector>

#include "app/command.hpp"
#include "forecast/scenario.hpp"
#include "report/launch/launch.hpp"
#include "scenarios/placed.hpp"

namespace app {

// The files that will be written, for Outputs: none where there is no folder, or it is new, or it
// is for a job. Throws Mistake for a folder that is a file.
std::vector<Output> emitted_outputs(const Emission& emission);

// Throws Mistake where a job is to be changed and none was read, or one that cannot be changed, or
// one that would be overwritten.
void check_emission(const Emission& emission, const scenarios::Origin& origin);

// Lists on standard error the parts of the plan that the framework cannot express, and writes the
// set of files where there is a folder. Returns the main file where there is none, for standard
// output; otherwise nothing.
std::string emit(const report::Launch& launch, const Emission& emission, const Common& common,
                 Streams streams);

// Launch files of the scenario, or the change of the job that it was read from; nothing if neither
// is asked for.
std::string emit(const forecast::Scenario& scenario, const scenarios::Origin& origin,
                 const Emission& emission, const Common& common, Streams streams);

}  // namespace app
