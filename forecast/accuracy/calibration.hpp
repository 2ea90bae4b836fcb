// SPDX-License-Identifier: Apache-2.0
// Fitting a model's parameters to measurements, and saying how far they can be trusted. It does not
// know the parameters' meaning: the caller gives the residuals as a function of them.
//
// The fit minimises, over parameters x between their bounds:
//
//     sum over observations of w · rho(r(x))  +  noise² · sum over parameters ((x - start)/width)²
//
// with Cauchy's rho, threshold² log(1 + (r/threshold)²): r² where small, and ever flatter, because
// an error that no parameter explains must not move any. `noise` is the usual residual of an
// observation of weight one: it weighs a measurement against prior knowledge.
#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace forecast {

// One number that is fitted, in the coordinate that the fit moves in: a logarithm, say.
struct Unknown {
  double start, low, high;
  double width = std::numeric_limits<double>::infinity();  // prior width, one sigma
  double step = 0.03;  // finite difference, beyond the noise of discrete decisions
};

struct Observation {
  double weight = 1;
  std::size_t group = 0;  // rows of the same configuration, left out together
};

struct FitProblem {
  std::vector<Unknown> unknowns;
  std::vector<Observation> observations;
  double threshold = std::numeric_limits<double>::infinity();
  double noise = 1;
  int most_steps = 30;
  double enough = 1e-5;  // relative decrease below which no further step is taken
};

using Point = std::vector<double>;
// The residuals of all observations at each of the points. Every one is finite; the same point
// gives the same residuals. Points that come together may be worked on at once.
using Residuals = std::function<std::vector<std::vector<double>>(const std::vector<Point>&)>;

struct Minimum {
  Point point;
  double cost = 0;
  int steps = 0;           // steps taken
  bool converged = false;  // false: `most_steps` were not enough
};

// Minimises by Levenberg-Marquardt from the starts; a parameter that would leave its bounds stays
// on them. (parameters + 1) evaluations a step, and one more for every step that is refused. Throws
// std::invalid_argument for a start outside its bounds, or without observations.
Minimum minimise(const FitProblem& problem, const Residuals& residuals);

struct FitAssessment {
  std::vector<double> residuals;
  // Standard error of each parameter. Weights of observations count as numbers of independent ones.
  // The square is the diagonal of (JᵀWJ / s² + 1/width²)⁻¹, s² being the weighted mean square of
  // the residuals over the degrees of freedom. Zero on a bound: the fit does not tell how far
  // beyond the value lies.
  std::vector<double> standard_errors;
  std::vector<bool> at_bound;
  // Residual of each observation by parameters that never saw its group: one Gauss-Newton step from
  // the point with the group's part of JᵀWJ and of the gradient taken out.
  std::vector<double> left_out;
};

// Assesses a fit at a point where the cost is smallest. parameters + 1 evaluations; O(groups ·
// parameters³).
FitAssessment assess(const FitProblem& problem, const Point& point, const Residuals& residuals);

}  // namespace forecast
