// SPDX-License-Identifier: Apache-2.0
// Quantiles of values that do not all count alike.
#pragma once
#include <vector>

namespace forecast {

// The number of standard deviations beyond which a tenth of a normal distribution lies, so that 80
// % of it lie within as many on both sides of the mean.
constexpr double normal_tenth = 1.2816;
// The same to the last digit, which the money of a purchase has been computed with.
constexpr double exact_normal_tenth = 1.2815515655446004;

// The standard deviation of a normal distribution of which a tenth lies further than `reach` above
// its mean, and a tenth as far below.
constexpr double deviation_within(double reach) { return reach / exact_normal_tenth; }

struct Vote {
  double value = 0, weight = 1;  // weight > 0
};

// The smallest value that a share of the weight, 0 < share <= 1, does not exceed (nearest rank).
// Sums of weights are compared to within a part in 10^9, so that nine votes of a tenth are 0.9. The
// votes must not be empty. O(votes log votes).
double quantile(std::vector<Vote> votes, double share);

// Returns the mean of the medians counted from below and from above, which is the usual median if
// all weights are equal.
double median(const std::vector<Vote>& votes);

}  // namespace forecast
