// SPDX-License-Identifier: Apache-2.0
#include "search/trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "forecast/warnings.hpp"
#include "search/partition_problem.hpp"
#include "search/solvers/enumeration.hpp"
#include "search/solvers/partition_queue.hpp"

namespace search {

namespace {

using strategies::Plan;

constexpr auto without_end = std::numeric_limits<Picoseconds>::max();

Picoseconds time_of(const Ranked& plan) { return ticks(plan.forecast.step.time); }

// The simulations of a trial so far.
struct TrialRun {
  explicit TrialRun(const Trial& of, Picoseconds bound = 0)
      : trial(of), scenario(of.context.question.scenario) {
    played.bound = bound;
  }

  // A plan that is not faster than this is of no interest.
  Picoseconds limit() const {
    return played.best ? std::min(trial.target, time_of(*played.best)) : trial.target;
  }
  bool is_over() const { return played.bound >= limit(); }

  struct Simulated {
    Picoseconds time;
    ByteCount over;  // bytes short of memory
  };
  // Keeps the plan if it fits and is the fastest yet, unless it is not `allowed`.
  Simulated simulate(const Plan& plan, bool allowed = true);

  const Trial& trial;
  forecast::Scenario scenario;
  Played played = {};
};

TrialRun::Simulated TrialRun::simulate(const Plan& plan, bool allowed) {
  scenario.plan = plan;
  auto forecast = forecast::simulate(scenario, {.network = false, .orders = &trial.context.orders});
  ++played.simulations;
  const auto time = ticks(forecast.step.time);
  const auto over = missing(trial.context.question, forecast);
  if (over <= 0 && allowed) {
    played.possible = true;
    if (!played.best || time < time_of(*played.best))
      played.best = Ranked{plan, std::move(forecast), {}};
  }
  return {time, over};
}

// Simulates the only partition without recomputation. A plan that recomputes less is never slower
// where keeping is fastest: this one bounds all that recompute, whether it fits or not.
void without_recomputation(TrialRun& run) {
  const auto& trial = run.trial;
  Partition even{.first_layer = cut_of(trial.bounds)};
  for (std::size_t v = 0; v + 1 < even.first_layer.size(); ++v)
    even.choices.emplace_back(
        static_cast<std::size_t>(even.first_layer[v + 1] - even.first_layer[v]));
  const auto simulated = run.simulate(plan_with(trial.fastest, even, trial.recompute()),
                                      trial.context.cache.allow_fastest());
  if (trial.keeping_is_fastest()) run.played.bound = std::max(run.played.bound, simulated.time);
}

// All partitions of a trial that has few, made when they are first asked for.
class EveryPartition {
 public:
  explicit EveryPartition(const Trial& trial) : trial_(trial) {}
  // The partitions, by cut; null: there are too many.
  const std::vector<Partition>* few() {
    constexpr std::size_t most = 3000;
    if (!asked_) {
      asked_ = true;
      auto problem = trial_.problem;
      // The microbatches in flight are known of fixed orders only.
      if (!trial_.has_fixed_order())
        std::ranges::fill(problem.capacity, std::numeric_limits<ByteCount>::max() / 4);
      every_ = every_partition(problem, trial_.timetable, most);
    }
    return every_ ? &*every_ : nullptr;
  }

 private:
  const Trial& trial_;
  bool asked_ = false;
  std::optional<std::vector<Partition>> every_;
};

// Simulates the fastest partitions with these cuts that fit by the model of memory. One that does
// not fit in truth is tried again with the limit lowered by the model's error. Returns the cut of
// the fastest that fits; the plan's own if none does.
std::vector<int> by_model(TrialRun& run, const std::vector<std::vector<int>>& cuts,
                          EveryPartition& every) {
  constexpr int most_tries = 8;
  constexpr ByteCount margin = 1 << 20;
  const auto& trial = run.trial;
  auto& played = run.played;
  auto best_cut = cut_of(trial.bounds);
  const bool fixed = trial.has_fixed_order();
  PartitionQueue queue(trial.problem, trial.timetable);
  for (const auto& cut : cuts)
    if (!queue.add(cut, 0, 0) && !fixed) queue.add_small(cut);
  while (!queue.empty() && !trial.context.stopped()) {
    const auto [partition, tries] = queue.take();
    // A partition that takes longer than the best on an idle network takes longer in truth.
    if (played.best && fixed && partition.makespan >= run.limit()) break;
    const auto best = run.limit();
    const auto [time, over] = run.simulate(plan_with(trial.bounds, partition, trial.recompute()));
    if (over <= 0 && time < best) best_cut = partition.first_layer;
    if (over <= 0 && fixed) continue;
    // Less memory means more recomputation, which takes longer still.
    if (!fixed && trial.keeping_is_fastest() && time >= run.limit()) {
      played.possible = true;
      continue;
    }
    const auto wrong = over - excess(trial.problem, partition);
    if (tries + 1 < most_tries)
      queue.add(partition.first_layer, wrong + margin, tries + 1);
    else if (over > 0)
      played.possible = true;
  }
  // If the order is searched for, only simulations of all partitions show that none fits.
  if (!fixed && !played.best && every.few() == nullptr) played.possible = true;
  return best_cut;
}

// The number of options of the layer that has most.
std::size_t most_options(const Chain& chain) {
  std::size_t most = 0;
  for (const auto& layer : chain.layers) most = std::max(most, layer.options.size());
  return most;
}

// All layers with the same option, or the last of those that have fewer.
Partition all_with(std::size_t option, const std::vector<int>& cut, const Chain& chain) {
  Partition one{.first_layer = cut};
  for (std::size_t v = 0; v + 1 < cut.size(); ++v) {
    auto& choices = one.choices.emplace_back();
    for (int i = cut[v]; i < cut[v + 1]; ++i) {
      const auto options = chain.layers[static_cast<std::size_t>(i)].options.size();
      choices.push_back({1, static_cast<int>(std::min(option, options - 1))});
    }
  }
  return one;
}

// Simulates partitions whose layers all have one option, for each option: an option that
// compresses, copies and recomputes less also leaves less to the host, which the model counts in
// part only.
void all_alike(TrialRun& run, const std::vector<int>& cut) {
  constexpr std::size_t most_simulations = 32;
  const auto& trial = run.trial;
  const auto& problem = trial.problem;
  IntervalFrontiers frontiers(problem.chain, problem.stop);
  std::vector<Partition> alike;
  for (std::size_t option = 0; option < most_options(problem.chain); ++option) {
    alike.push_back(all_with(option, cut, problem.chain));
    write_times(problem, frontiers, trial.timetable, alike.back());
  }
  std::ranges::stable_sort(alike, {}, &Partition::makespan);
  alike.resize(std::min(most_simulations, alike.size()));
  for (const auto& one : alike) {
    const bool slow = trial.has_fixed_order() && one.makespan >= run.limit();
    if (slow || trial.context.stopped()) return;
    run.simulate(plan_with(trial.bounds, one, trial.recompute()));
  }
}

// The partition as the plan is cut, with the way of each layer that keeps least.
Partition least_kept(const Trial& trial) {
  Partition least{.first_layer = cut_of(trial.bounds)};
  for (std::size_t v = 0; v + 1 < least.first_layer.size(); ++v) {
    auto& choices = least.choices.emplace_back();
    for (int i = least.first_layer[v]; i < least.first_layer[v + 1]; ++i) {
      const auto& options = trial.problem.chain.layers[static_cast<std::size_t>(i)].options;
      const auto fewest = std::ranges::min_element(options, {}, &Price::kept);
      choices.push_back({1, static_cast<int>(fewest - options.begin())});
    }
  }
  return least;
}

// The model of memory may pass by all plans that fit: by those with less than its margin to spare,
// and, where orders are searched for, by any, for it knows the microbatches in flight of fixed
// orders only. If none has been found, this simulates the plan that keeps least; if that fits, also
// those whose layers are all alike.
void from_least_memory(TrialRun& run) {
  const auto& trial = run.trial;
  if (run.played.best || run.is_over()) return;
  run.simulate(plan_with(trial.bounds, least_kept(trial), trial.recompute()));
  if (run.played.best) all_alike(run, cut_of(trial.bounds));
}

// Simulates partitions, those with the least bounds first, until none can be faster than the limit.
void one_by_one(TrialRun& run, const std::vector<Partition>& partitions) {
  constexpr std::int64_t most_simulations = 600;
  const auto& trial = run.trial;
  auto& played = run.played;
  const bool fixed = trial.has_fixed_order();
  auto sorted = partitions;
  std::ranges::stable_sort(sorted, {}, &Partition::makespan);
  std::set<std::vector<int>> fit_without;  // cuts whose plans without recomputation fit
  const auto recomputes_nothing = [](const Plan& plan) {
    return plan.recompute == strategies::Recompute{} && plan.layers.empty();
  };
  auto left = without_end;  // the least bound of those not simulated
  played.possible = played.best.has_value();
  for (const auto& partition : sorted) {
    const auto low = fixed ? std::max(played.bound, partition.makespan) : played.bound;
    if (low >= run.limit() || played.simulations >= most_simulations || trial.context.stopped()) {
      left = low;
      played.possible = true;
      break;
    }
    if (fit_without.contains(partition.first_layer)) continue;
    const auto plan = plan_with(trial.bounds, partition, trial.recompute());
    const auto simulated = run.simulate(plan);
    if (simulated.over <= 0 && trial.recompute() && trial.keeping_is_fastest() &&
        recomputes_nothing(plan))
      fit_without.insert(partition.first_layer);
  }
  const auto best = played.best ? time_of(*played.best) : without_end;
  if (std::min(best, left) < without_end)
    played.bound = std::max(played.bound, std::min(best, left));
}

}  // namespace

PlanBounds bounds_of(const TrialContext& context, std::size_t division, const Plan& plan,
                     const LayerPrices& prices) {
  return {{context.question.scenario, plan, prices, context.question.space.chunks},
          context.cache.replica_costs(division, plan)};
}

PipelineProblem problem_of(const TrialContext& context, const PlanBounds& bounds) {
  auto problem =
      pipeline_problem(bounds, context.costs, context.question.memory_headroom, &context.orders);
  problem.stop = context.stop;
  if (!is_cut(bounds) && context.question.space.partition) return problem;
  const auto cut = cut_of(bounds);
  problem.ranges.clear();
  for (std::size_t v = 0; v + 1 < cut.size(); ++v) {
    const auto layers = cut[v + 1] - cut[v];
    problem.ranges.push_back({layers, layers});
  }
  return problem;
}

Trial::Trial(const TrialContext& context_, std::size_t division_, const Plan& plan_,
             Picoseconds target_)
    : context(context_),
      division(division_),
      plan(plan_),
      target(target_),
      fastest(bounds_of(context, division, plan, context.cache.fastest(division))),
      bounds(bounds_of(context, division, plan, context.cache.all_variants(division))),
      problem(problem_of(context, bounds)),
      timetable(problem.order, problem.layout, problem.microbatches, problem.latency,
                problem.lane) {}

bool Trial::is_cut() const { return search::is_cut(bounds) || !context.question.space.partition; }

namespace {

// The bytes that the fullest device lacks, as missing() has them.
ByteCount missing_on_device(const Question& question, const forecast::Memory& memory) {
  double needed = 0;  // where something stays free, the allocator does not reserve it either
  for (const auto& stage : memory.stages)
    needed =
        std::max(needed, question.memory_headroom > 0 ? stage.peak.value : stage.needed().value);
  const double room = (1 - question.memory_headroom) * memory.capacity.value;
  const auto lacks = static_cast<ByteCount>(std::ceil(needed - room));
  // A question without headroom asks for tensors that fit, whatever becomes of the rest.
  if (question.memory_headroom <= 0 || memory.fits || !memory.allocator ||
      !memory.allocator->failure)
    return lacks;
  // The tensors fit, but not in the pieces that are free.
  const auto& failure = *memory.allocator->failure;
  const auto piece = std::ceil((failure.requested - failure.largest_free).value);
  return std::max({lacks, static_cast<ByteCount>(piece), ByteCount{1}});
}

}  // namespace

Misfit smallest(const Trial& trial) {
  const auto& question = trial.context.question;
  auto scenario = question.scenario;
  scenario.plan = plan_with(trial.bounds, least_kept(trial), trial.recompute());
  const auto forecast =
      forecast::simulate(scenario, {.network = false, .orders = &trial.context.orders});
  const double room = (1 - question.memory_headroom) * forecast.memory.capacity.value;
  return {scenario.plan,
          {room + static_cast<double>(missing_on_device(question, forecast.memory))},
          {room},
          forecast::node_misfit_of(forecast.memory)};
}

Played play_evenly(const Trial& trial) {
  TrialRun run(trial);
  if (trial.problem.capacity.front() < 0) return std::move(run.played);
  try {
    EveryPartition every(trial);
    if (trial.is_cut()) without_recomputation(run);
    if (!run.played.best) by_model(run, {cut_of(trial.bounds)}, every);
    from_least_memory(run);
  } catch (const Stopped&) {  // the plans simulated before the stop remain
  }
  return std::move(run.played);
}

Played play(const Trial& trial, std::vector<std::vector<int>> cuts, Picoseconds bound) {
  TrialRun run(trial, bound);
  if (trial.problem.capacity.front() < 0) return std::move(run.played);
  if (trial.is_cut()) {
    without_recomputation(run);
    const bool best_there_is = run.played.best && trial.keeping_is_fastest();
    if (best_there_is || run.played.bound >= trial.target) return std::move(run.played);
  }
  const auto own = cut_of(trial.bounds);
  if (std::ranges::find(cuts, own) == cuts.end()) cuts.push_back(own);
  try {
    EveryPartition every(trial);
    const auto best_cut = by_model(run, cuts, every);
    from_least_memory(run);
    if (!run.is_over() && !trial.keeping_is_fastest()) all_alike(run, best_cut);
    if (!run.is_over() && every.few() != nullptr) one_by_one(run, *every.few());
  } catch (const Stopped&) {  // the plans simulated before the stop remain
  }
  return std::move(run.played);
}

ByteCount missing(const Question& question, const forecast::Forecast& forecast) {
  const auto& memory = forecast.memory;
  if (!memory.host_fits) return std::numeric_limits<ByteCount>::max() / 4;
  return missing_on_device(question, memory);
}

}  // namespace search
