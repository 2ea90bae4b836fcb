// SPDX-License-Identifier: Apache-2.0
#include "search/incumbents.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace search {

namespace {

// The guesses that promise most, at most `most`, and at most `most_alike` of each schedule and
// sharding.
std::vector<std::uint32_t> best_of(std::vector<Guess> guesses, const std::vector<Degrees>& degrees,
                                   std::size_t most, int most_alike) {
  std::ranges::stable_sort(guesses, {}, &Guess::time);
  std::map<std::pair<int, strategies::ScheduleKind>, int> alike;
  std::vector<std::uint32_t> chosen;
  for (const auto& guess : guesses) {
    if (chosen.size() == most) break;
    const auto& of = degrees[guess.index];
    if (++alike[{of.zero, of.schedule}] <= most_alike) chosen.push_back(guess.index);
  }
  return chosen;
}

}  // namespace

std::vector<std::uint32_t> first_choices(std::vector<Guess> guesses,
                                         const std::vector<Degrees>& degrees) {
  return best_of(std::move(guesses), degrees, 32, 1);
}

std::vector<std::uint32_t> next_choices(std::vector<Guess> guesses,
                                        const std::vector<Degrees>& degrees) {
  return best_of(std::move(guesses), degrees, 16, 4);
}

bool are_neighbours(const strategies::Plan& a, const strategies::Plan& b) {
  const int different = (a.tensor != b.tensor) + (a.sequence_parallel != b.sequence_parallel) +
                        (a.context != b.context) + (a.expert != b.expert) +
                        (expert_tensor(a) != expert_tensor(b)) + (a.pipeline != b.pipeline) +
                        (a.micro_batch != b.micro_batch) + (a.zero != b.zero) +
                        (a.schedule != b.schedule || a.virtual_stages != b.virtual_stages);
  return different <= 2;
}

}  // namespace search
