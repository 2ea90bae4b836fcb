// SPDX-License-Identifier: Apache-2.0
#include "report/bubbles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {

using forecast::IdleCause;

namespace {

std::string fewer_bubbles(const forecast::Scenario& scenario, const forecast::Forecast& forecast) {
  using strategies::ScheduleKind;
  const auto text = fmt::format("more microbatches ({} now), fewer stages ({})",
                                forecast.step.microbatches, scenario.plan.pipeline);
  switch (scenario.plan.schedule) {
    case ScheduleKind::gpipe:
    case ScheduleKind::one_f_one_b:
      return text + ", `schedule: interleaved` or `zb-h1` shorten it";
    case ScheduleKind::interleaved:
      return text +
             fmt::format(" or more `virtual_stages` ({}) shorten it", scenario.plan.virtual_stages);
    default:
      return text + " shorten it";
  }
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
