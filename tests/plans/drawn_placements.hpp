// SPDX-License-Identifier: Apache-2.0
// Plans of at most some hundred ranks in any order of degrees, whose experts fit their ranks.
#pragma once
#include <algorithm>
#include <random>

#include "plans/placement.hpp"

namespace tests {

inline strategies::Plan drawn_placement(std::mt19937& random, bool any_order = true) {
  const auto one_of = [&](std::initializer_list<std::int64_t> numbers) {
    const auto i = std::uniform_int_distribution<std::size_t>(0, numbers.size() - 1)(random);
    return *(numbers.begin() + i);
  };
  strategies::Plan plan{.tensor = one_of({1, 2, 3, 4}),
                        .pipeline = one_of({1, 2, 4}),
                        .data = one_of({1, 2, 3, 4, 6}),
                        .context = one_of({1, 1, 2, 3})};
  plan.expert = one_of({1, 2, 3, 4, 6});
  if (one_of({0, 1}) == 1) plan.expert_tensor = one_of({1, 2});
  if (plan.pipeline > 1 && one_of({0, 0, 1}) == 1)
    plan.schedule = strategies::ScheduleKind::dualpipe;
  if (any_order && one_of({0, 1}) == 1) std::ranges::shuffle(plan.rank_order, random);
  return strategies::places_experts(plan) ? plan : drawn_placement(random, any_order);
}

}  // namespace tests
