// SPDX-License-Identifier: Apache-2.0
#include "app/auto_plan.hpp"

#include "app/headway.hpp"
#include "app/parallel.hpp"
#include "app/placing.hpp"
#include "app/stopping.hpp"
#include "report/search/search.hpp"
#include "search/search.hpp"

namespace app {

AutoPlan plan_for(search::Question question, const scenarios::Origin& origin,
                  const Common& common) {
  question.objective = {};
  const auto* limits = origin.document.find("search");
  if (limits == nullptr || limits->find("gap") == nullptr) question.gap = auto_gap;
  if (!question.time_limit) question.time_limit = auto_time_limit;
  const Stopping stopping(question.time_limit, common.caller);
  const auto threads = threads_of(common);
  search::Options options{.top = 1, .stop = &stopping.flag()};
  options.for_each = [threads](std::size_t count, const std::function<void(std::size_t)>& work) {
    for_each_index(count, threads, work);
  };
  Telling telling(common.caller, headway_of({}));
  if (telling.wanted())
    options.progress = [&telling](const search::Progress& progress) {
      telling([&] { return headway_of(progress); });
    };
  const auto answer = placing(origin, [&] { return search::search(question, options); });
  AutoPlan found;
  found.how = {answer.space.enumerated, answer.gap, answer.interrupted, question.memory_headroom};
  if (answer.plans.empty()) {
    found.none = stopping.by_user() ? "stopped before any plan was found that fits"
                                    : report::no_plan_text({question, answer});
    return found;
  }
  const auto& best = answer.plans.front();
  found.scenario = question.scenario_of(best.alternative);
  found.scenario->plan = best.plan;
  return found;
}

}  // namespace app
