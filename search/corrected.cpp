// SPDX-License-Identifier: Apache-2.0
#include "search/corrected.hpp"

namespace search {
namespace {

void stretch(Why& why, double factor) {
  for (auto* parts : {&why.path, &why.exposed})
    for (auto& part : *parts) part.time = factor * part.time;
  if (why.runner) {
    why.runner->slower = factor * why.runner->slower;
    for (auto& loss : why.runner->losses) loss.time = factor * loss.time;
  }
  for (auto& help : why.helps) help.gain = factor * help.gain;
  for (auto& one : why.memory_changes)
    if (one.time) *one.time = factor * *one.time;
}

}  // namespace

Corrected correct(Outcome& outcome, Why& why, const forecast::Corrections& corrections) {
  auto& answer = outcome.answer;
  const auto& best = answer.plans.front();
  auto scenario = outcome.question.scenario_of(best.alternative);
  scenario.plan = best.plan;
  Corrected corrected{forecast::correction_of(scenario, best.forecast, corrections), {}};
  const double factor = corrected.correction.factor;
  for (auto* plans : {&answer.plans, &answer.pareto})
    for (auto& ranked : *plans) {
      if (plans == &answer.plans) corrected.simulated.push_back(ranked.forecast.step.time);
      const bool is_best = ranked.alternative == best.alternative && ranked.plan == best.plan;
      if (is_best)
        forecast::apply(corrected.correction, ranked.forecast);
      else
        forecast::stretch(ranked.forecast, factor);
      ranked.bound = factor * ranked.bound;
    }
  answer.lower_bound = factor * answer.lower_bound;
  stretch(why, factor);
  return corrected;
}

}  // namespace search
