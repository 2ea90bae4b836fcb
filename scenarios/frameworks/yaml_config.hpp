// SPDX-License-Identifier: Apache-2.0
// Configurations that Megatron-LM is given as --yaml-cfg.
#pragma once
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Whether the document has Megatron-LM's sections of a model and of its degrees.
bool is_yaml_config(const Value& document);

// Returns the keys of a YAML configuration as arguments. Keys of the sections are names of the
// configuration classes, which the table "megatron_bridge" has; the others are arguments with
// underscores.
FrameworkJob read_yaml_config(const Value& document);

}  // namespace scenarios
