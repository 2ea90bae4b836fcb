// SPDX-License-Identifier: Apache-2.0
// The effects of a job's arguments.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/style.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// The numbers of arguments that were read, are without effect, not modelled or unknown; the last
// two kinds also by name.
std::string job_text(const scenarios::JobAccount& account, const TextOptions& options);

// {"framework", "version", "file", "arguments": [{"argument", "place", "class", "keys", "why"}]}
nlohmann::ordered_json job_document(const scenarios::JobAccount& account);

// {"scenario", "job"}: the scenario that was made of it, as far as the job says it.
std::string job_json(const scenarios::JobScenario& scenario);

}  // namespace report
