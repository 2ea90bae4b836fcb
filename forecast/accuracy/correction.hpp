// SPDX-License-Identifier: Apache-2.0
// Forecasts corrected by measured steps of scenarios like theirs: docs/correction.md.
#pragma once
#include <string>
#include <vector>

#include "forecast/accuracy/similarity.hpp"
#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "units/quantity.hpp"

namespace forecast {

// Standard deviation of the logarithm of a step's time when it is measured again: runs of the same
// scenario on other days and nodes differ by one or two percent.
inline constexpr double usual_noise = 0.015;

// A step that was measured, beside its forecast, which has its interval and no correction.
struct MeasuredStep {
  std::string name;
  units::Seconds measured, forecast;
  Setting setting;
  double deviation = 0;  // standard deviation of log(measured / forecast) of forecasts like it
  double noise = usual_noise;
  double deviation_low = 0, deviation_high = 0;  // the same, below and above the forecast alone
};
MeasuredStep measured_step(std::string name, units::Seconds measured, double noise,
                           const Scenario& scenario, const Forecast& forecast);

struct Corrections {
  std::vector<MeasuredStep> steps;
  Similarity similarity;
};

// The part of a measured step in a correction.
struct Carried {
  std::string name;
  units::Seconds measured, forecast;
  double correlation = 0;
  // The power of measured / forecast that goes into the factor. Negative where nearer steps have
  // said the same and more.
  double weight = 0;
};

struct Correction {
  double factor = 1;                   // on the simulated step time
  double low = 1, high = 1;            // 80 % interval of measured over simulated step time
  double width_before = 0, width = 0;  // logarithm of high / low, without correction and with
  double contradiction = 0;            // standard deviation that contradicting steps add
  units::Seconds simulated;            // step time before
  std::vector<Carried> from;           // the greatest weight first
};

// Simple kriging of log(measured / forecast) with mean 0 (Rasmussen and Williams 2006, equations
// 2.25 and 2.26): the prior is the forecast's 80 % interval, correlations are `similarity`, the
// noise of a repeated measurement belongs to no scenario. Around the factor the interval keeps its
// shape and shrinks by the standard deviation that is left: as a ratio never wider than before,
// unless steps differ from each other by more than three standard deviations, which widens both of
// its ends by their spread.
// The forecast must have its interval and no correction. Without measured steps the factor is 1 and
// the interval stays. O(steps³).
Correction correction_of(const Scenario& scenario, const Forecast& forecast,
                         const Corrections& corrections);

// Multiplies all that takes time by the factor, parts of the step, passes, stages and timeline
// included, and divides rates by it; shares, memory and the load of links stay as simulated,
// because a measured step does not say which part of the forecast was off.
void stretch(Forecast& forecast, double factor);

// stretch() by the correction's factor, and its interval.
void apply(const Correction& correction, Forecast& forecast);

// A step that is measured further from its forecast is more likely not what its scenario says.
inline constexpr double suspicious_deviations = 3;

// Returns the error of the step's forecast in standard deviations of forecasts like it, on the
// side of the forecast that the measured time lies on: the end of an 80 % interval is 1.28 away.
double deviations(const MeasuredStep& step);

}  // namespace forecast
