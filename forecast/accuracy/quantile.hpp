// SPDX-License-Identifier: Apache-2.0
// Quantiles of values that do not all count alike.
#pragma once
#include <vector>

namespace forecast {

// A tenth of a standard normal distribution lies beyond so many standard deviations, so 80 % of it
// lie between as many on both sides of the mean.
constexpr double normal_tenth = 1.2816;
// The same to the last digit, which the money of a purchase has been computed with.
constexpr double exact_normal_tenth = 1.2815515655446004;

struct Vote {
  double value = 0, weight = 1;  // weight > 0
};

// The smallest value that a share of the weight, 0 < share <= 1, does not exceed (nearest rank).
// Sums of weights are compared to within a part in 10^9, so that nine votes of a tenth are 0.9. The
// votes must not be empty. O(votes log votes).
double quantile(std::vector<Vote> votes, double share);

// Between that from below and that from above: the usual median of equal weights.
double median(const std::vector<Vote>& votes);

}  // namespace forecast
