// SPDX-License-Identifier: Apache-2.0
// simulate --against: two scenarios, and every change between them on its own.
#include "report/compare.hpp"

#include <chrono>
#include <ostream>

#include "app/command.hpp"
#include "app/placing.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "report/page/page.hpp"
#include "scenarios/checks/checks.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/scenario_file.hpp"

namespace app {

namespace {

forecast::Forecast forecast_of(const forecast::Scenario& scenario, const scenarios::Origin& origin,
                               forecast::Options options) {
  const auto began = std::chrono::steady_clock::now();
  auto forecast = forecast::simulate(scenario, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  forecast.simulation.wall = {took.count()};
  forecast::add_interval(forecast, scenario, scenarios::catalog_intervals());
  const auto warnings = warnings_of(scenario, origin);
  forecast.warnings.insert(forecast.warnings.begin(), warnings.begin(), warnings.end());
  return forecast;
}

struct Side {
  const forecast::Scenario& scenario;
  const scenarios::Origin& origin;
  forecast::Options options;
};

// Returns the forecasts of both. Throws scenarios::Error with the refusals of those that cannot be
// simulated.
std::pair<forecast::Forecast, forecast::Forecast> both(const Side& from, const Side& to) {
  std::vector<scenarios::Complaint> refused;
  const auto of = [&](const Side& side) -> forecast::Forecast {
    try {
      return forecast_of(side.scenario, side.origin, side.options);
    } catch (const std::invalid_argument& wrong) {
      refused.push_back(scenarios::placed(wrong, side.origin));
      return {};
    }
  };
  auto before = of(from);
  auto after = of(to);
  if (!refused.empty()) throw scenarios::Error(std::move(refused));
  return {std::move(before), std::move(after)};
}

// A complaint about the scenario with one change, without the place in a file that nobody wrote.
std::string reason(std::string what) {
  what = what.substr(0, what.find('\n'));
  for (int colons = 0; colons < 3; ++colons) what.erase(0, what.find(':') + 1);
  return what.substr(what.find_first_not_of(' ') == what.npos ? 0 : what.find_first_not_of(' '));
}

std::vector<report::Effect> effects_between(const Side& from, const Side& to, bool full) {
  std::vector<report::Effect> effects;
  for (const auto& part : report::parts_of(report::changes_between(from.scenario, to.scenario))) {
    auto& effect = effects.emplace_back(report::Effect{.of = part});
    try {
      // A table of kernels is the only file that a resolved scenario still names.
      const auto& kernels = part == "cluster.node" ? to : from;
      const auto changed =
          scenarios::read_scenario(report::with_part(from.scenario, to.scenario, part), "change",
                                   {}, std::filesystem::path(kernels.origin.file).parent_path());
      const auto forecast = forecast::simulate(changed, {.full = full});
      effect.step_time = forecast.step.time;
      effect.peak = forecast.memory.peak;
    } catch (const scenarios::Error& wrong) {
      effect.why_not = reason(wrong.what());
    } catch (const std::invalid_argument& wrong) {
      effect.why_not = wrong.what();
    }
  }
  return effects;
}

}  // namespace

int compare(const std::string& file, const std::string& against, bool full, const Common& common,
            Streams streams) {
  check_trace_name(common.trace);
  check_report_name(common.report);
  const Outputs outputs(common);
  const auto [from, from_where] =
      scenarios::load_placed_scenario(source_of(against, common.caller), {}, {{}, common.job.env});
  const auto [to, to_where] =
      scenarios::load_placed_scenario(source_of(file, common.caller), common.sets, common.job);
  refuse_env(common, file, from_where.job || to_where.job);
  outputs.spare(from_where.read);
  outputs.spare(to_where.read);
  const bool page = !common.report.empty();
  const Side old_side{from, from_where, {.full = full, .timeline = page, .causes = true}};
  const Side new_side{
      to, to_where, {.full = full, .timeline = page || !common.trace.empty(), .causes = true}};
  const auto [before, after] = both(old_side, new_side);
  if (!common.trace.empty()) write_trace(common, after.timeline, to.cluster.gpus);
  for (const auto& warning : after.warnings) warn(warning, common, streams);
  const auto effects = effects_between(old_side, new_side, full);
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  const report::Compared a{from, before}, b{to, after};
  if (page)
    write_report(
        common,
        report::simulate_page(
            {{.scenario = from, .forecast = before, .command = {"stepcast", "simulate", against}},
             {.scenario = to, .forecast = after, .command = simulate_command(file, common)}},
            STEPCAST_VERSION, effects));
  deliver(common.json ? report::compare_json(a, b, effects, STEPCAST_VERSION)
                      : report::compare_text(a, b, effects, options),
          common, streams);
  return success;
}

}  // namespace app
