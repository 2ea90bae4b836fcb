// SPDX-License-Identifier: Apache-2.0
// Lists of arguments without a command: lines under "# variables", "# launcher" and "# arguments".
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "scenarios/jobs/job.hpp"

namespace scenarios {

bool is_list(std::string_view text);

// Returns the job of the list; `env` has NAME=VALUE. O(text).
FrameworkJob read_list(std::string_view text, const ArgumentTable& table,
                       std::span<const std::string> env);

}  // namespace scenarios
