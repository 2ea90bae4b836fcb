// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/calibration.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace forecast {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

double clamped(double value, const Unknown& unknown) {
  return std::clamp(value, unknown.low, unknown.high);
}

// Returns half the slope of Cauchy's rho, divided by the residual: 1 for small residuals, less for
// large ones.
double trust(double residual, double threshold) {
  const double size = residual / threshold;
  return 1 / (1 + size * size);
}

double cauchy(double residual, double threshold) {
  if (std::isinf(threshold)) return residual * residual;
  const double size = residual / threshold;
  return threshold * threshold * std::log1p(size * size);
}

double precision(const FitProblem& problem, const Unknown& unknown) {
  const double share = problem.noise / unknown.width;
  return share * share;
}

double cost_of(const FitProblem& problem, const Point& point, const std::vector<double>& r) {
  double cost = 0;
  for (std::size_t i = 0; i < r.size(); ++i)
    cost += problem.observations[i].weight * cauchy(r[i], problem.threshold);
  for (std::size_t p = 0; p < point.size(); ++p) {
    const auto& unknown = problem.unknowns[p];
    const double away = point[p] - unknown.start;
    cost += precision(problem, unknown) * away * away;
  }
  return cost;
}

std::vector<double> at(const Residuals& residuals, const Point& point) {
  return std::move(residuals({point}).front());
}

// Returns the residuals' derivatives as finite differences over a step upwards, or downwards near
// the upper bound.
Matrix jacobian(const FitProblem& problem, const Point& point, const std::vector<double>& here,
                const Residuals& residuals) {
  std::vector<Point> points(point.size(), point);
  for (std::size_t p = 0; p < point.size(); ++p) {
    const auto& unknown = problem.unknowns[p];
    const bool up = point[p] + unknown.step <= unknown.high ||
                    unknown.high - point[p] >= point[p] - unknown.low;
    points[p][p] = clamped(up ? point[p] + unknown.step : point[p] - unknown.step, unknown);
  }
  const auto there = residuals(points);
  Matrix result =
      Matrix::Zero(static_cast<Eigen::Index>(here.size()), static_cast<Eigen::Index>(point.size()));
  for (std::size_t p = 0; p < point.size(); ++p) {
    const double step = points[p][p] - point[p];
    if (step == 0) continue;  // bounds that leave no room
    for (std::size_t i = 0; i < here.size(); ++i)
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(p)) =
          (there[p][i] - here[i]) / step;
  }
  return result;
}

// The normal equations of a step: half the gradient of the cost, and half its curvature.
struct Normal {
  Vector gradient;
  Matrix curvature;
};

double weight_of(const FitProblem& problem, const std::vector<double>& r, std::size_t i) {
  return problem.observations[i].weight * trust(r[i], problem.threshold);
}

Normal normal_of(const FitProblem& problem, const Point& point, const std::vector<double>& r,
                 const Matrix& j) {
  const auto size = static_cast<Eigen::Index>(point.size());
  Vector weights(static_cast<Eigen::Index>(r.size())), weighted(weights.size());
  for (std::size_t i = 0; i < r.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    weights(row) = weight_of(problem, r, i);
    weighted(row) = weights(row) * r[i];
  }
  Normal normal{j.transpose() * weighted, j.transpose() * weights.asDiagonal() * j};
  for (Eigen::Index p = 0; p < size; ++p) {
    const auto& unknown = problem.unknowns[static_cast<std::size_t>(p)];
    const double known = precision(problem, unknown);
    normal.curvature(p, p) += known;
    normal.gradient(p) += known * (point[static_cast<std::size_t>(p)] - unknown.start);
  }
  return normal;
}

bool on_bound(double value, const Unknown& unknown) {
  return value <= unknown.low || value >= unknown.high;
}

// The parameters that may move: not those that the gradient presses against their bound.
std::vector<Eigen::Index> free_of(const FitProblem& problem, const Point& point,
                                  const Normal& normal) {
  std::vector<Eigen::Index> free;
  for (std::size_t p = 0; p < point.size(); ++p) {
    const auto row = static_cast<Eigen::Index>(p);
    const auto& unknown = problem.unknowns[p];
    const bool pressed = (point[p] <= unknown.low && normal.gradient(row) >= 0) ||
                         (point[p] >= unknown.high && normal.gradient(row) <= 0);
    if (!pressed && normal.curvature(row, row) > 0) free.push_back(row);
  }
  return free;
}

Point moved(const FitProblem& problem, const Point& point, const Normal& normal, double damping) {
  const auto free = free_of(problem, point, normal);
  Matrix curvature = normal.curvature(free, free);
  curvature.diagonal() *= 1 + damping;
  const Vector step = curvature.ldlt().solve(-normal.gradient(free));
  Point result = point;
  for (std::size_t f = 0; f < free.size(); ++f) {
    const auto p = static_cast<std::size_t>(free[f]);
    result[p] = clamped(point[p] + step(static_cast<Eigen::Index>(f)), problem.unknowns[p]);
  }
  return result;
}

void check(const FitProblem& problem) {
  if (problem.observations.empty()) throw std::invalid_argument("nothing to fit to");
  for (const auto& unknown : problem.unknowns)
    if (!(unknown.low <= unknown.start && unknown.start <= unknown.high))
      throw std::invalid_argument("a parameter starts outside its bounds");
}

// The point that the search has reached.
struct Stand {
  Point point;
  std::vector<double> residuals;
  double cost;
};

// Takes the first of ever shorter steps that is an improvement; returns false if there is none.
bool step_down(const FitProblem& problem, const Residuals& residuals, Stand& stand,
               double& damping) {
  constexpr int most_tries = 8;
  const auto j = jacobian(problem, stand.point, stand.residuals, residuals);
  const auto normal = normal_of(problem, stand.point, stand.residuals, j);
  for (int attempt = 0; attempt < most_tries; ++attempt, damping *= 8) {
    auto point = moved(problem, stand.point, normal, damping);
    if (point == stand.point) return false;
    auto r = at(residuals, point);
    const double cost = cost_of(problem, point, r);
    if (!(cost < stand.cost)) continue;
    stand = {std::move(point), std::move(r), cost};
    damping = std::max(damping / 8, 1e-9);
    return true;
  }
  return false;
}

// Observations by group, groups in order of first appearance.
std::vector<std::vector<Eigen::Index>> groups_of(const FitProblem& problem) {
  std::vector<std::vector<Eigen::Index>> members;
  std::vector<std::size_t> names;
  for (std::size_t i = 0; i < problem.observations.size(); ++i) {
    const auto name = problem.observations[i].group;
    const auto found = std::ranges::find(names, name);
    const auto place = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) {
      names.push_back(name);
      members.emplace_back();
    }
    members[place].push_back(static_cast<Eigen::Index>(i));
  }
  return members;
}

// Returns the point where it would be without the pull of the group.
Point without(const FitProblem& problem, const Point& point, Normal normal, const Matrix& j,
              const std::vector<double>& r, const std::vector<Eigen::Index>& group) {
  // The point is a minimum, so its gradient is only rounding, except for parameters on a bound.
  for (std::size_t p = 0; p < point.size(); ++p)
    if (!on_bound(point[p], problem.unknowns[p])) normal.gradient(static_cast<Eigen::Index>(p)) = 0;
  for (const auto row : group) {
    const auto i = static_cast<std::size_t>(row);
    const double weight = weight_of(problem, r, i);
    normal.gradient -= weight * r[i] * j.row(row).transpose();
    normal.curvature -= weight * j.row(row).transpose() * j.row(row);
  }
  // Parameters that only this group determines keep a positive curvature, however small.
  normal.curvature.diagonal().array() += 1e-12;
  return moved(problem, point, normal, 0);
}

std::vector<double> left_out(const FitProblem& problem, const Point& point, const Normal& normal,
                             const Matrix& j, const std::vector<double>& r) {
  std::vector<double> result(r.size());
  for (const auto& group : groups_of(problem)) {
    const auto elsewhere = without(problem, point, normal, j, r, group);
    Vector away(j.cols());
    for (std::size_t p = 0; p < point.size(); ++p)
      away(static_cast<Eigen::Index>(p)) = elsewhere[p] - point[p];
    for (const auto row : group) {
      const auto i = static_cast<std::size_t>(row);
      result[i] = r[i] + j.row(row).dot(away);
    }
  }
  return result;
}

// Returns the covariance of the free parameters; `noise`: the error of an observation of weight
// one.
Matrix covariance(const FitProblem& problem, Matrix curvature,
                  const std::vector<Eigen::Index>& free, double noise) {
  for (Eigen::Index p = 0; p < curvature.rows(); ++p) {
    const auto& unknown = problem.unknowns[static_cast<std::size_t>(p)];
    const double share = noise / unknown.width;
    curvature(p, p) += share * share - precision(problem, unknown);
  }
  const auto size = static_cast<Eigen::Index>(free.size());
  return Matrix(curvature(free, free)).ldlt().solve(noise * noise * Matrix::Identity(size, size));
}

// Returns the error of an observation of weight one, estimated from the residuals of the fit.
double noise_left(const FitProblem& problem, const Normal& normal, const std::vector<double>& r,
                  const std::vector<Eigen::Index>& free) {
  double squares = 0, count = 0, taken = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    squares += weight_of(problem, r, i) * r[i] * r[i];
    count += problem.observations[i].weight;
  }
  // A parameter that the prior holds takes no degree of freedom.
  const auto spread = covariance(problem, normal.curvature, free, problem.noise);
  for (std::size_t f = 0; f < free.size(); ++f) {
    const auto row = static_cast<Eigen::Index>(f);
    const double width = problem.unknowns[static_cast<std::size_t>(free[f])].width;
    taken += 1 - spread(row, row) / (width * width);
  }
  return std::sqrt(squares / std::max(count - taken, 1.0));
}

std::vector<double> standard_errors(const FitProblem& problem, const Point& point,
                                    const Normal& normal, const std::vector<double>& r) {
  std::vector<double> errors(point.size(), 0.0);
  std::vector<Eigen::Index> free;
  for (std::size_t p = 0; p < point.size(); ++p)
    if (!on_bound(point[p], problem.unknowns[p]) &&
        normal.curvature(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(p)) > 0)
      free.push_back(static_cast<Eigen::Index>(p));
  if (free.empty()) return errors;
  const double noise = noise_left(problem, normal, r, free);
  const auto spread = covariance(problem, normal.curvature, free, noise);
  for (std::size_t f = 0; f < free.size(); ++f) {
    const auto row = static_cast<Eigen::Index>(f);
    errors[static_cast<std::size_t>(free[f])] = std::sqrt(spread(row, row));
  }
  return errors;
}

}  // namespace

Minimum minimise(const FitProblem& problem, const Residuals& residuals) {
  check(problem);
  Stand stand;
  for (const auto& unknown : problem.unknowns) stand.point.push_back(unknown.start);
  stand.residuals = at(residuals, stand.point);
  stand.cost = cost_of(problem, stand.point, stand.residuals);
  Minimum result;
  for (double damping = 1e-3; result.steps < problem.most_steps; ++result.steps) {
    const double before = stand.cost;
    result.converged = !step_down(problem, residuals, stand, damping) ||
                       before - stand.cost <= problem.enough * before;
    if (result.converged) break;
  }
  result.point = std::move(stand.point);
  result.cost = stand.cost;
  return result;
}

FitAssessment assess(const FitProblem& problem, const Point& point, const Residuals& residuals) {
  check(problem);
  FitAssessment result;
  result.residuals = at(residuals, point);
  const auto& r = result.residuals;
  const auto j = jacobian(problem, point, r, residuals);
  const auto normal = normal_of(problem, point, r, j);
  result.standard_errors = standard_errors(problem, point, normal, r);
  for (std::size_t p = 0; p < point.size(); ++p)
    result.at_bound.push_back(on_bound(point[p], problem.unknowns[p]));
  result.left_out = left_out(problem, point, normal, j, r);
  return result;
}

}  // namespace forecast
