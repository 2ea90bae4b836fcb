// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include "search/solvers/linear_program.hpp"
#include "tests/catch.hpp"

namespace linear_program_spec {

using namespace search;

namespace {

using Rows = std::vector<std::vector<double>>;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The determinant of three equations with three unknowns, for Cramer's rule.
double determinant(const std::array<std::array<double, 3>, 3>& a) {
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

// The best value of all corners, each the intersection of three of the six planes rows · y = limits
// and y = 0.
double best_corner(const Rows& rows, const std::vector<double>& limits) {
  std::array<std::array<double, 3>, 6> planes{};
  std::array<double, 6> right{};
  for (std::size_t i = 0; i < 3; ++i) {
    std::copy_n(rows[i].begin(), 3, planes[i].begin());
    right[i] = limits[i];
    planes[3 + i][i] = 1;
  }
  double best = 0;
  for (std::size_t a = 0; a < 6; ++a)
    for (std::size_t b = a + 1; b < 6; ++b)
      for (std::size_t c = b + 1; c < 6; ++c) {
        const std::array<std::size_t, 3> chosen{a, b, c};
        std::array<std::array<double, 3>, 3> matrix{};
        for (std::size_t i = 0; i < 3; ++i) matrix[i] = planes[chosen[i]];
        const double whole = determinant(matrix);
        if (std::abs(whole) < 1e-9) continue;
        std::array<double, 3> y{};
        for (std::size_t j = 0; j < 3; ++j) {
          auto replaced = matrix;
          for (std::size_t i = 0; i < 3; ++i) replaced[i][j] = right[chosen[i]];
          y[j] = determinant(replaced) / whole;
        }
        bool inside = std::ranges::all_of(y, [](double value) { return value >= -1e-9; });
        for (std::size_t i = 0; i < 3; ++i)
          inside &= rows[i][0] * y[0] + rows[i][1] * y[1] + rows[i][2] * y[2] <= limits[i] + 1e-9;
        if (inside) best = std::max(best, y[0] + y[1] + y[2]);
      }
  return best;
}

}  // namespace

TEST_CASE("one column takes as much as its scarcest row allows") {
  const auto solution = largest_sum({{2}, {4}}, {6, 8});
  CHECK(solution.values.front() == Approx(2));
  CHECK(solution.prices[0] == Approx(0).margin(1e-9));
  CHECK(solution.prices[1] == Approx(0.25));
}

// The lines 2a + b = 4 and a + 2b = 4 meet in a = b = 4/3; each unit of either limit is worth a
// third.
TEST_CASE("two rows that bind share the price") {
  const auto solution = largest_sum({{2, 1}, {1, 2}}, {4, 4});
  CHECK(solution.values[0] == Approx(4.0 / 3));
  CHECK(solution.values[1] == Approx(4.0 / 3));
  CHECK(solution.prices[0] == Approx(1.0 / 3));
  CHECK(solution.prices[1] == Approx(1.0 / 3));
}

// Here a may be no more than b, and both together no more than 1.
TEST_CASE("rows may hold nothing back, and entries may be negative") {
  const auto solution = largest_sum({{1, -1}, {1, 1}}, {0, 1});
  CHECK(sum(solution.values) == Approx(1));
  CHECK(solution.values[0] <= solution.values[1] + 1e-6);
}

TEST_CASE("where all limits are 0 nothing is left") {
  const auto solution = largest_sum({{1, 1}, {2, 1}, {1, 3}}, {0, 0, 0});
  CHECK(sum(solution.values) == Approx(0).margin(1e-6));
}

TEST_CASE("without columns there is nothing to sum") {
  CHECK(largest_sum({}, {}).values.empty());
  CHECK(largest_sum({{}, {}}, {1, 1}).values.empty());
}

TEST_CASE("programs of three rows and columns reach the best of all corners, at these prices") {
  std::mt19937 random(71);
  std::uniform_int_distribution<int> entry(0, 9), limit(0, 6);
  for (int trial = 0; trial < 2000; ++trial) {
    INFO("trial " << trial);
    Rows rows(3, std::vector<double>(3));
    std::vector<double> limits;
    for (auto& row : rows) {
      for (auto& value : row) value = entry(random);
      limits.push_back(limit(random));
    }
    // Adding 1 to the diagonal bounds the program: every column uses some row.
    for (std::size_t j = 0; j < 3; ++j) rows[j][j] += 1;
    const auto solution = largest_sum(rows, limits);
    const double best = best_corner(rows, limits);
    CHECK(sum(solution.values) == Approx(best).margin(1e-6));
    double dual = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      dual += solution.prices[i] * limits[i];
      double used = 0, price = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        used += rows[i][j] * solution.values[j];
        price += rows[j][i] * solution.prices[j];
      }
      CHECK(used <= limits[i] + 1e-6);
      CHECK(price >= 1 - 1e-6);
    }
    CHECK(dual == Approx(best).margin(1e-6));
  }
}

}  // namespace linear_program_spec
