// SPDX-License-Identifier: Apache-2.0
#include "forecast/rank_times.hpp"

#include <algorithm>
#include <optional>

#include "forecast/costs.hpp"
#include "forecast/spent_parts.hpp"
#include "plans/placement.hpp"
#include "sim/engine.hpp"
#include "sim/measures.hpp"
#include "strategies/activity.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

namespace {

std::optional<KernelPhase> phase_of(sim::Activity activity) {
  switch (activity) {
    case strategies::forward_compute:
      return KernelPhase::forward;
    case strategies::input_gradient_compute:
    case strategies::weight_gradient_compute:
      return KernelPhase::backward;
    case strategies::recompute_compute:
      return KernelPhase::recompute;
    case strategies::optimizer_compute:
    case strategies::data_comm:  // copies of a unit's parameters and gradients, and packing
      return KernelPhase::update;
    default:
      return {};
  }
}

// The times of one run of a pass.
struct OnePass {
  std::array<std::array<sim::Picoseconds, kernel_classes>, kernel_phases> computing{};
  sim::Spent communicating;
};

OnePass once(const sim::Template& body, const strategies::CostQueries& questions) {
  OnePass pass;
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    const auto& step = body.steps[i];
    const auto asked = i < body.asked.size() ? body.asked[i] : 0;
    const auto of = class_of(step, asked == 0 ? nullptr : &questions[asked]);
    if (!of) {
      pass.communicating.on[step.activity] += step.duration;
      continue;
    }
    const auto phase = static_cast<std::size_t>(*phase_of(step.activity));
    pass.computing[phase][static_cast<std::size_t>(*of)] += step.duration;
  }
  return pass;
}

class RankSums {
 public:
  RankSums(const strategies::Lowered& lowered, const strategies::CostQueries& questions)
      : lowered_(lowered),
        computing_(lowered.actors.size()),
        communicating_(lowered.actors.size()) {
    for (const auto& body : lowered.program.templates()) passes_.push_back(once(body, questions));
  }

  void add(const sim::Trace& trace) {
    const auto& program = lowered_.program;
    for (const auto& op : program.ops()) {
      const bool together = op.kind == sim::Op::Kind::pass || op.kind == sim::Op::Kind::collective;
      for (std::uint32_t i = 0; i < op.count; ++i) {
        const auto actor = static_cast<std::size_t>(program.participants()[op.first + i].actor);
        if (op.kind == sim::Op::Kind::pass) {
          add_pass(actor, passes_[static_cast<std::size_t>(program.body_of(op, i))]);
          continue;
        }
        // Traffic over links takes longer than `duration`, which is known beforehand.
        const auto event = together ? op.first + i : op.first;
        communicating_[actor].on[op.activity] +=
            op.traffic == sim::no_traffic ? op.duration : trace.end[event] - trace.start[event];
      }
    }
  }

  RankTimes times(std::size_t actor, const sim::Spent& spent) const {
    const auto& facts = lowered_.actors[actor];
    RankTimes times{.stage = facts.stage,
                    .rank = facts.rank,
                    .alike = facts.multiplicity,
                    .layers = facts.layers};
    for (std::size_t phase = 0; phase < kernel_phases; ++phase)
      for (std::size_t of = 0; of < kernel_classes; ++of)
        times.computing[phase][of] = {static_cast<double>(computing_[actor].computing[phase][of]) *
                                      1e-12};
    times.exposed = parts_of(spent);
    const auto all = parts_of(communicating_[actor]);
    for (const auto& part : step_parts)
      if (part.sort == StepPartFacts::Sort::communication)
        times.communicating[part.part] = all[part.part];
    return times;
  }

 private:
  void add_pass(std::size_t actor, const OnePass& pass) {
    for (std::size_t phase = 0; phase < kernel_phases; ++phase)
      for (std::size_t of = 0; of < kernel_classes; ++of)
        computing_[actor].computing[phase][of] += pass.computing[phase][of];
    communicating_[actor] += pass.communicating;
  }

  const strategies::Lowered& lowered_;
  std::vector<OnePass> passes_;     // by template
  std::vector<OnePass> computing_;  // by actor
  std::vector<sim::Spent> communicating_;
};

}  // namespace

std::optional<KernelClass> class_of(const sim::Step& step, const strategies::CostQuery* asked) {
  if (step.lane != sim::Lane::compute || !phase_of(step.activity)) return {};
  if (!asked || !asked->kernel) return KernelClass::others;
  if (asked->kernel->kind == units::Kernel::Kind::attention) return KernelClass::attention;
  return asked->kernel->grouped ? KernelClass::experts : KernelClass::products;
}

std::vector<RankTimes> rank_times(const Scenario& scenario) {
  const Prices prices(scenario.cluster);
  const auto costs = prices.costs_with_questions();
  const auto lowered = strategies::lower(
      {scenario.model, scenario.training, scenario.plan, scenario.software, scenario.cluster},
      costs, strategies::Ranks::folded);
  const auto trace = sim::run(lowered.program);
  const auto period = strategies::post_validates(scenario.plan, scenario.software)
                          ? sim::Period::spans
                          : sim::Period::makespan;
  const auto measures = sim::measure(lowered.program, trace, period);
  RankSums ranks(lowered, *costs.questions);
  ranks.add(trace);
  std::vector<RankTimes> all;
  for (std::size_t actor = 0; actor < lowered.actors.size(); ++actor)
    all.push_back(ranks.times(actor, measures.of_actor[actor]));
  std::ranges::stable_sort(all, {}, &RankTimes::stage);
  return all;
}

std::size_t rank_like(std::int64_t rank, const Scenario& scenario,
                      const std::vector<RankTimes>& expected) {
  const strategies::Placement placement(scenario.plan);
  const auto stage = placement.at(rank % placement.ranks()).pipeline;
  std::size_t found = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].stage != stage) continue;
    if (expected[found].stage != stage || expected[i].rank <= rank) found = i;
  }
  return found;
}

}  // namespace forecast
