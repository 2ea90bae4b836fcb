// SPDX-License-Identifier: Apache-2.0
#include "app/search_limits.hpp"

#include <algorithm>

#include "app/command.hpp"
#include "search/search.hpp"

namespace app {

namespace {

forecast::Scenario planned(const search::Question& question, const search::Ranked& ranked) {
  auto scenario = question.scenario_of(ranked.alternative);
  scenario.plan = ranked.plan;
  return scenario;
}

const char* framework_word(report::Framework framework) {
  return std::ranges::find(report::framework_names, framework,
                           [](const auto& each) { return each.second; })
      ->first;
}

}  // namespace

std::optional<report::Framework> framework_asked_for(const std::string& text) {
  if (text.empty()) return {};
  const auto at = text.find('@');
  const auto name = text.substr(0, at);
  for (const auto& [word, framework] : report::framework_names) {
    if (name != word) continue;
    const std::string version(report::launch_version(framework));
    if (at != text.npos && text.substr(at + 1) != version)
      throw Mistake("--for " + text + ": limits are known of " + name + "@" + version +
                    "; write that, or leave the version out");
    return framework;
  }
  throw Mistake("--for " + text +
                ": unknown framework; expected megatron, deepspeed, torchtitan or nanotron");
}

void keep_runnable(search::Outcome& outcome, report::Framework framework) {
  auto& answer = outcome.answer;
  const auto is_beyond = [&](const search::Ranked& ranked) {
    return !report::beyond(planned(outcome.question, ranked), framework).empty();
  };
  const bool loses_best = !answer.plans.empty() && is_beyond(answer.plans.front());
  std::erase_if(answer.plans, is_beyond);
  std::erase_if(answer.pareto, is_beyond);
  for (auto* plans : {&answer.plans, &answer.pareto})  // what has no effect is not spoken of
    for (auto& ranked : *plans) ranked.plan.sequence_parallel &= ranked.plan.tensor > 1;
  if (loses_best) search::prove(answer);
}

report::FrameworkLimits limits_of(const search::Question& question, report::Framework framework,
                                  const search::Options& options) {
  report::FrameworkLimits limits;
  limits.framework =
      std::string(framework_word(framework)) + "@" + std::string(report::launch_version(framework));
  auto once = options;
  once.top = 1;
  const auto free = search::optimise(question, once);
  if (free.answer.plans.empty()) return limits;
  const auto& best = free.answer.plans.front();
  limits.without = best.forecast.step.time;
  limits.beyond = report::beyond(planned(free.question, best), framework);
  return limits;
}

}  // namespace app
