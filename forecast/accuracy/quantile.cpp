// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/quantile.hpp"

#include <algorithm>

namespace forecast {

double quantile(std::vector<Vote> votes, double share) {
  std::ranges::stable_sort(votes, {}, &Vote::value);
  double total = 0;
  for (const auto& vote : votes) total += vote.weight;
  double below = 0;
  for (const auto& vote : votes) {
    below += vote.weight;
    if (below >= (share - 1e-9) * total) return vote.value;
  }
  return votes.back().value;
}

double median(const std::vector<Vote>& votes) {
  auto mirrored = votes;
  for (auto& vote : mirrored) vote.value = -vote.value;
  return (quantile(votes, 0.5) - quantile(std::move(mirrored), 0.5)) / 2;
}

}  // namespace forecast
