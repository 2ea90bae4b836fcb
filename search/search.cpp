// SPDX-License-Identifier: Apache-2.0
// Searches one alternative after the other, each held against the best plan of those before.
#include "search/search.hpp"

#include <algorithm>

#include "search/branch_and_bound.hpp"

namespace search {

namespace {

void add(Counts& counts, const Counts& more) {
  for (const auto count : {&Counts::enumerated, &Counts::pruned_by_memory, &Counts::pruned_by_bound,
                           &Counts::evaluated, &Counts::simulated})
    counts.*count += more.*count;
}

void append(std::vector<Ranked>& all, std::vector<Ranked>&& more, std::size_t alternative) {
  for (auto& ranked : more) {
    ranked.alternative = alternative;
    all.push_back(std::move(ranked));
  }
  std::ranges::stable_sort(all, {}, [](const Ranked& one) { return one.forecast.step.time; });
}

void join_answers(Answer& all, Answer&& one, std::size_t alternative) {
  append(all.plans, std::move(one.plans), alternative);
  append(all.pareto, std::move(one.pareto), alternative);
  add(all.space, one.space);
  all.lower_bound = std::min(all.lower_bound, one.lower_bound);
  all.interrupted = all.interrupted || one.interrupted;
  if (one.misfit && (!all.misfit || misses_less(*one.misfit, *all.misfit)))
    all.misfit = std::move(one.misfit);
}

}  // namespace

std::vector<Ranked> pareto_of(const std::vector<Ranked>& sorted) {
  std::vector<Ranked> kept;
  for (const auto& ranked : sorted)
    if (kept.empty() || ranked.forecast.memory.peak < kept.back().forecast.memory.peak)
      kept.push_back(ranked);
  return kept;
}

void prove(Answer& answer) {
  answer.gap = 0;
  answer.optimal = false;
  if (answer.plans.empty()) return;
  const auto best = answer.plans.front().forecast.step.time;
  answer.lower_bound = std::min(answer.lower_bound, best);
  answer.gap = (best - answer.lower_bound) / best;
  answer.optimal = answer.lower_bound == best;
}

Question only_alternative(const Question& question, std::size_t alternative) {
  auto one = question;
  if (alternative > 0) {
    one.scenario = question.others[alternative - 1].scenario;
    one.space = question.others[alternative - 1].space;
  }
  one.others.clear();
  return one;
}

Answer search(const Question& question, const Options& options) {
  auto all = search_alone(question, options);
  for (std::size_t i = 1; i <= question.others.size(); ++i) {
    const auto one = only_alternative(question, i);
    join_answers(all,
                 all.plans.empty()
                     ? search_alone(one, options)
                     : search_alone(one, options, ticks(all.plans.front().forecast.step.time)),
                 i);
  }
  if (question.others.empty() || all.plans.empty()) return all;
  all.pareto = pareto_of(all.pareto);
  if (all.plans.size() > options.top) all.plans.resize(options.top);
  all.misfit.reset();
  prove(all);
  return all;
}

}  // namespace search
