// SPDX-License-Identifier: Apache-2.0
// YAML that NeMo 2 writes of a run: "_target_" names the class of each part, whose arguments stand
// beside it. From memory of nemo_run's --to-yaml.
#pragma once
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// The key of the class of the model's sizes, whose value becomes a model's name as recipes have it.
inline constexpr const char* class_of_model = "model.config._target_";

// Whether the parts of the document name classes of NeMo 2.
bool is_nemo_export(const Value& document);

// Turns the keys of such a document into those of overrides: a callback's are those of its class,
// and the class of the model's sizes names the model, "llama3_8b" for Llama3Config8B. Complains of
// a strategy that is not Megatron's.
void read_nemo_classes(FrameworkJob& job, Complaints& complaints);

}  // namespace scenarios
