// SPDX-License-Identifier: Apache-2.0
#include "search/evaluator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "search/cuts.hpp"
#include "search/least_memory.hpp"
#include "search/least_time.hpp"
#include "search/solvers/partition.hpp"
#include "search/solvers/relaxation.hpp"

namespace search {

namespace {

using strategies::Plan;
using strategies::ScheduleKind;

}  // namespace

Plan Evaluator::plan_of(const Degrees& degrees) const {
  auto plan = context_.cache.plan(degrees.division);
  plan.pipeline = degrees.pipeline;
  plan.data =
      context_.question.scenario.cluster.gpus / (plan.tensor * plan.context * plan.pipeline);
  plan.zero = degrees.zero;
  plan.schedule = degrees.schedule;
  plan.virtual_stages = degrees.chunks;
  return plan;
}

void Evaluator::bound_partitions(const PipelineProblem& problem, Picoseconds target,
                                 Look& look) const {
  Relaxation relaxation(problem);
  const auto relaxed = relaxation.improve(target, {.rounds = 150, .nodes = 24});
  look.fits = relaxed.lower_bound.has_value();
  if (!look.fits) return;
  look.bound = std::max(look.bound, *relaxed.lower_bound);
  look.reached = look.bound >= target;
  if (look.reached) return;
  look.cuts = relaxed.cuts;
  if (problem.layout.chunks > 1) return;
  const auto found = partition(
      problem, {.rounds = 40, .comparisons = 1'000'000, .passes = 1'000'000, .target = target});
  look.bound = std::max(look.bound, std::min(found.lower_bound, target));
  look.reached = look.bound >= target;
  if (found.best) look.cuts.push_back(found.best->first_layer);
}

std::optional<Picoseconds> Evaluator::guess(const Degrees& degrees) const {
  const auto plan = plan_of(degrees);
  return guessed_time(
      bounds_of(context_, degrees.division, plan, context_.cache.fastest(degrees.division)),
      context_.question.memory_headroom);
}

double Evaluator::rough_memory(const Degrees& degrees) const {
  const auto plan = plan_of(degrees);
  return search::rough_memory(
      bounds_of(context_, degrees.division, plan, context_.cache.fastest(degrees.division)));
}

// Whether the bound of pairs holds: no recomputation that is allowed makes passes shorter.
bool Evaluator::waits_for_exchanges(const Plan& plan) const {
  return strategies::pairs_always(plan.schedule) && context_.cache.keeping_is_free() &&
         context_.cache.fastest_recomputes_nothing() && !plan.layer_tensor;
}

Look Evaluator::look(const Degrees& degrees, Picoseconds target) const {
  try {
    return look_at_all(degrees, target);
  } catch (const Stopped&) {
    return {};
  }
}

namespace {

// Joins the looks at two parts of a choice of degrees. Cuts are those of the first part: others
// have one each.
Look either(Look a, const Look& b) {
  if (!b.fits) return a;
  if (!a.fits) return {.bound = b.bound, .reached = b.reached};
  a.bound = std::min(a.bound, b.bound);
  a.reached = a.reached && b.reached;
  return a;
}

}  // namespace

Look Evaluator::look_at_all(const Degrees& degrees, Picoseconds target) const {
  const auto plan = plan_of(degrees);
  auto look = look_closely(plan, degrees, target);
  const auto uneven = uneven_below(plan, degrees, target);
  for (const auto& one : uneven.plans)
    look = either(std::move(look), look_closely(one, degrees, target));
  if (uneven.others) look = either(std::move(look), {.bound = *uneven.others, .reached = true});
  return look;
}

Evaluator::Uneven Evaluator::uneven_below(const Plan& plan, const Degrees& degrees,
                                          Picoseconds target) const {
  if (plan.schedule != ScheduleKind::interleaved || !context_.question.space.partition) return {};
  const auto bounds =
      bounds_of(context_, degrees.division, plan, context_.cache.fastest(degrees.division));
  if (!states_fit(bounds, context_.question.memory_headroom)) return {};
  const auto layers = context_.question.scenario.model.layers;
  const double each = least_time_of_chunks(bounds);
  const auto least = [&](std::int64_t many) {
    return whole_bound(each * static_cast<double>(many));
  };
  std::int64_t most = 0;
  while (most < layers && least(most + 1) < target) ++most;
  auto found = uneven_cuts(plan, context_.question.space, layers, most);
  Uneven uneven;
  if (!found.all) uneven.others = least(most + 1);
  for (auto& cut : found.cuts) {
    uneven.plans.push_back(plan);
    uneven.plans.back().layers_per_stage = std::move(cut);
  }
  return uneven;
}

Look Evaluator::look_closely(const Plan& plan, const Degrees& degrees, Picoseconds target) const {
  const auto fastest =
      bounds_of(context_, degrees.division, plan, context_.cache.fastest(degrees.division));
  Look result;
  result.fits = states_fit(fastest, context_.question.memory_headroom);
  if (!result.fits) return result;
  const bool cut = is_cut(fastest) || !context_.question.space.partition;
  // First as if memory were no object: if that takes too long, prices of other ways are not needed.
  if (cut) {
    result.bound = least_time_as_cut(fastest);
    if (result.bound < target && waits_for_exchanges(plan))
      context_.cache.with_passes(degrees.division, [&](const auto& chain, auto& times) {
        result.bound = least_time_of_pairs(fastest, chain, times);
      });
    result.reached = result.bound >= target;
  } else {
    auto free = problem_of(context_, fastest);
    std::ranges::fill(free.capacity, std::numeric_limits<ByteCount>::max() / 4);
    bound_partitions(free, target, result);
  }
  if (result.reached) return result;
  const auto bounds =
      bounds_of(context_, degrees.division, plan, context_.cache.all_variants(degrees.division));
  const auto problem = problem_of(context_, bounds);
  result.fits = problem.capacity.front() >= 0;
  if (!result.fits) return result;
  if (!cut) {
    bound_partitions(problem, target, result);
    return result;
  }
  const bool fixed = strategies::has_fixed_order(plan.schedule);
  // The least memory of several kinds of nodes is no bound for a plan that has more where it needs.
  if (!fixed && context_.question.scenario.cluster.kinds() > 1) return result;
  const auto bound = least_time_as_cut(bounds, problem, target);
  result.fits = bound.has_value();
  if (!result.fits) return result;
  result.bound = std::max(result.bound, *bound);
  result.reached = result.bound >= target;
  // Where orders are searched for or passes run in pairs, partitions have no timetable.
  if (!result.reached && fixed) bound_partitions(problem, target, result);
  return result;
}

Misfit Evaluator::smallest(const Degrees& degrees) const {
  return search::smallest({context_, degrees.division, plan_of(degrees), 0});
}

Played Evaluator::play_evenly(const Degrees& degrees, Picoseconds target) const {
  return search::play_evenly({context_, degrees.division, plan_of(degrees), target});
}

Played Evaluator::play(const Degrees& degrees, std::vector<std::vector<int>> cuts,
                       Picoseconds bound, Picoseconds target) const {
  const auto plan = plan_of(degrees);
  auto played = search::play({context_, degrees.division, plan, target}, std::move(cuts), bound);
  play_uneven(plan, degrees, target, played);
  return played;
}

namespace {

// Whether a part that was played to `limit` counts: something fits, or all that may fit takes as
// long.
bool counts(const Played& played, Picoseconds limit) {
  return played.possible || played.bound >= limit;
}

// Adds the plays of another part of a choice of degrees.
void add(Played& all, Played more, Picoseconds limit) {
  if (counts(more, limit))
    all.bound = counts(all, limit) ? std::min(all.bound, more.bound) : more.bound;
  all.possible = all.possible || more.possible;
  all.simulations += more.simulations;
  const auto time = [](const Played& played) { return ticks(played.best->forecast.step.time); };
  if (more.best && (!all.best || time(more) < time(all))) all.best = std::move(more.best);
}

}  // namespace

// Plays the uneven partitions that may be fastest first.
void Evaluator::play_uneven(const Plan& plan, const Degrees& degrees, Picoseconds target,
                            Played& played) const {
  constexpr std::size_t most_plays = 64;
  auto limit = target;
  const auto lower = [&] {
    if (played.best) limit = std::min(limit, ticks(played.best->forecast.step.time));
  };
  lower();
  const auto uneven = uneven_below(plan, degrees, limit);
  std::vector<std::pair<Picoseconds, const Plan*>> order;
  for (const auto& one : uneven.plans)
    order.emplace_back(least_time_as_cut(bounds_of(context_, degrees.division, one,
                                                   context_.cache.fastest(degrees.division))),
                       &one);
  std::ranges::stable_sort(order, {}, [](const auto& one) { return one.first; });
  if (uneven.others) add(played, {.bound = *uneven.others}, limit);
  for (std::size_t i = 0; i < order.size() && !context_.stopped(); ++i) {
    const auto [bound, one] = order[i];
    if (bound >= limit || i == most_plays) {
      add(played, {.possible = bound < limit, .bound = bound}, limit);
      break;
    }
    add(played, search::play({context_, degrees.division, *one, limit}, {}, bound), limit);
    lower();
  }
}

}  // namespace search
