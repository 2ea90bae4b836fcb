// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/observations.hpp"

#include <cmath>

namespace forecast {

double hopeless_residual() {
  static const double factor = std::log(100.0);
  return factor;
}

std::optional<double> residual_of(std::optional<double> error) {
  if (!error || !(*error > -1)) return {};
  return std::log1p(*error);
}

std::vector<Observation> weighed(const std::vector<Membership>& members, std::size_t sets,
                                 std::size_t groups) {
  std::vector<std::size_t> sizes(sets);
  for (const auto& member : members) ++sizes[member.set];
  const auto said = [&](std::size_t set) { return std::sqrt(static_cast<double>(sizes[set])); };
  double all = 0;
  for (std::size_t set = 0; set < sets; ++set) all += said(set);
  std::vector<Observation> observations;
  for (const auto& member : members)
    observations.push_back(
        {.weight = static_cast<double>(groups) / (all * said(member.set)), .group = member.group});
  return observations;
}

void add_errors(CalibrationSummary& summary, const std::vector<Membership>& members,
                const std::vector<double>& before, const FitAssessment& assessment) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto& set = summary.sets[members[i].set];
    const auto share = [&](double residual) {
      return std::abs(std::expm1(residual)) / static_cast<double>(set.observations);
    };
    set.before += share(before[i]);
    set.after += share(assessment.residuals[i]);
    set.left_out += share(assessment.left_out[i]);
  }
  const auto sets = static_cast<double>(summary.sets.size());
  for (const auto& set : summary.sets) {
    summary.before += set.before / sets;
    summary.after += set.after / sets;
    summary.left_out += set.left_out / sets;
  }
}

}  // namespace forecast
