// SPDX-License-Identifier: Apache-2.0
#include "report/bubbles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plans/admissible.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {

using forecast::IdleCause;

namespace {

// Whether the plan may run with this schedule and so many chunks per rank, cut evenly.
bool may_run(const forecast::Scenario& scenario, strategies::ScheduleKind schedule,
             std::int64_t chunks) {
  auto plan = scenario.plan;
  plan.schedule = schedule;
  plan.virtual_stages = chunks;
  plan.layers_per_stage.clear();
  return strategies::takes_pipeline({scenario.model, scenario.training, plan, scenario.cluster});
}

std::string fewer_bubbles(const forecast::Scenario& scenario, const forecast::Forecast& forecast) {
  using enum strategies::ScheduleKind;
  const auto& plan = scenario.plan;
  std::vector<std::string> ways{
      fmt::format("more microbatches ({} now)", forecast.step.microbatches),
      fmt::format("fewer stages ({})", plan.pipeline)};
  if (plan.schedule == gpipe || plan.schedule == one_f_one_b) {
    if (may_run(scenario, interleaved, 2))
      ways.push_back("`schedule: interleaved` with 2 `virtual_stages`");
    ways.push_back("`schedule: zb-h1`");
  }
  if (plan.schedule == interleaved)
    for (auto more = plan.virtual_stages + 1; more * plan.pipeline <= scenario.model.layers; ++more)
      if (may_run(scenario, interleaved, more)) {
        ways.push_back(fmt::format("more `virtual_stages` ({})", plan.virtual_stages));
        break;
      }
  const auto last = std::move(ways.back());
  ways.pop_back();
  return fmt::format("{} or {} shorten it", fmt::join(ways, ", "), last);
}

std::string even_stages(const forecast::Forecast& forecast) {
  const auto& stages = forecast.pipeline.stages;
  const auto busiest = std::ranges::max_element(stages, {}, &forecast::StageTimes::busy);
  units::Seconds sum;
  for (const auto& stage : stages) sum += stage.busy;
  return fmt::format(
      "stage {} computes for {}, the mean for {}: `layers_per_stage` can give it less to do",
      busiest->stage, units::short_text(busiest->busy),
      units::short_text(sum / static_cast<double>(stages.size())));
}

std::string better_links(const forecast::Forecast& forecast) {
  std::string text = "`overlap`, another `rank_order` or faster links shorten it";
  if (!forecast.links.empty())
    text += fmt::format("; the busiest link is {} at {}", forecast.links.front().name,
                        percent(forecast.links.front().utilisation));
  return text;
}

}  // namespace

std::string remedy(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                   IdleCause cause) {
  switch (cause) {
    case IdleCause::warm_up:
    case IdleCause::drain:
      return fewer_bubbles(scenario, forecast);
    case IdleCause::imbalance:
      return even_stages(forecast);
    case IdleCause::straggler:
      return "the ranks that come last hold up the others: leave out what slows them down, or give "
             "them less to do";
    case IdleCause::communication:
      return better_links(forecast);
    case IdleCause::expert_imbalance:
      return "the fullest rank of each expert-parallel group holds up the others: "
             "`routing.placement: greedy`, a lower `expert` degree or a `capacity_factor` shorten "
             "it";
    case IdleCause::host:
      break;
  }
  return "larger passes (`micro_batch`), CUDA graphs, a faster host or less `offload` shorten it";
}

std::string_view schedule_remedy(IdleCause cause) {
  switch (cause) {
    case IdleCause::warm_up:
    case IdleCause::drain:
      return "more microbatches, fewer stages, more chunks (`interleaved`) or a schedule that "
             "splits the backward pass (`zb-h1`, `zb-v`) shorten it";
    case IdleCause::imbalance:
      return "passes of equal length, on every stage and in both directions, shorten it";
    case IdleCause::straggler:
      return "the stages that `--slow` names hold up the others: give them less to do";
    case IdleCause::communication:
      return "less time between stages (`--comm`), or more warm-up passes that hide it, shorten it";
    case IdleCause::host:
    case IdleCause::expert_imbalance:
      break;
  }
  return "";
}

std::string bubbles_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                         const TextOptions& options) {
  const auto& stages = forecast.pipeline.stages;
  std::array<double, forecast::idle_causes> mean{};  // seconds
  for (const auto& stage : stages) {
    if (!stage.bubble_by_cause) return {};
    for (std::size_t c = 0; c < mean.size(); ++c)
      mean[c] += static_cast<double>((*stage.bubble_by_cause)[c]) * 1e-12 /
                 static_cast<double>(stages.size());
  }
  const auto greatest = std::ranges::max_element(mean);
  if (greatest == mean.end() || !(*greatest > 0)) return {};
  std::string causes;
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const double share = mean[c] / forecast.step.time.value;
    if (share < 0.0005) continue;  // "0.0 %"
    causes += fmt::format("{}{} {}", causes.empty() ? "by cause: " : ", ",
                          to_text(static_cast<IdleCause>(c)), percent(share));
  }
  if (causes.empty()) return {};
  const auto cause = static_cast<IdleCause>(greatest - mean.begin());
  const auto advice = fmt::format("{}: {}", to_text(cause), remedy(scenario, forecast, cause));
  return wrapped(causes, 2, width_of(options)) + wrapped(advice, 2, width_of(options));
}

}  // namespace report
