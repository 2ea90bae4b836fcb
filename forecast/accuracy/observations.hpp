// SPDX-License-Identifier: Apache-2.0
// Measured runs of several data sets as observations of a fit: their residuals, their weights, and
// the errors of each data set.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "forecast/accuracy/calibration.hpp"
#include "forecast/accuracy/calibration_summary.hpp"

namespace forecast {

// The residual of a run that cannot be simulated: as bad as one that is off by a factor of 100.
double hopeless_residual();

// ln(predicted / measured) of a run whose forecast is off by `error` = predicted / measured − 1.
// Absent if `error` is absent, or if nothing was predicted (error ≤ −1).
std::optional<double> residual_of(std::optional<double> error);

// The data set of an observation, and its group of equal configurations.
struct Membership {
  std::size_t set = 0, group = 0;
};

// Returns the observations with weights. A data set of n observations weighs √n, because they share
// its errors; all observations together weigh as much as there are groups, so one of that set
// weighs groups / Σ√n / √n. Every set must have an observation.
std::vector<Observation> weighed(const std::vector<Membership>& members, std::size_t sets,
                                 std::size_t groups);

// Adds to the summary the mean errors of each of its data sets, whose sizes it has, and their
// means: with the residuals before, with those of the assessment, and with groups left out.
void add_errors(CalibrationSummary& summary, const std::vector<Membership>& members,
                const std::vector<double>& before, const FitAssessment& assessment);

}  // namespace forecast
