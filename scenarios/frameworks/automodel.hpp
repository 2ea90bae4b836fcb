// SPDX-License-Identifier: Apache-2.0
// Recipes of NeMo-AutoModel as scenarios: models of Hugging Face on FSDP2, with experts and
// pipelines. Rules as its examples have them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

bool is_automodel(const Value& document);

// The scenario of the recipe on so many GPUs, if that is known; its mistakes among the complaints.
JobScenario automodel_scenario(const FrameworkJob& job, const std::string& file,
                               Complaints& complaints);

}  // namespace scenarios
