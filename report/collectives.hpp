// SPDX-License-Identifier: Apache-2.0
// Predicted collectives beside measured ones.
#pragma once
#include <string>
#include <vector>

#include "report/style.hpp"
#include "topology/collective_table.hpp"

namespace report {

// The document of `validate collectives --json`: that of `validate --json`, each data set with the
// errors of its rows below and from 32 MiB up. Errors are fractions. The means over the data sets
// leave out those taken through a framework.
std::string collectives_json(const std::vector<topology::TableScore>& scores);

// Returns every row with measurement, prediction and error; then a line per table and the means.
std::string collectives_text(const std::vector<topology::TableScore>& scores,
                             const TextOptions& options = {});

}  // namespace report
