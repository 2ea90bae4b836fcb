// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/linear_program.hpp"

#include <algorithm>
#include <cstddef>

namespace search {

namespace {

constexpr double tiny = 1e-10;

// Columns: variables, slacks, the right-hand side. The last row is the objective.
class Tableau {
 public:
  Tableau(const std::vector<std::vector<double>>& rows, const std::vector<double>& limits)
      : rows_(rows.size()),
        columns_(rows.empty() ? 0 : rows.front().size()),
        width_(columns_ + rows_ + 1),
        cells_((rows_ + 1) * width_, 0.0),
        basis_(rows_) {
    for (std::size_t i = 0; i < rows_; ++i) {
      std::copy(rows[i].begin(), rows[i].end(), &at(i, 0));
      at(i, columns_ + i) = 1;
      // Limits are set a little apart, so that no two rows bind at once.
      at(i, width_ - 1) = limits[i] + 1e-9 * static_cast<double>(i + 1);
      basis_[i] = columns_ + i;
    }
    for (std::size_t j = 0; j < columns_; ++j) at(rows_, j) = -1;
  }

  void solve() {
    const auto most = 20 * (rows_ + columns_) + 100;
    for (std::size_t step = 0; step < most; ++step) {
      const auto objective = cells_.begin() + static_cast<std::ptrdiff_t>(rows_ * width_);
      const auto entering =
          std::min_element(objective, objective + static_cast<std::ptrdiff_t>(width_ - 1));
      if (*entering > -tiny) return;
      const auto column = static_cast<std::size_t>(entering - objective);
      const auto row = leaving(column);
      if (row == rows_) return;
      pivot(row, column);
    }
  }

  LinearSolution solution() {
    LinearSolution result{std::vector<double>(columns_, 0.0), std::vector<double>(rows_, 0.0)};
    for (std::size_t i = 0; i < rows_; ++i) {
      if (basis_[i] < columns_) result.values[basis_[i]] = std::max(0.0, at(i, width_ - 1));
      result.prices[i] = std::max(0.0, at(rows_, columns_ + i));
    }
    return result;
  }

 private:
  double& at(std::size_t row, std::size_t column) { return cells_[row * width_ + column]; }
  std::size_t leaving(std::size_t column) {
    std::size_t found = rows_;
    double least = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (at(i, column) <= tiny) continue;
      const double ratio = at(i, width_ - 1) / at(i, column);
      if (found < rows_ && ratio >= least) continue;
      found = i;
      least = ratio;
    }
    return found;
  }
  void pivot(std::size_t row, std::size_t column) {
    const double scale = 1 / at(row, column);
    for (std::size_t j = 0; j < width_; ++j) at(row, j) *= scale;
    for (std::size_t i = 0; i <= rows_; ++i) {
      const double factor = at(i, column);
      if (i == row || factor == 0) continue;
      for (std::size_t j = 0; j < width_; ++j) at(i, j) -= factor * at(row, j);
    }
    basis_[row] = column;
  }

  std::size_t rows_, columns_, width_;
  std::vector<double> cells_;
  std::vector<std::size_t> basis_;
};

}  // namespace

LinearSolution largest_sum(const std::vector<std::vector<double>>& rows,
                           const std::vector<double>& limits) {
  Tableau tableau(rows, limits);
  tableau.solve();
  return tableau.solution();
}

}  // namespace search
