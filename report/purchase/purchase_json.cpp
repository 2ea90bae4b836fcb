// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "report/correction_parts.hpp"
#include "report/document.hpp"
#include "report/purchase/purchase.hpp"
#include "report/purchase/purchase_parts.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Assessed;
using search::Assessment;
using search::Decision;
using search::Purchase;

using Number = std::optional<double>;

double days_of(units::Seconds time) { return time.value / seconds_per_day; }

Document goodput_document(const search::Goodput& goodput) {
  return Object()
      .number("share", goodput.share)
      .optional("mtbf_s", goodput.mtbf)
      .quantity("checkpoint_bytes", goodput.checkpoint)
      .quantity("checkpoint_stall_s", goodput.saving.stall)
      .quantity("checkpoint_lag_s", goodput.saving.lag)
      .quantity("interval_s", goodput.interval)
      .quantity("young_interval_s", goodput.young)
      .number("first_order", goodput.first_order)
      .number("stalls", goodput.stalls)
      .number("lost_work", goodput.lost_work)
      .number("restarts", goodput.restarts)
      .number("waits", goodput.waits)
      .number("stragglers", goodput.slow)
      .take();
}

Document workload_document(const Purchase& purchase, const Assessed& option, std::size_t i) {
  const auto& plan = option.found.workloads[i];
  const auto& step = plan.forecast.step;
  const auto& workload = purchase.workloads[i];
  const auto& training = plan.scenario.training;
  Object object;
  object.put("name", workload.name)
      .number("weight", workload.weight)
      .put("plan", short_plan_document(plan.scenario.plan))
      .put("precision", std::string(units::to_text(training.precision)))
      .put("global_batch", training.global_batch)
      .count("tokens", search::tokens_needed(workload, training.global_batch))
      .quantity("step_time_s", step.time)
      .quantity("step_time_low_s", step.time_low)
      .quantity("step_time_high_s", step.time_high)
      .number("mfu", step.mfu)
      .number("days", days_of(option.assessment.times[i]))
      .put("goodput", goodput_document(option.assessment.goodputs[i]))
      .number("gap", plan.gap)
      .put("interrupted", plan.interrupted);
  Document outside = Document::array();
  if (plan.forecast.validated)
    for (const auto& one : plan.forecast.validated->outside) outside.push_back(one);
  return object.put("outside", std::move(outside)).take();
}

Document option_fabric_document(const Assessed& option) {
  Document all = Document::array();
  for (const auto& [what, changed] : option.fabric)
    all.push_back(
        Object()
            .put("what", what)
            .number("days", days_of(changed.time))
            .quantity("total_cost", changed.costs.total())
            .number("days_change", days_of(changed.time - option.assessment.time))
            .quantity("cost_change", changed.costs.total() - option.assessment.costs.total())
            .take());
  return all;
}

// Adds the figures that need a plan; null without one.
void add_figures(Object& object, const Purchase& purchase, const Assessed& option) {
  const auto& a = option.assessment;
  const bool there = a.planned;
  const auto figure = [&](const char* key, double value) {
    object.optional(key, there ? Number(value) : Number());
  };
  const auto* first = there ? &option.found.workloads.front() : nullptr;
  object.put("plan", there ? short_plan_document(first->scenario.plan) : Document(nullptr));
  figure("step_time_s", there ? first->forecast.step.time.value : 0);
  figure("step_time_low_s", there ? first->forecast.step.time_low.value : 0);
  figure("step_time_high_s", there ? first->forecast.step.time_high.value : 0);
  if (there && first->correction) object.put("correction", correction_document(*first->correction));
  figure("mfu", there ? first->forecast.step.mfu : 0);
  figure("goodput", a.goodput);
  figure("days", days_of(a.time));
  figure("days_low", days_of(a.time_low));
  figure("days_high", days_of(a.time_high));
  figure("days_until_done", days_of(a.until_done));
  figure("capital", a.costs.capital.value);
  object.quantity("capital_full", a.capital_full);
  object.put("lives", there ? Document(a.lives) : Document(nullptr));
  figure("energy_cost", a.costs.energy.value);
  figure("rent_cost", a.costs.rent.value);
  figure("support_cost", a.costs.support.value);
  figure("staff_cost", a.costs.staff.value);
  figure("storage_cost", a.costs.storage.value);
  figure("total_cost", a.costs.total().value);
  figure("paid", a.paid().value);
  figure("total_cost_low", a.total_low.value);
  figure("total_cost_high", a.total_high.value);
  figure("cost_per_trillion_tokens", there ? a.costs.total().value / a.tokens * 1e12 : 0);
  object.quantity("power_w", a.power).number("racks", a.racks);
  figure("energy_wh", a.energy.value / joules_per_watt_hour);
  object.optional("deadline_probability", a.deadline_probability);
  Document workloads = Document::array();
  for (std::size_t i = 0; there && i < option.found.workloads.size(); ++i)
    workloads.push_back(workload_document(purchase, option, i));
  object.put("workloads", std::move(workloads)).put("what_if", option_fabric_document(option));
}

// Returns the numbers of nodes that were tried; null if the number was given.
Document tried_document(const std::vector<search::TriedNodes>& tried) {
  if (tried.empty()) return nullptr;
  Document all = Document::array();
  for (const auto& one : tried) {
    const auto& a = one.assessment;
    const auto figure = [&](double value) { return a.planned ? Number(value) : Number(); };
    all.push_back(Object()
                      .put("nodes", one.nodes)
                      .put("gpus", a.gpus)
                      .put("feasible", a.feasible())
                      .put("binding", a.shortfalls.empty() ? Document(nullptr)
                                                           : Document(a.shortfalls.front().what))
                      .optional("days_until_done", figure(days_of(a.until_done)))
                      .optional("total_cost", figure(a.costs.total().value))
                      .optional("paid", figure(a.paid().value))
                      .take());
  }
  return all;
}

Document option_document(const Purchase& purchase, const Decision& decision, std::size_t i) {
  const auto& option = decision.options[i];
  const auto& asked = purchase.options[i];
  const auto& shortfalls = option.assessment.shortfalls;
  Document short_of = Document::array();
  for (const auto& [what, excess] : shortfalls)
    short_of.push_back(Object().put("what", what).number("excess", excess).take());
  Object object;
  object.put("name", asked.name)
      .put("gpus", option.assessment.gpus)
      .put("nodes", asked.cluster().nodes())
      .put("tried", tried_document(option.tried))
      .put("feasible", option.assessment.feasible())
      .put("binding", shortfalls.empty() ? Document(nullptr) : Document(shortfalls.front().what))
      .put("shortfalls", std::move(short_of))
      .put("no_plan", asked.no_plan.empty() ? Document(nullptr) : Document(asked.no_plan));
  add_figures(object, purchase, option);
  const bool priced = asked.price && !asked.price->source.empty();
  return object.put("price_source", priced ? Document(asked.price->source) : Document(nullptr))
      .put("price_estimated", asked.price && asked.price->estimated)
      .take();
}

Document option_name(const Purchase& purchase, std::optional<std::size_t> option) {
  return option ? Document(purchase.options[*option].name) : Document(nullptr);
}

Document names(const Purchase& purchase, const std::vector<std::size_t>& options) {
  Document all = Document::array();
  for (const auto i : options) all.push_back(purchase.options[i].name);
  return all;
}

Document recommended_document(const Purchase& purchase, const Decision& decision) {
  const auto& chosen = decision.recommended;
  if (!chosen) return nullptr;
  return Object()
      .put("name", option_name(purchase, chosen->option))
      .put("reason", recommendation_words(purchase, decision))
      .optional("margin", chosen->second ? Number(chosen->margin) : Number())
      .put("second", option_name(purchase, chosen->second))
      .optional("uncertainty", chosen->second ? Number(chosen->uncertainty) : Number())
      .put("tie", !chosen->ties.empty())
      .put("ties", names(purchase, chosen->ties))
      .take();
}

Document sensitivity_document(const Purchase& purchase, const Decision& decision) {
  Document all = Document::array();
  for (const auto& [parameter, change, recommended, total_cost] : decision.sensitivity)
    all.push_back(Object()
                      .put("parameter", parameter)
                      .number("change", change)
                      .put("recommended", option_name(purchase, recommended))
                      .optional("total_cost", total_cost)
                      .take());
  return all;
}

Document models_document(const Purchase& purchase) {
  Document all = Document::array();
  for (std::size_t w = 0; w < purchase.workloads.size(); ++w) {
    const auto* model = model_of(purchase, w);
    all.push_back(Object()
                      .put("name", purchase.workloads[w].name)
                      .put("tokens", purchase.workloads[w].tokens)
                      .put("model", model == nullptr ? Document() : parameters_document(*model))
                      .take());
  }
  return all;
}

bool is_interrupted(const Decision& decision) {
  return std::ranges::any_of(decision.options,
                             [](const Assessed& option) { return option.found.interrupted; });
}

}  // namespace

std::string purchase_json(const Purchase& purchase, const Decision& decision,
                          std::string_view version, units::Seconds wall) {
  Document options = Document::array();
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    options.push_back(option_document(purchase, decision, i));
  return dump(
      Object()
          .put("stepcast", std::string(version))
          .put("name", purchase.name)
          .put("currency", purchase.economics.currency)
          .put("budget_of", purchase.constraints.budget_of == search::Constraints::BudgetOf::capital
                                ? "capital"
                                : "total_cost")
          .put("workloads", models_document(purchase))
          .put("options", std::move(options))
          .put("pareto", names(purchase, decision.pareto))
          .put("recommended", recommended_document(purchase, decision))
          .put("sensitivity", sensitivity_document(purchase, decision))
          .put("warnings", purchase_warnings(purchase, decision))
          .put("interrupted", is_interrupted(decision))
          .quantity("wall_s", wall)
          .take());
}

}  // namespace report
