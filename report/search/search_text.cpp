// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plans/partition.hpp"
#include "report/alerts.hpp"
#include "report/correction.hpp"
#include "report/headline_text.hpp"
#include "report/picture.hpp"
#include "report/question_text.hpp"
#include "report/run.hpp"
#include "report/search/plan_table.hpp"
#include "report/search/plan_yaml.hpp"
#include "report/search/recompute_words.hpp"
#include "report/search/search.hpp"
#include "report/search/search_parts.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Answer;
using search::Question;
using search::Ranked;

constexpr int most_pareto_rows = 8;

std::string plans(std::int64_t number) {
  return grouped_count(number) + (number == 1 ? " plan" : " plans");
}

// "5, 14 x 6, 7" layers; empty where the split is the even one and leaves no stage without a layer.
std::string split_words(const model::Transformer& model, const strategies::Plan& plan) {
  auto even = plan;
  even.layers_per_stage.clear();
  const auto layers = strategies::layers_per_virtual_stage(plan, model.layers);
  if (std::ssize(layers) <= model.layers &&
      layers == strategies::layers_per_virtual_stage(even, model.layers))
    return {};
  std::string words;
  for (std::size_t first = 0, last = 0; first < layers.size(); first = last) {
    while (last < layers.size() && layers[last] == layers[first]) ++last;
    words += words.empty() ? "" : ", ";
    if (last - first > 1) words += fmt::format("{} x ", last - first);
    words += std::to_string(layers[first]);
  }
  return words + (plan.virtual_stages > 1 ? " by virtual stage" : " by stage");
}

std::string best_text(const Question& question, const Ranked& best, const TextOptions& options,
                      const std::optional<search::Corrected>& corrected,
                      const std::optional<search::WholeRun>& run) {
  auto scenario = question.scenario_of(best.alternative);
  scenario.plan = best.plan;
  const auto& memory = best.forecast.memory;
  const auto& model = scenario.model;
  std::string text = heading("The best plan", options) +
                     wrapped(degrees_words(best.plan), 2, width_of(options)) +
                     headline_text(scenario, best.forecast, options) + run_text(run, options);
  if (corrected) text += correction_text(corrected->correction, true, options);
  text +=
      item("memory",
           fmt::format("{} of {} on stage {}{}", units::short_text(memory.peak),
                       units::short_text(memory.capacity), memory.peak_stage, fit_words(memory)),
           options);
  text += item("recompute", words_of(recomputed_by_stage(model, best.plan)), options);
  if (const auto split = split_words(model, best.plan); !split.empty())
    text += item("layers", split, options);
  return text;
}

// Returns the gain of the proved plan over the one that is shown; empty if they are the same.
std::string finer_text(const Question& question, const Ranked& shown, const Ranked& finest,
                       const TextOptions& options) {
  if (shown.plan == finest.plan && shown.alternative == finest.alternative) return {};
  const auto& step = finest.forecast.step;
  const auto slower = (shown.forecast.step.time - step.time) / shown.forecast.step.time;
  return item("finer",
              fmt::format("{} ({} less) with {}, recomputing {}: the plan that the proof is of, in "
                          "which layers differ as few frameworks can be told",
                          units::short_text(step.time), percent(slower), degrees_words(finest.plan),
                          short_words(question.scenario.model, finest.plan)),
              options);
}

// Returns, for each plan, the gain of finer plans of the same degrees.
std::vector<std::string> wins_of(const std::vector<search::Configurable>& configurable) {
  std::vector<std::string> cells;
  for (const auto& [ranked, finer] : configurable) {
    const auto time = ranked.forecast.step.time;
    const double share = (time - finer) / time;
    cells.push_back(share > 5e-4 ? "-" + percent(share) : "");
  }
  return cells;
}

std::string table_text(const Question& question, const Answer& answer,
                       const std::vector<search::Configurable>& configurable,
                       const TextOptions& options) {
  std::vector<Ranked> plans;
  for (const auto& one : configurable) plans.push_back(one.ranked);
  if (plans.empty()) plans = answer.plans;
  const auto& best = plans.front();
  auto text =
      configurable.empty()
          ? heading("Choices of degrees, each with its best stages and recomputation", options)
          : heading(
                "Choices of degrees, with stages and recomputation as frameworks take "
                "them",
                options);
  text += plan_table(question, plans, best, true, options, wins_of(configurable));
  if (std::any_of(plans.begin() + 1, plans.end(),
                  [&](const Ranked& plan) { return equals_best(plan, best); }))
    text += wrapped("= : equal, for the forecast of the first may be off by more (80 %)", 2,
                    width_of(options));
  return text;
}

std::string pareto_text(const Question& question, const Answer& answer,
                        const TextOptions& options) {
  const auto& pareto = answer.pareto;
  if (pareto.size() < 2) return {};
  std::vector<Ranked> shown;
  for (const int row : spread(static_cast<int>(pareto.size()), most_pareto_rows))
    shown.push_back(pareto[static_cast<std::size_t>(row)]);
  std::string text =
      heading("Time against memory: no simulated plan is both faster and smaller", options) +
      plan_table(question, shown, answer.plans.front(), false, options);
  if (shown.size() < pareto.size())
    text += fmt::format("  ({} between these are not shown)\n", pareto.size() - shown.size());
  return text;
}

std::string proof_words(const Question& question, const Answer& answer) {
  const auto leaving = question.memory_headroom > 0 ? fmt::format(" that leave {} of memory free",
                                                                  percent(question.memory_headroom))
                                                    : std::string();
  const auto none = fmt::format("none of the {} in the space{} is faster",
                                plans(answer.space.enumerated), leaving);
  if (answer.optimal) return "optimal: " + none;
  const std::string stopped = answer.interrupted ? "stopped early; " : "";
  if (!(answer.lower_bound.value > 0)) return stopped + "nothing is proved yet";
  return stopped +
         fmt::format("proved: {} than {}, so the best is at most {} from optimal", none,
                     units::short_text(answer.lower_bound), percent_at_most(answer.gap)) +
         gap_left_words(answer.gap, question.gap, answer.interrupted);
}

std::string counts_words(const search::Counts& space) {
  std::string words =
      fmt::format("{} fit in no way, {} cannot be faster, {} searched with {} simulations",
                  grouped_count(space.pruned_by_memory), grouped_count(space.pruned_by_bound),
                  grouped_count(space.evaluated), grouped_count(space.simulated));
  const auto open =
      space.enumerated - space.pruned_by_memory - space.pruned_by_bound - space.evaluated;
  return words + (open > 0 ? fmt::format(", {} undecided", grouped_count(open)) : "");
}

}  // namespace

std::string search_text(const search::Outcome& outcome, const search::Why& why,
                        const TextOptions& options,
                        const std::optional<search::Corrected>& corrected,
                        const std::optional<search::WholeRun>& run,
                        const std::vector<search::Configurable>& configurable) {
  const auto& question = outcome.question;
  const auto& answer = outcome.answer;
  const auto& best = configurable.empty() ? answer.plans.front() : configurable.front().ranked;
  std::string text = setting_text(question.scenario_of(best.alternative), options) +
                     objective_text(outcome, options) +
                     best_text(question, best, options, corrected, run);
  text += finer_text(question, best, answer.plans.front(), options);
  text += item("proof", proof_words(question, answer), options) +
          item("", counts_words(answer.space), options);
  text += alerts_text(question.scenario_of(best.alternative), best.forecast, options);
  text += why_text(question, answer, why, options);
  text += table_text(question, answer, configurable, options);
  text += pareto_text(question, answer, options);
  const auto size = chosen_words(outcome);
  return text +
         heading("To go on with the best plan, give the scenario" +
                     (size.empty() ? "" : " " + size + " and"),
                 options) +
         plan_yaml(best.plan, width_of(options));
}

}  // namespace report
