// SPDX-License-Identifier: Apache-2.0
// Plans for every option of a purchase.
#include <algorithm>
#include <utility>

#include "search/purchase/decision_parts.hpp"

namespace search {

void set_interval_and_correction(Planned& plan, const Purchasing& how) {
  forecast::add_interval(plan.forecast, plan.scenario, how.intervals);
  if (how.corrections.steps.empty()) return;
  plan.correction = forecast::correction_of(plan.scenario, plan.forecast, how.corrections);
  forecast::apply(*plan.correction, plan.forecast);
}

namespace {

Question with_batch(Question question, std::int64_t batch) {
  question.scenario.training.global_batch = batch;
  for (auto& other : question.others) other.scenario.training.global_batch = batch;
  return question;
}

bool same(const Question& a, const Question& b) {
  return a.scenario == b.scenario && a.space == b.space && a.gap == b.gap &&
         a.memory_headroom == b.memory_headroom && a.time_limit == b.time_limit &&
         a.others.empty() && b.others.empty();
}

// The best plan of an answer.
Planned planned(const Question& question, const Answer& answer, const Purchasing& how) {
  const auto& best = answer.plans.front();
  Planned plan{question.scenario_of(best.alternative), best.forecast, answer.gap,
               answer.interrupted};
  plan.scenario.plan = best.plan;
  set_interval_and_correction(plan, how);
  return plan;
}

}  // namespace

Found Planning::found(const PurchaseOption& option, std::size_t number) {
  Found found;
  for (std::size_t i = 0; i < purchase_.workloads.size(); ++i) {
    std::optional<Planned> plan;
    try {
      plan = best(option.questions[i], purchase_.workloads[i], found);
    } catch (const strategies::Refusal& why) {
      refused_.push_back({why, number, i});
      continue;
    }
    if (!plan) {
      found.workloads.clear();
      return found;
    }
    found.workloads.push_back(std::move(*plan));
  }
  return found;
}

Assessment Planning::assessment(const PurchaseOption& option, const Found& found) const {
  const auto& plans = found.workloads;
  auto assessment = assess(purchase_, option, plans);
  if (found.misfit && plans.empty())
    assessment.shortfalls.front() = {
        "memory", std::max(0.0, found.misfit->needed / found.misfit->capacity - 1)};
  return assessment;
}

// The best plan with the batch at which training takes least time.
std::optional<Planned> Planning::best(const Question& question, const Workload& workload,
                                      Found& found) {
  std::optional<Planned> chosen;
  double least = 0;
  const auto first = question.scenario.training.global_batch;
  for (auto batch = first; batch <= workload.max_global_batch.value_or(first); batch *= 2) {
    const auto asked = with_batch(question, batch);
    const auto answer = solved(asked);
    found.interrupted = found.interrupted || answer.interrupted;
    if (answer.plans.empty()) {
      if (!found.misfit) found.misfit = answer.misfit;
      continue;
    }
    auto plan = planned(asked, answer, how_);
    const double time =
        tokens_needed(workload, batch) / static_cast<double>(batch) * plan.forecast.step.time.value;
    if (chosen && time >= least) break;
    chosen = std::move(plan);
    least = time;
  }
  return chosen;
}

Answer Planning::solved(const Question& question) {
  for (const auto& [asked, answer] : known_)
    if (same(asked, question)) return answer;
  auto answer = how_.solve ? how_.solve(question) : search(question);
  known_.emplace_back(question, answer);
  return answer;
}

Decision decide(const Purchase& asked, const Purchasing& how) {
  Decision decision;
  decision.purchase = asked;
  auto& purchase = decision.purchase;
  Planning planning(asked, how);
  std::vector<Assessment> assessments;
  for (std::size_t i = 0; i < purchase.options.size(); ++i) {
    auto& option = purchase.options[i];
    if (how.progress) how.progress(i, purchase.options.size(), option.name);
    Assessed one;
    const bool searched = option.no_plan.empty();
    if (searched && option.find)
      one = with_nodes_found(asked, option, planning, i);
    else if (searched)
      one.found = planning.found(option, i);
    if (!planning.refused().empty()) continue;  // no decision, but the other options' mistakes
    const auto& plans = one.found.workloads;
    one.assessment = planning.assessment(option, one.found);
    if (one.assessment.planned) one.fabric = fabric_effects(purchase, option, plans, how);
    assessments.push_back(one.assessment);
    decision.options.push_back(std::move(one));
  }
  if (!planning.refused().empty()) throw PurchaseRefused(planning.refused());
  decision.recommended = recommend(assessments);
  decision.pareto = pareto_of(assessments);
  const auto& chosen = decision.recommended;
  decision.sensitivity = sensitivity_of(purchase, decision.options,
                                        chosen ? std::optional(chosen->option) : std::nullopt);
  return decision;
}

}  // namespace search
