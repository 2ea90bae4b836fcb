// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/neighbours.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "forecast/accuracy/quantile.hpp"

namespace forecast {
namespace {

using Eigen::Index;

// A measured run with log(measured / forecast) and its prior interval; `deviation` is that residual
// in spreads of the interval.
struct ScaledResidual {
  Deviation deviation;
  double log_ratio = 0, low = 0, high = 0, spread = 0;
};

Intervals intervals_without(const std::vector<MeasuredSet>& sets, const MeasuredSet* left_out) {
  std::vector<Residual> residuals;
  for (const auto& set : sets)
    if (&set != left_out)
      for (const auto& run : set.runs)
        residuals.push_back({set.name, run.run, std::log(run.measured / run.forecast)});
  return intervals_of(residuals);
}

std::vector<ScaledResidual> scaled_residuals(const MeasuredSet& set, const Intervals& intervals) {
  std::vector<ScaledResidual> all;
  for (const auto& run : set.runs) {
    const auto interval = interval_of(run.run, intervals);
    ScaledResidual one{
        {run.setting}, std::log(run.measured / run.forecast), interval.low, interval.high};
    one.spread = (one.high - one.low) / (2 * normal_tenth);
    if (!(one.spread > usual_noise)) continue;
    one.deviation.value = one.log_ratio / one.spread;
    one.deviation.shared = 1 - std::pow(usual_noise / one.spread, 2);
    all.push_back(std::move(one));
  }
  return all;
}

Family family_in(const std::vector<ScaledResidual>& runs) {
  Family family;
  for (const auto& run : runs) family.push_back(run.deviation);
  return family;
}

// The sum of what single forecasts add to a mean.
struct Sum {
  Accuracy accuracy;
  double weight = 0;

  // Adds a run whose forecast's logarithm is raised by `shift`, and whose variance shrinks by the
  // factor `left`.
  void add(const ScaledResidual& run, double shift, double left, double share = 1) {
    const double off = run.log_ratio - shift, shrink = std::sqrt(left);
    accuracy.error += share * std::abs(std::exp(-off) - 1);
    accuracy.coverage += share * (off >= shrink * run.low && off <= shrink * run.high ? 1 : 0);
    accuracy.width += share * shrink * (run.high - run.low);
    weight += share;
  }
  Accuracy mean() const {
    return {accuracy.error / weight, accuracy.coverage / weight, accuracy.width / weight};
  }
};

double shared_correlation(const ScaledResidual& a, const ScaledResidual& b,
                          const Similarity& similarity) {
  return std::sqrt(a.deviation.shared * b.deviation.shared) *
         correlation(a.deviation.setting, b.deviation.setting, similarity);
}

void add_by(Sum& sum, const ScaledResidual& run, const ScaledResidual& other, double r,
            double share) {
  sum.add(run, run.spread * r * other.deviation.value, 1 - r * r, share);
}

// Adds each run, corrected by all others at once, by the inverse of the correlations (Rasmussen and
// Williams 2006, equations 5.12).
void add_rest(Sum& sum, const std::vector<ScaledResidual>& runs,
              const Eigen::MatrixXd& correlations) {
  const auto size = correlations.rows();
  const Eigen::MatrixXd inverse = correlations.ldlt().solve(Eigen::MatrixXd::Identity(size, size));
  Eigen::VectorXd values(size);
  for (Index i = 0; i < size; ++i) values(i) = runs[static_cast<std::size_t>(i)].deviation.value;
  const Eigen::VectorXd weighted = inverse * values;
  for (Index i = 0; i < size; ++i) {
    const auto& run = runs[static_cast<std::size_t>(i)];
    const double mean = values(i) - weighted(i) / inverse(i, i);
    sum.add(run, run.spread * mean, std::clamp(1 / inverse(i, i), 0.0, 1.0));
  }
}

NeighbourScore score_runs(const std::string& name, const std::vector<ScaledResidual>& runs,
                          const Similarity& similarity) {
  const auto size = static_cast<Index>(runs.size());
  Eigen::MatrixXd correlations = Eigen::MatrixXd::Identity(size, size);
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < i; ++j)
      correlations(i, j) = correlations(j, i) = shared_correlation(
          runs[static_cast<std::size_t>(i)], runs[static_cast<std::size_t>(j)], similarity);
  Sum plain, any, nearest, rest;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    plain.add(runs[i], 0, 1);
    std::size_t best = i == 0 ? 1 : 0;
    const auto like = [&](std::size_t j) {
      return correlations(static_cast<Index>(i), static_cast<Index>(j));
    };
    for (std::size_t j = 0; j < runs.size(); ++j) {
      if (j == i) continue;
      add_by(any, runs[i], runs[j], like(j), 1 / static_cast<double>(runs.size() - 1));
      if (like(j) > like(best)) best = j;
    }
    add_by(nearest, runs[i], runs[best], like(best), 1);
  }
  add_rest(rest, runs, correlations);
  return {name, runs.size(), plain.mean(), any.mean(), nearest.mean(), rest.mean()};
}

}  // namespace

Similarity similarity_of(const std::vector<MeasuredSet>& sets) {
  const auto intervals = intervals_without(sets, nullptr);
  std::vector<Family> families;
  for (const auto& set : sets) families.push_back(family_in(scaled_residuals(set, intervals)));
  return fit_similarity(families, usual_similarity());
}

std::vector<NeighbourScore> score_neighbours(const std::vector<MeasuredSet>& sets) {
  std::vector<NeighbourScore> scores;
  for (const auto& set : sets) {
    if (set.runs.size() < 2) continue;
    const auto intervals = intervals_without(sets, &set);
    std::vector<Family> others;
    for (const auto& other : sets)
      if (&other != &set) others.push_back(family_in(scaled_residuals(other, intervals)));
    const auto similarity = fit_similarity(others, usual_similarity());
    const auto runs = scaled_residuals(set, intervals);
    if (runs.size() > 1) scores.push_back(score_runs(set.name, runs, similarity));
  }
  return scores;
}

NeighbourScore mean_of(const std::vector<NeighbourScore>& scores) {
  NeighbourScore mean{"mean of the data sets"};
  const double share = 1 / static_cast<double>(scores.size());
  for (const auto& one : scores) {
    mean.runs += one.runs;
    for (const auto part : {&NeighbourScore::plain, &NeighbourScore::any, &NeighbourScore::nearest,
                            &NeighbourScore::rest}) {
      (mean.*part).error += share * (one.*part).error;
      (mean.*part).coverage += share * (one.*part).coverage;
      (mean.*part).width += share * (one.*part).width;
    }
  }
  return mean;
}

}  // namespace forecast
