// SPDX-License-Identifier: Apache-2.0
// Commands of NeMo 1, which name a configuration and override its keys as Hydra does.
#pragma once
#include <span>
#include <string>

#include "scenarios/frameworks/looked.hpp"

namespace scenarios {

// Whether the text is a command that names a configuration of NeMo 1 by --config-name: one that is
// beside it, or one of a program of NeMo's.
bool names_nemo_config(const Looked& looked);

// Returns the overrides of a command over the keys of the configuration that --config-name names,
// in whose references the overrides count; keys that the command overrides or takes away are the
// command's. Complains if that file is missing.
FrameworkJob nemo_command(FrameworkJob job, const Looked& looked, std::span<const std::string> env,
                          Complaints& complaints);

}  // namespace scenarios
