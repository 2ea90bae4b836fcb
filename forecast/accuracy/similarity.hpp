// SPDX-License-Identifier: Apache-2.0
// Similarity of two scenarios: the dimensions in which they differ, and the correlation of their
// forecast errors. The model: docs/correction.md.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"

namespace forecast {

// In a dimension of words two scenarios agree or differ; in a dimension of numbers their distance
// is a number of doublings.
inline constexpr std::array<std::string_view, 9> word_dimensions{"device",    "fabric", "software",
                                                                 "precision", "bound",  "experts",
                                                                 "recompute", "zero",   "offload"};
inline constexpr std::array<std::string_view, 8> number_dimensions{
    "gpus",     "parameters", "sequence",    "tensor",
    "pipeline", "context",    "micro_batch", "microbatches"};

// The values of a scenario in each dimension.
struct Setting {
  std::array<std::string, word_dimensions.size()> words;
  std::array<double, number_dimensions.size()> numbers{};  // logarithms to base two
  units::Seconds simulated;                                // step time, before any correction
};

Setting setting_of(const Scenario& scenario, const Forecast& forecast);

// Distance that a difference and a doubling make along each dimension. `own`: share of a forecast's
// error, as variance, that no other scenario has, however near.
struct Similarity {
  double own = 0;
  std::array<double, word_dimensions.size()> difference{};
  std::array<double, number_dimensions.size()> doubling{};
  friend bool operator==(const Similarity&, const Similarity&) = default;
};

// Whether both settings have the same value in every dimension and take the same simulated time.
bool same(const Setting& a, const Setting& b);

// Distance of two settings: the sum over the dimensions; a metric. O(dimensions).
double distance(const Setting& a, const Setting& b, const Similarity& similarity);

// Returns 1 for the same setting, otherwise (1 − own) · exp(−distance). Positive definite: a
// product of exponential kernels, one for each dimension (Rasmussen and Williams 2006, section
// 4.2), and a part of each scenario's own.
double correlation(const Setting& a, const Setting& b, const Similarity& similarity);

// --- Fitting

// The error of a forecast, in standard deviations of the errors of similar forecasts.
struct Deviation {
  Setting setting;
  double value = 0;   // log(measured / forecast) over its standard deviation
  double shared = 1;  // share of the variance that is no noise of the measurement
};

// Deviations of runs of one cluster, such as those of a data set.
using Family = std::vector<Deviation>;

// Returns the similarity under which pairs of deviations of the same family are most likely: the
// pairwise likelihood of normal distributions (Varin, Reid and Firth 2011, "An overview of
// composite likelihood methods"), a family weighing as the root of its runs, times a log-normal
// prior around `usual` for each figure: a figure along which nothing was measured stays there.
// Deviations count as at most three. Climbs along one figure after the other, on a fixed grid. At
// most `most_pairs` pairs of a family count, evenly spread. O(families · most_pairs · figures ·
// steps).
inline constexpr std::size_t most_pairs = 1000;
Similarity usual_similarity();
Similarity fit_similarity(const std::vector<Family>& families, const Similarity& usual);

}  // namespace forecast
