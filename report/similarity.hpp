// SPDX-License-Identifier: Apache-2.0
// Similarity of forecast errors, and the gain of measured steps for similar runs.
#pragma once
#include <string>
#include <vector>

#include "forecast/accuracy/neighbours.hpp"
#include "report/style.hpp"

namespace report {

// The table that the program carries, as scenarios/similarity.hpp reads it.
std::string similarity_yaml(const forecast::Similarity& similarity);

// The document of `validate corrections --json`: of every data set, and their mean, the error, the
// coverage and the width of the 80 % interval without correction, with one other measured step
// (any, the nearest) and with all others; `similarity` is fitted to all sets. Null for no data set.
std::string neighbours_json(const std::vector<forecast::NeighbourScore>& scores,
                            const forecast::Similarity& similarity);

// The scores and the similarity as a table.
std::string neighbours_text(const std::vector<forecast::NeighbourScore>& scores,
                            const forecast::Similarity& similarity,
                            const TextOptions& options = {});

}  // namespace report
