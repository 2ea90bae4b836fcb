// SPDX-License-Identifier: Apache-2.0
// Recipes of NeMo-AutoModel as scenarios: models of Hugging Face on FSDP2, with experts and
// pipelines. The rules are taken from its examples.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

bool is_automodel(const Value& document);

// Returns the scenario of the recipe; mistakes go to the complaints.
JobScenario automodel_scenario(const FrameworkJob& job, const std::string& file,
                               Complaints& complaints);

}  // namespace scenarios
