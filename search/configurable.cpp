// SPDX-License-Identifier: Apache-2.0
#include "search/configurable.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "plans/partition.hpp"
#include "search/branch_and_bound.hpp"
#include "search/trial.hpp"

namespace search {
namespace {

using strategies::Plan;
using strategies::Recompute;

bool all_are(const std::vector<std::int64_t>& layers, std::size_t from, std::size_t to,
             std::size_t step, std::int64_t number) {
  for (auto i = from; i < to; i += step)
    if (layers[i] != number) return false;
  return true;
}

// The ways in which layers of the plan recompute, each once.
std::vector<Recompute> ways_in_plan(const Plan& plan) {
  std::vector<Recompute> ways;
  const auto add = [&](const Recompute& way) {
    if (std::ranges::find(ways, way) == ways.end()) ways.push_back(way);
  };
  add(plan.recompute);
  for (const auto& way : plan.recompute_of_stage) add(way);
  for (const auto& range : plan.layers)
    if (range.recompute) add(*range.recompute);
  return ways;
}

// All modules of the ways together, in the order of their enum; nothing where there are none.
std::optional<Recompute> modules_together(const std::vector<Recompute>& ways) {
  Recompute all{Recompute::Kind::modules, 0, {}};
  for (const auto& way : ways) {
    if (way.kind == Recompute::Kind::selective) all.modules.push_back(model::Module::core_attn);
    if (way.kind == Recompute::Kind::modules)
      all.modules.insert(all.modules.end(), way.modules.begin(), way.modules.end());
  }
  std::ranges::sort(all.modules);
  all.modules.erase(std::unique(all.modules.begin(), all.modules.end()), all.modules.end());
  if (all.modules.empty()) return {};
  return all;
}

// The plan with this recomputation everywhere. Layers that are regrouped stay so.
Plan recomputing(Plan plan, const Recompute& recompute) {
  plan.recompute = recompute;
  plan.recompute_of_stage.clear();
  for (auto& range : plan.layers) range.recompute.reset();
  std::erase_if(plan.layers, [](const auto& range) { return !range.tensor; });
  return plan;
}

double step_seconds(const Ranked& ranked) { return ranked.forecast.step.time.value; }

class Plain {
 public:
  Plain(const Question& question, const Ranked& finer)
      : question_(question), finer_(finer), scenario_(question.scenario_of(finer.alternative)) {}

  std::optional<Ranked> best() {
    auto plan = finer_.plan;
    const auto layers = scenario_.model.layers;
    const bool plain_cut = has_plain_cut(plan, layers);
    if (plain_cut && has_plain_recomputation(plan)) return finer_;
    if (!plain_cut) plan.layers_per_stage.clear();
    if (!has_plain_cut(plan, layers)) return {};
    const auto ways = ways_in_plan(finer_.plan);
    if (attempt(recomputing(plan, {}))) return best_;
    for (const auto& way : ways)
      if (way.kind != Recompute::Kind::none) attempt(recomputing(plan, way));
    if (const auto all = modules_together(ways)) attempt(recomputing(plan, *all));
    fewest_layers(plan);
    return best_;
  }

 private:
  // Whether the plan fits; then keeps the fastest.
  bool attempt(const Plan& plan) {
    auto scenario = scenario_;
    scenario.plan = plan;
    try {
      auto forecast = forecast::simulate(scenario, {.network = false});
      if (missing(question_, forecast) > 0) return false;
      if (!best_ || forecast.step.time < best_->forecast.step.time)
        best_ = {plan, std::move(forecast), finer_.bound, finer_.alternative};
      return true;
    } catch (const std::invalid_argument&) {
      return false;  // a key that the plan cannot be combined with
    }
  }

  // Finds the fewest whole layers of each rank that must be recomputed: the more, the less memory.
  void fewest_layers(const Plan& plan) {
    const auto most = (scenario_.model.layers + plan.pipeline - 1) / plan.pipeline;
    if (!attempt(recomputing(plan, {Recompute::Kind::full}))) return;
    std::int64_t short_of = 0, fits = most;
    while (fits - short_of > 1) {
      const auto middle = short_of + (fits - short_of) / 2;
      (attempt(recomputing(plan, {Recompute::Kind::full_layers, middle})) ? fits : short_of) =
          middle;
    }
  }

  const Question& question_;
  const Ranked& finer_;
  forecast::Scenario scenario_;
  std::optional<Ranked> best_;
};

}  // namespace

bool has_plain_cut(const Plan& plan, std::int64_t layers) {
  if (plan.pipeline < 2) return true;
  const auto cut = strategies::layers_per_virtual_stage(plan, layers);
  const auto ranks = static_cast<std::size_t>(plan.pipeline), last = cut.size() - 1;
  if (cut.size() < 3) return true;
  const auto inner = cut[1];
  if (all_are(cut, 1, last, 1, inner)) {
    const auto about = [&](std::int64_t number) { return number == inner || number == inner - 1; };
    if (plan.virtual_stages < 2 || (about(cut.front()) && about(cut.back()))) return true;
  }
  if (plan.virtual_stages < 2 || cut.size() % ranks != 0) return false;
  for (std::size_t rank = 1; rank + 1 < ranks; ++rank)
    if (!all_are(cut, rank, cut.size(), ranks, inner)) return false;
  return all_are(cut, 0, cut.size(), ranks, cut.front()) &&
         all_are(cut, ranks - 1, cut.size(), ranks, cut.back());
}

bool has_plain_recomputation(const Plan& plan) {
  return plan.recompute_of_stage.empty() &&
         std::ranges::none_of(plan.layers,
                              [](const auto& range) { return range.recompute.has_value(); }) &&
         plan.recompute.every.size() < 2;
}

std::vector<Configurable> configurable_plans(const Question& question, Answer& answer,
                                             const Options& options) {
  std::vector<std::optional<Ranked>> found(answer.plans.size());
  const auto look = [&](std::size_t i) { found[i] = Plain(question, answer.plans[i]).best(); };
  if (options.for_each)
    options.for_each(found.size(), look);
  else
    for (std::size_t i = 0; i < found.size(); ++i) look(i);
  bool faster = false;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] && step_seconds(*found[i]) < step_seconds(answer.plans[i])) {
      answer.plans[i] = *found[i];
      answer.pareto.push_back(*found[i]);
      faster = true;
    }
  std::vector<Configurable> plans;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] && std::ranges::none_of(plans, [&](const Configurable& one) {
          return one.ranked.plan == found[i]->plan &&
                 one.ranked.alternative == found[i]->alternative;
        }))
      plans.push_back({std::move(*found[i]), answer.plans[i].forecast.step.time});
  std::ranges::stable_sort(
      plans, {}, [](const Configurable& one) { return one.ranked.forecast.step.time.value; });
  if (!faster) return plans;
  std::ranges::stable_sort(answer.plans, {}, step_seconds);
  const auto same = [](const Ranked& a, const Ranked& b) {
    return a.plan == b.plan && a.alternative == b.alternative;
  };
  answer.plans.erase(std::unique(answer.plans.begin(), answer.plans.end(), same),
                     answer.plans.end());
  std::ranges::stable_sort(answer.pareto, {}, step_seconds);
  answer.pareto = pareto_of(answer.pareto);
  if (answer.gap > 0) {
    const double best = step_seconds(answer.plans.front());
    answer.gap = std::max(0.0, (best - answer.lower_bound.value) / best);
  }
  return plans;
}

}  // namespace search
