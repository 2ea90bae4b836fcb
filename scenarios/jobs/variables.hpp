// SPDX-License-Identifier: Apache-2.0
// Variables and references in the values of configurations.
#pragma once
#include <span>
#include <string>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

// Replaces ${NAME:default} and ${NAME} in every value by NAME of `env` (NAME=VALUE) or the default.
// A variable without either stays, and the value's `trouble` says so when it is asked for.
void replace_variables(Value& document, std::span<const std::string> env);

// Replaces Hydra's ${section.key}, ${.key}, ${..key}, ${multiply:a,b}, ${divide_ceil:a,b},
// ${divide_floor:a,b} and ${oc.env:NAME,default} in every value; others stay as they are.
void replace_references(Value& document, std::span<const std::string> env);

// Marks values that still have "${" as not known.
void mark_unresolved(FrameworkJob& job);

}  // namespace scenarios
