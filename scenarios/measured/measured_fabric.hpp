// SPDX-License-Identifier: Apache-2.0
// Measured collectives, written into the scenario whose fabric they measure.
#pragma once
#include <filesystem>
#include <string>

#include "topology/cluster.hpp"

namespace scenarios {

// The text of the scenario file with the tables of `measured` laid over the fabric that it has or
// that its nodes usually have: switches and rates stay as they are, comments too. Throws Error
// where the file is no scenario in YAML, where its fabric is a mapping already, and where it would
// not be read with the tables in it.
std::string with_measured_fabric(const std::filesystem::path& scenario,
                                 const topology::Fabric& measured);

}  // namespace scenarios
