// SPDX-License-Identifier: Apache-2.0
// Jobs of NeMo 1, whose Hydra configurations drive Megatron-LM. Rules:
// nemo/collections/nlp/models/language_modeling @8cfedd72 and the launcher's files.
#pragma once
#include <span>
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Whether the document has the sections trainer and model of NeMo 1.
bool is_nemo(const Value& document);

// Returns the keys of a configuration of NeMo 1 with references between them replaced; `env` has
// NAME=VALUE.
FrameworkJob nemo_job(const Value& document, std::span<const std::string> env);

// Returns the scenario of the job; mistakes go to the complaints.
JobScenario nemo_scenario(const FrameworkJob& keys, const std::string& file,
                          Complaints& complaints);

}  // namespace scenarios
