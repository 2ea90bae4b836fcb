// SPDX-License-Identifier: Apache-2.0
// Private to the room: the file of DeepSpeed that a script of Megatron-DeepSpeed names. It says the
// batch and the stage of ZeRO once more.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/launch.hpp"
#include "report/launch/script_edit.hpp"
#include "scenarios/jobs/job.hpp"

namespace report {

// A script that has changed: it as it was, and how its texts are read.
struct ChangedScript {
  std::string_view text;
  const scenarios::JobScenario& was;
  const scenarios::JobScenario& now;
  std::function<std::optional<scenarios::JobScenario>(const std::string& text)> read;
  PlaceChoice chosen;  // of its arguments
};

// Makes the file of DeepSpeed that the script writes say what the script's changed arguments do: in
// the variable that both use, if nothing else does, or else in both places. Returns sentences on
// what the file still says otherwise, with the keys of the plan. `microbatches`: of a step of the
// plan.
std::vector<Lost> change_engine_file(std::string& text, const ChangedScript& script,
                                     std::int64_t microbatches);

}  // namespace report
