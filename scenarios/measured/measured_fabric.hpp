// SPDX-License-Identifier: Apache-2.0
// Measured collectives, written into the scenario whose fabric they measure.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "topology/cluster.hpp"

namespace scenarios {

// Returns the text of the scenario file with the tables of `measured` laid over the fabric that it
// has or that its nodes usually have; switches, rates and comments stay as they are. Throws Error
// if the file is no scenario in YAML, if its fabric is a mapping already, or if it could not be
// read with the tables in it.
std::string with_measured_fabric(const std::filesystem::path& scenario,
                                 const topology::Fabric& measured);

// Returns a sentence for each row of the cluster's measured tables that is far faster than the
// model of its node and fabric.
std::vector<std::string> doubtful_rows(const topology::Cluster& cluster);

}  // namespace scenarios
