// SPDX-License-Identifier: Apache-2.0
#include "search/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "search/cuts.hpp"
#include "search/least_memory.hpp"
#include "search/least_time.hpp"
#include "search/partition_problem.hpp"
#include "search/solvers/enumeration.hpp"
#include "search/solvers/partition.hpp"
#include "search/solvers/relaxation.hpp"

namespace search {

namespace {

using strategies::Plan;
using strategies::ScheduleKind;

// Partitions with the cuts of one choice of degrees that seem to fit; the fastest is taken first.
class Pile {
 public:
  explicit Pile(const PipelineProblem& problem, const Timetable& timetable)
      : problem_(problem), timetable_(timetable), intervals_(problem_.chain, problem_.stop) {}

  struct Item {
    Partition partition;
    int tries = 0;  // with this cut before
  };
  // With so much less memory (or more) than there is. False if nothing seems to fit.
  bool add(const std::vector<int>& cut, ByteCount less, int tries) {
    auto tighter = problem_;
    for (auto& capacity : tighter.capacity) capacity -= less;
    if (tighter.capacity.front() < 0) return false;
    auto partition = in_ways_that_fit(tighter, intervals_, timetable_, cut);
    if (!partition) return false;
    sort_choices(problem_, *partition);
    if (!known_.insert(*partition).second) return false;
    items_.push_back({std::move(*partition), tries});
    return true;
  }
  // The smallest that it is easy to find, whether it seems to fit or not.
  void add_small(const std::vector<int>& cut) {
    const auto room = problem_.capacity.front();
    for (const int parts : {1, 2, 4, 8, 16, 64, 1024})
      if (add(cut, -(room / 4 + 1) * parts, 0)) return;
  }
  bool empty() const { return items_.empty(); }
  Item take() {
    const auto next = std::ranges::min_element(
        items_, {}, [](const Item& item) { return item.partition.makespan; });
    auto item = std::move(*next);
    items_.erase(next);
    return item;
  }

 private:
  struct Earlier {
    bool operator()(const Partition& a, const Partition& b) const {
      if (a.first_layer != b.first_layer) return a.first_layer < b.first_layer;
      const auto options = [](const Partition& partition) {
        std::vector<int> all;
        for (const auto& stage : partition.choices)
          for (const auto& choice : stage) all.push_back(choice.option);
        return all;
      };
      return options(a) < options(b);
    }
  };
  const PipelineProblem& problem_;
  const Timetable& timetable_;
  Intervals intervals_;
  std::vector<Item> items_;
  std::set<Partition, Earlier> known_;
};

}  // namespace

Plan Candidates::plan_of(const Degrees& degrees) const {
  auto plan = divisions_.plan(degrees.division);
  plan.pipeline = degrees.pipeline;
  plan.data = question_.scenario.cluster.gpus / (plan.tensor * plan.context * plan.pipeline);
  plan.zero = degrees.zero;
  plan.schedule = degrees.schedule;
  plan.virtual_stages = degrees.chunks;
  return plan;
}

void Candidates::bound_partitions(const PipelineProblem& problem, Picoseconds target,
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

std::optional<Picoseconds> Candidates::guess(const Degrees& degrees) const {
  const auto plan = plan_of(degrees);
  return guessed_time(bounds_of(plan, degrees, divisions_.fastest(degrees.division)),
                      question_.memory_headroom);
}

double Candidates::rough_memory(const Degrees& degrees) const {
  const auto plan = plan_of(degrees);
  return search::rough_memory(bounds_of(plan, degrees, divisions_.fastest(degrees.division)));
}

// Where the bound of pairs holds: nothing that may be recomputed makes passes shorter.
bool Candidates::waits_for_exchanges(const Plan& plan) const {
  return strategies::pairs_always(plan.schedule) && divisions_.keeping_is_free() &&
         divisions_.fastest_recomputes_nothing() && !plan.layer_tensor;
}

Look Candidates::look(const Degrees& degrees, Picoseconds target) const {
  try {
    return look_at_all(degrees, target);
  } catch (const Stopped&) {
    return {};
  }
}

namespace {

// Of two parts of a choice of degrees. Cuts are those of the first part: others have one each.
Look either(Look a, const Look& b) {
  if (!b.fits) return a;
  if (!a.fits) return {.bound = b.bound, .reached = b.reached};
  a.bound = std::min(a.bound, b.bound);
  a.reached = a.reached && b.reached;
  return a;
}

}  // namespace

Look Candidates::look_at_all(const Degrees& degrees, Picoseconds target) const {
  const auto plan = plan_of(degrees);
  auto look = look_closely(plan, degrees, target);
  const auto uneven = uneven_below(plan, degrees, target);
  for (const auto& one : uneven.plans)
    look = either(std::move(look), look_closely(one, degrees, target));
  if (uneven.others) look = either(std::move(look), {.bound = *uneven.others, .reached = true});
  return look;
}

Candidates::Uneven Candidates::uneven_below(const Plan& plan, const Degrees& degrees,
                                            Picoseconds target) const {
  if (plan.schedule != ScheduleKind::interleaved || !question_.space.partition) return {};
  const auto bounds = bounds_of(plan, degrees, divisions_.fastest(degrees.division));
  if (!states_fit(bounds, question_.memory_headroom)) return {};
  const auto layers = question_.scenario.model.layers;
  const double each = least_time_of_chunks(bounds);
  const auto least = [&](std::int64_t many) {
    return whole_bound(each * static_cast<double>(many));
  };
  std::int64_t most = 0;
  while (most < layers && least(most + 1) < target) ++most;
  auto found = uneven_cuts(plan, question_.space, layers, most);
  Uneven uneven;
  if (!found.all) uneven.others = least(most + 1);
  for (auto& cut : found.cuts) {
    uneven.plans.push_back(plan);
    uneven.plans.back().layers_per_stage = std::move(cut);
  }
  return uneven;
}

Look Candidates::look_closely(const Plan& plan, const Degrees& degrees, Picoseconds target) const {
  const auto fastest = bounds_of(plan, degrees, divisions_.fastest(degrees.division));
  Look result;
  result.fits = states_fit(fastest, question_.memory_headroom);
  if (!result.fits) return result;
  const bool cut = is_cut(fastest) || !question_.space.partition;
  // First as if memory were no object: what takes too long then needs no prices of other ways.
  if (cut) {
    result.bound = least_time_as_cut(fastest);
    if (result.bound < target && waits_for_exchanges(plan))
      divisions_.with_passes(degrees.division, [&](const auto& chain, auto& times) {
        result.bound = least_time_of_pairs(fastest, chain, times);
      });
    result.reached = result.bound >= target;
  } else {
    auto free = problem_of(fastest);
    std::ranges::fill(free.capacity, std::numeric_limits<ByteCount>::max() / 4);
    bound_partitions(free, target, result);
  }
  if (result.reached) return result;
  const auto bounds = bounds_of(plan, degrees, divisions_.in_all_ways(degrees.division));
  const auto problem = problem_of(bounds);
  result.fits = problem.capacity.front() >= 0;
  if (!result.fits) return result;
  if (!cut) {
    bound_partitions(problem, target, result);
    return result;
  }
  // What is in flight is known of fixed orders only.
  if (!strategies::has_fixed_order(plan.schedule)) return result;
  const auto bound = least_time_as_cut(bounds, problem);
  result.fits = bound.has_value();
  if (!result.fits) return result;
  result.bound = std::max(result.bound, *bound);
  result.reached = result.bound >= target;
  if (!result.reached) bound_partitions(problem, target, result);
  return result;
}

PlanBounds Candidates::bounds_of(const Plan& plan, const Degrees& degrees,
                                 const LayerPrices& prices) const {
  return {{question_.scenario, plan, prices, question_.space.chunks},
          divisions_.sharing(degrees.division, plan)};
}

PipelineProblem Candidates::problem_of(const PlanBounds& bounds) const {
  auto problem = pipeline_problem(bounds, costs_, question_.memory_headroom);
  problem.stop = stop_;
  if (!is_cut(bounds) && question_.space.partition) return problem;
  const auto cut = cut_of(bounds);
  problem.rooms.clear();
  for (std::size_t v = 0; v + 1 < cut.size(); ++v) {
    const auto layers = cut[v + 1] - cut[v];
    problem.rooms.push_back({layers, layers});
  }
  return problem;
}

// One choice of degrees, played: what was simulated, and the best of it.
class Candidates::Play {
 public:
  Play(const Candidates& all, const Degrees& degrees, const Plan& plan, Picoseconds target)
      : all_(all),
        division_(degrees.division),
        plan_(plan),
        fastest_(all.bounds_of(plan_, degrees, all.divisions_.fastest(degrees.division))),
        bounds_(all.bounds_of(plan_, degrees, all.divisions_.in_all_ways(degrees.division))),
        problem_(all.problem_of(bounds_)),
        timetable_(problem_.order, problem_.layout, problem_.microbatches, problem_.latency,
                   problem_.lane),
        target_(target),
        scenario_(all.question_.scenario) {}

  Misfit smallest() {
    Partition least{.first_layer = cut_of(bounds_)};
    for (std::size_t v = 0; v + 1 < least.first_layer.size(); ++v) {
      auto& choices = least.choices.emplace_back();
      for (int i = least.first_layer[v]; i < least.first_layer[v + 1]; ++i) {
        const auto& options = problem_.chain.layers[static_cast<std::size_t>(i)].options;
        const auto least_kept = std::ranges::min_element(options, {}, &Price::kept);
        choices.push_back({1, static_cast<int>(least_kept - options.begin())});
      }
    }
    scenario_.plan = plan_with(bounds_, least, recompute());
    const auto forecast = forecast::simulate(scenario_);
    const double room = (1 - all_.question_.memory_headroom) * forecast.memory.capacity.value;
    return {
        scenario_.plan, {room + static_cast<double>(missing(all_.question_, forecast))}, {room}};
  }

  // Only what is easy to find.
  Played run_evenly() {
    if (problem_.capacity.front() < 0) return std::move(result_);
    try {
      if (is_cut()) without_recomputation();
      if (!result_.best) by_model({cut_of(bounds_)});
    } catch (const Stopped&) {  // with what there is
    }
    return std::move(result_);
  }

  Played run(std::vector<std::vector<int>> cuts, Picoseconds bound) {
    result_.bound = bound;
    if (problem_.capacity.front() < 0) return std::move(result_);
    if (is_cut()) {
      without_recomputation();
      const bool best_there_is = result_.best && keeping_is_fastest();
      if (best_there_is || result_.bound >= target_) return std::move(result_);
    }
    if (std::ranges::find(cuts, cut_of(bounds_)) == cuts.end()) cuts.push_back(cut_of(bounds_));
    try {
      by_model(cuts);
      if (result_.bound < limit() && !keeping_is_fastest()) all_alike();
      if (result_.bound < limit()) one_by_one();
    } catch (const Stopped&) {  // with what there is
    }
    return std::move(result_);
  }

 private:
  bool is_cut() const { return search::is_cut(bounds_) || !all_.question_.space.partition; }
  bool recompute() const { return all_.question_.space.recompute; }
  bool keeping_is_fastest() const { return all_.divisions_.keeping_is_fastest(division_); }
  // What is not below this is of no interest.
  Picoseconds limit() const {
    return result_.best ? std::min(target_, ticks(result_.best->forecast.step.time)) : target_;
  }

  // What recomputes less is never slower: the only partition without recomputation bounds all that
  // recompute, whether it fits or not.
  void without_recomputation() {
    Partition even{.first_layer = cut_of(bounds_)};
    for (std::size_t v = 0; v + 1 < even.first_layer.size(); ++v)
      even.choices.emplace_back(
          static_cast<std::size_t>(even.first_layer[v + 1] - even.first_layer[v]));
    const auto time =
        simulate(plan_with(fastest_, even, recompute()), all_.divisions_.allow_fastest());
    if (keeping_is_fastest()) result_.bound = std::max(result_.bound, time.first);
  }

  // Time, and bytes short of memory.
  std::pair<Picoseconds, ByteCount> simulate(const Plan& plan, bool allowed = true) {
    scenario_.plan = plan;
    auto forecast = forecast::simulate(scenario_);
    ++result_.simulations;
    const auto time = ticks(forecast.step.time);
    const auto over = missing(all_.question_, forecast);
    if (over <= 0 && allowed) {
      result_.possible = true;
      if (!result_.best || time < ticks(result_.best->forecast.step.time))
        result_.best = Ranked{plan, std::move(forecast), {}};
    }
    return {time, over};
  }

  // In the ways that the model holds for fast and for small enough. What it is wrong by in memory
  // is told it, so that it can try again.
  void by_model(const std::vector<std::vector<int>>& cuts) {
    constexpr int most_tries = 8;
    constexpr ByteCount margin = 1 << 20;
    const bool fixed = strategies::has_fixed_order(plan_.schedule);
    Pile pile(problem_, timetable_);
    for (const auto& cut : cuts)
      if (!pile.add(cut, 0, 0) && !fixed) pile.add_small(cut);
    while (!pile.empty() && !all_.stopped()) {
      const auto [partition, tries] = pile.take();
      // What takes longer than the best on an idle network takes longer in truth.
      if (result_.best && fixed && partition.makespan >= limit()) break;
      const auto best = limit();
      const auto [time, over] = simulate(plan_with(bounds_, partition, recompute()));
      if (over <= 0 && time < best) cut_ = partition.first_layer;
      if (over <= 0 && fixed) continue;
      const auto wrong = over - excess(problem_, partition);
      if (tries + 1 < most_tries)
        pile.add(partition.first_layer, wrong + margin, tries + 1);
      else if (over > 0)
        result_.possible = true;
    }
    if (!fixed && !result_.best) result_.possible = result_.possible || is_small();
  }
  bool is_small() { return every() != nullptr; }

  // All layers in one way, for each way, in the best cut so far: what compresses, copies and
  // recomputes less also leaves less to the host, which the model counts in part only.
  void all_alike() {
    constexpr std::size_t most_simulations = 32;
    const bool fixed = strategies::has_fixed_order(plan_.schedule);
    Intervals intervals(problem_.chain, problem_.stop);
    std::vector<Partition> alike;
    for (std::size_t way = 0; way < ways(); ++way) {
      auto& one = alike.emplace_back(Partition{.first_layer = cut_});
      for (std::size_t v = 0; v + 1 < cut_.size(); ++v) {
        auto& choices = one.choices.emplace_back();
        for (int i = cut_[v]; i < cut_[v + 1]; ++i) {
          const auto options = problem_.chain.layers[static_cast<std::size_t>(i)].options.size();
          choices.push_back({1, static_cast<int>(std::min(way, options - 1))});
        }
      }
      write_times(problem_, intervals, timetable_, one);
    }
    std::ranges::stable_sort(alike, {}, &Partition::makespan);
    alike.resize(std::min(most_simulations, alike.size()));
    for (const auto& one : alike) {
      if ((fixed && one.makespan >= limit()) || all_.stopped()) return;
      simulate(plan_with(bounds_, one, recompute()));
    }
  }
  // Of the layer that has most.
  std::size_t ways() const {
    std::size_t most = 0;
    for (const auto& layer : problem_.chain.layers) most = std::max(most, layer.options.size());
    return most;
  }

  // All plans of a small choice of degrees, those with the least bounds first.
  const std::vector<Partition>* every() {
    if (!every_) {
      constexpr std::size_t most = 3000;
      auto problem = problem_;
      // What is in flight is known of fixed orders only.
      if (!strategies::has_fixed_order(plan_.schedule))
        std::ranges::fill(problem.capacity, std::numeric_limits<ByteCount>::max() / 4);
      every_ = every_partition(problem, timetable_, most);
      small_ = every_.has_value();
      if (!every_) every_.emplace();
    }
    return small_ ? &*every_ : nullptr;
  }
  void one_by_one() {
    constexpr std::int64_t most_simulations = 600;
    const auto* partitions = every();
    if (partitions == nullptr) return;
    const bool fixed = strategies::has_fixed_order(plan_.schedule);
    auto sorted = *partitions;
    std::ranges::stable_sort(sorted, {}, &Partition::makespan);
    std::set<std::vector<int>> fit_without;  // cuts whose plans without recomputation fit
    const auto recomputes_nothing = [](const Plan& plan) {
      return plan.recompute == strategies::Recompute{} && plan.layers.empty();
    };
    constexpr auto none = std::numeric_limits<Picoseconds>::max();
    auto left = none;  // the least bound of those not simulated
    result_.possible = result_.best.has_value();
    for (const auto& partition : sorted) {
      const auto low = fixed ? std::max(result_.bound, partition.makespan) : result_.bound;
      if (low >= limit() || result_.simulations >= most_simulations || all_.stopped()) {
        left = low;
        result_.possible = true;
        break;
      }
      if (fit_without.contains(partition.first_layer)) continue;
      const auto plan = plan_with(bounds_, partition, recompute());
      const auto [time, over] = simulate(plan);
      if (over <= 0 && recompute() && keeping_is_fastest() && recomputes_nothing(plan))
        fit_without.insert(partition.first_layer);
    }
    const auto best = result_.best ? ticks(result_.best->forecast.step.time) : none;
    if (std::min(best, left) < none) result_.bound = std::max(result_.bound, std::min(best, left));
  }

  const Candidates& all_;
  std::size_t division_;
  Plan plan_;
  PlanBounds fastest_, bounds_;
  PipelineProblem problem_;
  Timetable timetable_;
  Picoseconds target_;
  forecast::Scenario scenario_;
  std::optional<std::vector<Partition>> every_;
  bool small_ = false;
  std::vector<int> cut_ = cut_of(bounds_);  // of the fastest by model that fits
  Played result_;
};

Misfit Candidates::smallest(const Degrees& degrees) const {
  return Play(*this, degrees, plan_of(degrees), 0).smallest();
}

Played Candidates::play_evenly(const Degrees& degrees) const {
  return Play(*this, degrees, plan_of(degrees), std::numeric_limits<Picoseconds>::max())
      .run_evenly();
}

Played Candidates::play(const Degrees& degrees, std::vector<std::vector<int>> cuts,
                        Picoseconds bound, Picoseconds target) const {
  const auto plan = plan_of(degrees);
  auto played = Play(*this, degrees, plan, target).run(std::move(cuts), bound);
  play_uneven(plan, degrees, target, played);
  return played;
}

namespace {

// Of what is played to `limit`: whether it counts, as something fits or what may be takes as long.
bool counts(const Played& played, Picoseconds limit) {
  return played.possible || played.bound >= limit;
}

// Of two parts of a choice of degrees.
void add(Played& all, Played more, Picoseconds limit) {
  if (counts(more, limit))
    all.bound = counts(all, limit) ? std::min(all.bound, more.bound) : more.bound;
  all.possible = all.possible || more.possible;
  all.simulations += more.simulations;
  const auto time = [](const Played& played) { return ticks(played.best->forecast.step.time); };
  if (more.best && (!all.best || time(more) < time(all))) all.best = std::move(more.best);
}

}  // namespace

// Those first that may be fastest.
void Candidates::play_uneven(const Plan& plan, const Degrees& degrees, Picoseconds target,
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
    order.emplace_back(
        least_time_as_cut(bounds_of(one, degrees, divisions_.fastest(degrees.division))), &one);
  std::ranges::stable_sort(order, {}, [](const auto& one) { return one.first; });
  if (uneven.others) add(played, {.bound = *uneven.others}, limit);
  for (std::size_t i = 0; i < order.size() && !stopped(); ++i) {
    const auto [bound, one] = order[i];
    if (bound >= limit || i == most_plays) {
      add(played, {.possible = bound < limit, .bound = bound}, limit);
      break;
    }
    add(played, Play(*this, degrees, *one, limit).run({}, bound), limit);
    lower();
  }
}

ByteCount missing(const Question& question, const forecast::Forecast& forecast) {
  if (!forecast.memory.host_fits) return std::numeric_limits<ByteCount>::max() / 4;
  double needed = 0;
  for (const auto& stage : forecast.memory.stages)
    needed = std::max(needed, (stage.peak_allocated + stage.communication + stage.framework).value);
  const double room = (1 - question.memory_headroom) * forecast.memory.capacity.value;
  return static_cast<ByteCount>(std::ceil(needed - room));
}

}  // namespace search
