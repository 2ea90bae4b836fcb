// SPDX-License-Identifier: Apache-2.0
#include "report/alerts.hpp"
#include "report/correction_parts.hpp"
#include "report/document.hpp"
#include "report/job.hpp"
#include "report/run.hpp"
#include "report/search/plan_table.hpp"
#include "report/search/recompute_words.hpp"
#include "report/search/search.hpp"
#include "report/search/search_parts.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Answer;
using search::Question;
using search::Ranked;

Document chosen_recompute_document(const model::Transformer& model, const strategies::Plan& plan) {
  const auto by_stage = recomputed_by_stage(model, plan);
  Document stages = Document::array();
  for (std::size_t stage = 0; stage < by_stage.size(); ++stage) {
    Object choices;
    for (const auto& [what, layers] : by_stage[stage].choices) choices.put(what.c_str(), layers);
    stages.push_back(Object()
                         .put("stage", stage)
                         .put("layers", by_stage[stage].layers)
                         .put("choices", choices.take())
                         .take());
  }
  return Object().put("words", words_of(by_stage)).put("stages", std::move(stages)).take();
}

// `simulated`: the step time before it was corrected. `best`: the first of the list.
Document ranked_document(const Question& question, const Ranked& ranked, std::size_t rank,
                         units::Seconds simulated, const Ranked& best) {
  const auto& step = ranked.forecast.step;
  Object object;
  object.put("rank", rank)
      .put("plan", short_plan_document(ranked.plan))
      .quantity("step_time_s", step.time)
      .quantity("simulated_step_time_s", simulated)
      .quantity("time_low_s", step.time_low)
      .quantity("time_high_s", step.time_high)
      .quantity("bound_s", ranked.bound)
      .number("tokens_per_s", step.tokens_per_second)
      .number("mfu", step.mfu)
      .put("equal", equals_best(ranked, best))
      .quantity("peak_bytes", ranked.forecast.memory.peak)
      .put("fits", ranked.forecast.memory.fits)
      .put("recompute", chosen_recompute_document(question.scenario.model, ranked.plan));
  if (const auto chance = ranked.forecast.memory.fit_chance) object.number("fit_chance", *chance);
  const auto& scenario = question.scenario_of(ranked.alternative);
  if (!scenario.alerts.empty()) object.put("alerts", alerts_document(scenario, ranked.forecast));
  const auto precision = scenario.training.precision;
  if (!question.others.empty()) object.put("precision", std::string(units::to_text(precision)));
  return object.take();
}

Document configurable_document(const Question& question,
                               const std::vector<search::Configurable>& plans) {
  Document all = Document::array();
  for (const auto& [ranked, finer] : plans) {
    const auto& step = ranked.forecast.step;
    Object object;
    object.put("rank", all.size() + 1)
        .put("plan", short_plan_document(ranked.plan))
        .quantity("step_time_s", step.time)
        .quantity("time_low_s", step.time_low)
        .quantity("time_high_s", step.time_high)
        .put("equal", equals_best(ranked, plans.front().ranked))
        .number("tokens_per_s", step.tokens_per_second)
        .number("mfu", step.mfu)
        .quantity("peak_bytes", ranked.forecast.memory.peak)
        .put("fits", ranked.forecast.memory.fits)
        .put("recompute", chosen_recompute_document(question.scenario.model, ranked.plan))
        .quantity("finer_step_time_s", finer);
    if (const auto chance = ranked.forecast.memory.fit_chance) object.number("fit_chance", *chance);
    all.push_back(object.take());
  }
  return all;
}

Document pareto_document(const std::vector<Ranked>& pareto) {
  Document all = Document::array();
  for (const auto& ranked : pareto)
    all.push_back(Object()
                      .put("plan", short_plan_document(ranked.plan))
                      .quantity("step_time_s", ranked.forecast.step.time)
                      .quantity("peak_bytes", ranked.forecast.memory.peak)
                      .take());
  return all;
}

Document space_document(const search::Counts& space) {
  return Object()
      .put("enumerated", space.enumerated)
      .put("pruned_by_memory", space.pruned_by_memory)
      .put("pruned_by_bound", space.pruned_by_bound)
      .put("evaluated", space.evaluated)
      .put("simulated", space.simulated)
      .take();
}

Document proof_document(const Answer& answer) {
  using Bound = std::optional<units::Seconds>;
  using Share = std::optional<double>;
  const bool found = !answer.plans.empty();
  return Object()
      .put("optimal", found && answer.optimal)
      .optional("lower_bound_s", found ? Bound(answer.lower_bound) : Bound())
      .optional("gap", found ? Share(answer.gap) : Share())
      .take();
}

Document misfit_document(const std::optional<search::Misfit>& misfit) {
  if (!misfit) return nullptr;
  return Object()
      .put("plan", short_plan_document(misfit->plan))
      .quantity("needed_bytes", misfit->needed)
      .quantity("capacity_bytes", misfit->capacity)
      .put("node", misfit->node.empty() ? Document() : Document(misfit->node))
      .take();
}

Document limits_document(const FrameworkLimits& limits) {
  return Object()
      .put("framework", limits.framework)
      .optional("without_s", limits.without)
      .put("beyond", limits.beyond)
      .take();
}

}  // namespace

std::string search_json(const SearchReport& report, std::string_view version) {
  const auto& [outcome, why, corrected, configurable, run, limits, job, emitted, wall] = report;
  const auto& question = outcome.question;
  const auto& answer = outcome.answer;
  Document plans = Document::array();
  for (std::size_t i = 0; i < answer.plans.size(); ++i)
    plans.push_back(
        ranked_document(question, answer.plans[i], i + 1,
                        corrected ? corrected->simulated[i] : answer.plans[i].forecast.step.time,
                        answer.plans.front()));
  const auto chosen = answer.plans.empty() ? 0 : answer.plans.front().alternative;
  auto scenario = scenario_document(question.scenario_of(chosen));
  scenario.erase("plan");
  const Document best = plans.empty() ? Document(nullptr) : plans.front();
  Object object;
  object.put("stepcast", std::string(version)).put("scenario", std::move(scenario));
  object.put("model", parameters_document(question.scenario.model));
  if (auto racks = racks_document(question.scenario_of(chosen).cluster); !racks.is_null())
    object.put("racks", std::move(racks));
  if (corrected) object.put("correction", correction_document(corrected->correction));
  if (job) object.put("job", job_document(*job));
  if (run) object.put("run", run_document(*run));
  object.put("plans", std::move(plans))
      .put("best", best)
      .put("configurable", configurable_document(question, configurable))
      .put("pareto", pareto_document(answer.pareto))
      .put("space", space_document(answer.space))
      .put("proof", proof_document(answer))
      .put("interrupted", answer.interrupted)
      .put("why", why ? why_document(*why) : Document(nullptr));
  if (question.objective.kind != search::Objective::Kind::step_time)
    object.put("objective", objective_document(outcome));
  if (answer.plans.empty()) object.put("misfit", misfit_document(answer.misfit));
  if (limits) object.put("limits", limits_document(*limits));
  if (!emitted.empty()) object.put("emitted", emitted);
  return dump(object.quantity("wall_s", wall).take());
}

}  // namespace report
