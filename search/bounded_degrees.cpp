// SPDX-License-Identifier: Apache-2.0
#include "search/bounded_degrees.hpp"

#include <algorithm>
#include <tuple>

#include "search/least_time.hpp"

namespace search {

void bound_division(const Question& question, PriceCache& cache, std::size_t division,
                    Picoseconds threshold, BoundedDegrees& result) {
  using strategies::Plan;
  const auto& degrees = cache.plan(division);
  const bool fits = cache.fits(division);
  const auto least = cache.least_time(division);
  if (!fits || least >= threshold) {
    std::int64_t count = 0;
    for_each_step(question.scenario, question.space, degrees, [&](const Plan&) { ++count; });
    result.enumerated += count;
    if (!fits) result.too_large += count;
    if (fits && least >= sim::unreached) result.too_long += count;
    if (fits) result.left = std::min(result.left, least);
    return cache.forget(division);
  }
  const auto& prices = cache.fastest(division);
  const auto before = result.open.size();
  const strategies::ReplicaCosts* replicas = nullptr;
  std::tuple<std::int64_t, int, std::int64_t> shared;
  const auto visit = [&](const Plan& plan) {
    ++result.enumerated;
    PlanFacts facts(question.scenario, plan, prices);
    // Most plans need no look at the exchanges of replicas.
    const auto alone = least_time_of_passes(facts);
    if (alone >= threshold) {
      if (alone >= sim::unreached) ++result.too_long;
      result.left = std::min(result.left, alone);
      return;
    }
    // The costs of replicas change more rarely than the plan.
    const std::tuple key{plan.pipeline, plan.zero, strategies::copies_of(plan)};
    if (replicas == nullptr || key != shared) replicas = &cache.replica_costs(division, plan);
    shared = key;
    const auto bound = least_time(PlanBounds(facts, *replicas));
    if (bound >= threshold) {
      result.left = std::min(result.left, bound);
      return;
    }
    result.open.push_back(
        {{static_cast<std::uint32_t>(division), static_cast<std::int32_t>(plan.pipeline),
          static_cast<std::int16_t>(plan.virtual_stages), static_cast<std::int8_t>(plan.zero),
          plan.schedule},
         bound});
  };
  for_each_step(question.scenario, question.space, degrees, visit);
  if (result.open.size() == before) cache.forget(division);
}

}  // namespace search
