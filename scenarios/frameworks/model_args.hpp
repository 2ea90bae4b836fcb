// SPDX-License-Identifier: Apache-2.0
// Files of Megatron-LM's functional tests and their like: YAML with MODEL_ARGS, flag: value.
#pragma once
#include <span>
#include <string>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

bool is_model_args(const Value& document);

// true: the flag is there; false, null and "": it is not; a list: several values; ${NAME} as in a
// script. "KEY+" adds to KEY.
FrameworkJob read_model_args(const Value& document, const ArgumentTable& table,
                             std::span<const std::string> env);

}  // namespace scenarios
