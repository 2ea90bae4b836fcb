// SPDX-License-Identifier: Apache-2.0
// Private to the room: the keys that a change of a job writes, and those that it leaves.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "forecast/scenario.hpp"
#include "report/launch/launch.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// The job as it changes, and the scenarios that its text and our launch files give.
struct JobStates {
  scenarios::JobScenario now;
  scenarios::JobScenario plan;    // of the launch file
  scenarios::JobScenario target;  // the same, in words of the job's fork
  std::string words;              // the target's text
};

// All keys, or those from which defaults of others follow: degrees, stages, sharding and the batch.
enum class KeysToWrite { all, leading };

// Returns the keys in which the job differs from the target, unless it says what is asked for where
// the framework can say it; and the key with room for the positions of a longer sequence.
std::set<std::string> keys_to_write(const JobStates& change, const forecast::Scenario& asked,
                                    const std::vector<Lost>& lost, KeysToWrite which);

// The keys in which the job differs from another one.
std::set<std::string> differing_from_job(const scenarios::JobScenario& job,
                                         const scenarios::JobScenario& other,
                                         const forecast::Scenario& asked);

// The keys in which the job differs from what is asked for.
std::set<std::string> differing_from_asked(const scenarios::JobScenario& job,
                                           const forecast::Scenario& asked);

// Keys whose values in the text differ from those asked for.
struct LeftKeys {
  std::vector<std::string> changeable;   // the launch file has another value than the text
  std::vector<std::string> unspeakable;  // the launch file says no more, and no sentence tells
};
LeftKeys keys_left(const JobStates& change, const forecast::Scenario& asked,
                   const std::vector<Lost>& lost);

}  // namespace report
