// SPDX-License-Identifier: Apache-2.0
// Experiments of Primus as scenarios: defaults of a module and of a model, and the experiment's
// values over them, one of Megatron-LM, torchtitan or Megatron-Bridge. Rules: primus/configs and
// primus/core @fd1eeabb.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Whether the document has modules that name a framework or files of configs.
bool is_primus(const Value& document);

struct PrimusJob {
  std::string framework;  // megatron, torchtitan or megatron_bridge
  FrameworkJob job;       // its arguments, the files that it stands on first; `program`: the model
};

// Reads the trainer of the experiment. Files that it names are read from `configs` or
// `primus/configs` beside the job or above it, or else from the program's copies. Complains of
// files that are in neither.
PrimusJob read_primus(const Value& document, std::span<const std::string> env,
                      const JobFiles& files, Complaints& complaints);

// Returns the scenario of the job; mistakes go to the complaints.
JobScenario primus_scenario(PrimusJob primus, const std::string& file,
                            std::optional<std::int64_t> gpus, Complaints& complaints);

}  // namespace scenarios
