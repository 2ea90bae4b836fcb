// SPDX-License-Identifier: Apache-2.0
// Small dense linear programs.
#pragma once
#include <vector>

namespace search {

struct LinearSolution {
  std::vector<double> values;  // by column
  std::vector<double> prices;  // by row, ≥ 0
};

// The greatest sum of y ≥ 0 with rows · y ≤ limits, where limits ≥ 0: the simplex method (Dantzig
// 1947) on a dense tableau, with limits a little apart so that it ends. rows[i][j]: row i, column
// j. Bounded, or stops after many steps with the best found. O(rows · (rows + columns)) a step.
LinearSolution largest_sum(const std::vector<std::vector<double>>& rows,
                           const std::vector<double>& limits);

}  // namespace search
