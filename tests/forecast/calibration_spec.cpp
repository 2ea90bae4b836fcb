// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stdexcept>

#include "forecast/accuracy/calibration.hpp"
#include "tests/catch.hpp"

namespace calibration_spec {

namespace {

using forecast::FitProblem;
using forecast::Point;
using forecast::Residuals;

// The residuals of a model of one observation after the other, at several points.
template <class Model>
Residuals of(std::size_t observations, Model model) {
  return [=](const std::vector<Point>& points) {
    std::vector<std::vector<double>> all;
    for (const auto& point : points) {
      auto& one = all.emplace_back();
      for (std::size_t i = 0; i < observations; ++i) one.push_back(model(point, i));
    }
    return all;
  };
}

FitProblem problem(std::vector<forecast::Unknown> unknowns, std::size_t observations) {
  FitProblem made{.unknowns = std::move(unknowns)};
  for (std::size_t i = 0; i < observations; ++i) made.observations.push_back({.group = i});
  return made;
}

// The measured y at x = 0, 1, 2, 3, and its distance from a straight line a + b·x.
constexpr double measured[] = {1, 3, 4, 8};
double off_line(const Point& line, std::size_t i) {
  return line[0] + line[1] * static_cast<double>(i) - measured[i];
}

}  // namespace

TEST_CASE("known parameters of a bent model are found again") {
  // The model is a · exp(b · x) with a = 3 and b = -0.5, from a start far away.
  const auto residuals = of(6, [](const Point& p, std::size_t i) {
    const auto x = static_cast<double>(i);
    return p[0] * std::exp(p[1] * x) - 3 * std::exp(-0.5 * x);
  });
  const auto found = forecast::minimise(
      problem({{1, 0.1, 10, INFINITY, 1e-6}, {0.5, -2, 2, INFINITY, 1e-6}}, 6), residuals);
  CHECK(found.converged);
  CHECK(found.point[0] == Approx(3).epsilon(1e-6));
  CHECK(found.point[1] == Approx(-0.5).epsilon(1e-6));
  CHECK(found.cost < 1e-10);
}

TEST_CASE("a straight line has the standard errors of the textbook") {
  // The mean of x is 1.5, of y 4; Sxx is 5, Sxy 11: slope 2.2, intercept 0.7. Residuals are 0.3,
  // 0.1, -1.1, 0.7 with the sign of off_line reversed, so the sum of squares is 1.8, with two
  // degrees of freedom a variance of 0.9.
  const auto line = problem({{0, -10, 10, INFINITY, 0.01}, {0, -10, 10, INFINITY, 0.01}}, 4);
  const auto residuals = of(4, off_line);
  const auto found = forecast::minimise(line, residuals);
  CHECK(found.point[0] == Approx(0.7).epsilon(1e-6));
  CHECK(found.point[1] == Approx(2.2).epsilon(1e-6));
  const auto sure = forecast::assess(line, found.point, residuals);
  CHECK(sure.standard_errors[1] == Approx(std::sqrt(0.9 / 5)));
  CHECK(sure.standard_errors[0] == Approx(std::sqrt(0.9 * (0.25 + 2.25 / 5))));
}

TEST_CASE("a point that was left out is forecast by the line through the others") {
  const auto line = problem({{0, -10, 10, INFINITY, 0.01}, {0, -10, 10, INFINITY, 0.01}}, 4);
  const auto residuals = of(4, off_line);
  const auto sure = forecast::assess(line, forecast::minimise(line, residuals).point, residuals);
  // The line through (0, 1), (1, 3), (2, 4) has slope 1.5 and intercept 7/6; at x = 3 it is 17/3.
  CHECK(sure.left_out[3] == Approx(17.0 / 3 - 8).epsilon(1e-5));
  CHECK(std::abs(sure.left_out[3]) > std::abs(sure.residuals[3]));
}

TEST_CASE("observations of one group are left out together") {
  auto two = problem({{0, -10, 10, INFINITY, 0.01}}, 4);  // its solution is the mean
  two.observations[1].group = 0;
  const auto residuals = of(4, [](const Point& p, std::size_t i) { return p[0] - measured[i]; });
  const auto sure = forecast::assess(two, forecast::minimise(two, residuals).point, residuals);
  CHECK(sure.left_out[0] == Approx(6 - 1).epsilon(1e-6));  // the mean of 4 and 8
  CHECK(sure.left_out[1] == Approx(6 - 3).epsilon(1e-6));
  CHECK(sure.left_out[3] == Approx(8.0 / 3 - 8).epsilon(1e-6));
}

TEST_CASE("a parameter never leaves its bounds, and says so") {
  const auto bounded = problem({{0, -10, 10, INFINITY, 0.01}, {1, 0.5, 2, INFINITY, 0.01}}, 4);
  const auto residuals = of(4, [](const Point& p, std::size_t i) {
    CHECK(p[1] <= 2);
    CHECK(p[1] >= 0.5);
    return off_line(p, i);
  });
  const auto found = forecast::minimise(bounded, residuals);
  CHECK(found.point[1] == 2);
  CHECK(found.point[0] == Approx(1).epsilon(1e-6));  // mean of y less 2 · 1.5
  const auto sure = forecast::assess(bounded, found.point, residuals);
  CHECK(sure.at_bound == std::vector<bool>{false, true});
  CHECK(sure.standard_errors[1] == 0);
}

TEST_CASE("a bound that the data of all groups press against holds without any of them") {
  const auto pressing = problem({{0, -10, 0.5, INFINITY, 0.01}}, 10);
  const auto residuals = of(10, [](const Point& p, std::size_t) { return p[0] - 0.9; });
  const auto sure = forecast::assess(pressing, {0.5}, residuals);
  CHECK(sure.left_out[0] == Approx(0.5 - 0.9));
}

TEST_CASE("prior knowledge draws a parameter like an observation of its own") {
  // The result is the mean of 4, 4 and 1: two observations of 4, and a prior at 1 whose width is
  // that of the noise.
  auto known = problem({{1, -10, 10, 0.5, 0.01}}, 2);
  known.noise = 0.5;
  const auto residuals = of(2, [](const Point& p, std::size_t) { return p[0] - 4; });
  CHECK(forecast::minimise(known, residuals).point[0] == Approx(3).epsilon(1e-6));
  // Residuals of -1 have squares that sum to 2. The parameter's two observations take 2/3 of a
  // degree of freedom, so s² is 1.5, and the error the root of 1 / (2 / 1.5 + 1 / 0.25).
  CHECK(forecast::assess(known, {3}, residuals).standard_errors[0] ==
        Approx(std::sqrt(1 / (2 / 1.5 + 4))));
}

TEST_CASE("a parameter that no observation feels stays where it was known to be") {
  const auto residuals =
      of(3, [](const Point& p, std::size_t i) { return p[0] - static_cast<double>(i); });
  const auto loose = problem({{0, -9, 9, INFINITY, 0.01}, {5, -9, 9, INFINITY, 0.01}}, 3);
  const auto found = forecast::minimise(loose, residuals);
  CHECK(found.point[0] == Approx(1).epsilon(1e-6));
  CHECK(found.point[1] == 5);
  CHECK(forecast::assess(loose, found.point, residuals).standard_errors[1] == 0);
}

TEST_CASE("a wild observation counts the less the wilder it is") {
  auto sturdy = problem({{0, -100, 100, INFINITY, 0.01}}, 5);
  sturdy.threshold = 1;
  sturdy.most_steps = 200;
  // Observations are 0, 0, 0, 0 and 100. The last pulls by its distance over its square, so 4x =
  // 100/(1 + 100²).
  const auto residuals =
      of(5, [](const Point& p, std::size_t i) { return p[0] - (i == 4 ? 100.0 : 0.0); });
  CHECK(forecast::minimise(sturdy, residuals).point[0] == Approx(0.0025).epsilon(1e-2));
}

TEST_CASE("a fit without observations, or from outside its bounds, is refused") {
  const auto residuals = of(0, [](const Point&, std::size_t) { return 0.0; });
  CHECK_THROWS_AS(forecast::minimise(problem({{1, 0, 2}}, 0), residuals), std::invalid_argument);
  CHECK_THROWS_AS(forecast::minimise(problem({{3, 0, 2}}, 1), residuals), std::invalid_argument);
}

}  // namespace calibration_spec
