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

// Returns the scenario of the recipe on `gpus` GPUs, if that is known; mistakes go to the
// complaints.
JobScenario automodel_scenario(const FrameworkJob& job, const std::string& file,
                               std::optional<std::int64_t> gpus, Complaints& complaints);

}  // namespace scenarios
