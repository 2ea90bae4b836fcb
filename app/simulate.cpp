// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "app/auto_plan.hpp"
#include "app/command.hpp"
#include "app/corrections.hpp"
#include "app/emitting.hpp"
#include "app/placing.hpp"
#include "app/whole_run_of.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "forecast/fitting_change.hpp"
#include "forecast/forecast.hpp"
#include "forecast/memory_replay.hpp"
#include "report/correction.hpp"
#include "report/json.hpp"
#include "report/page/page.hpp"
#include "report/text.hpp"
#include "report/traces/memory_snapshot.hpp"
#include "scenarios/checks/checks.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/search_file.hpp"

namespace app {
namespace {

// The measured step of --measured, beside the forecast before it is corrected.
std::optional<report::MeasuredHere> measured_here(const SimulateRequest& request,
                                                  const forecast::Scenario& scenario,
                                                  const forecast::Forecast& forecast,
                                                  const Common& common) {
  if (request.measured.empty()) return {};
  std::string text;
  if (common.caller != nullptr)
    if (const auto given = common.caller->texts.find(request.file);
        given != common.caller->texts.end())
      text = given->second;
  return report::MeasuredHere{
      forecast::measured_step(scenario.name, parse_measured(request.measured),
                              forecast::usual_noise, scenario, forecast),
      request.file, common.sets, text};
}

// Returns advice for a file that gives no plan and does not fit.
std::string no_plan_given(const std::string& file) {
  return "the scenario gives no plan, and what is left out divides nothing but the batch, keeps "
         "all "
         "states on every GPU and recomputes nothing: `stepcast simulate " +
         file + " --plan auto` finds one and simulates it, `stepcast search " + file +
         "` compares plans";
}

// The scenario to simulate; with --plan auto, that with the best of the plans that it leaves open.
// If no plan fits, `scenario` is empty and `none` says why.
struct AskedScenario {
  std::optional<forecast::Scenario> scenario;
  scenarios::Origin origin;
  std::optional<report::PlanSearched> searched;
  std::string none;
};

AskedScenario asked_for(const SimulateRequest& request, const Common& common,
                        const Outputs& outputs) {
  if (request.plan.empty()) {
    auto [scenario, origin] = scenarios::load_placed_scenario(
        source_of(request.file, common.caller), common.sets, common.job);
    refuse_env(common, request.file, origin.job.has_value());
    outputs.spare(origin.read);
    return {std::move(scenario), std::move(origin), {}, {}};
  }
  auto [question, origin] = scenarios::load_placed_question(source_of(request.file, common.caller),
                                                            common.sets, common.job);
  refuse_env(common, request.file, origin.job.has_value());
  outputs.spare(origin.read);
  auto plan = plan_for(std::move(question), origin, common);
  return {std::move(plan.scenario), std::move(origin), plan.how, std::move(plan.none)};
}

// Returns the forecast with its interval and, if the scenario does not fit, advice among its
// warnings.
forecast::Forecast forecast_of(const forecast::Scenario& scenario, const scenarios::Origin& origin,
                               const SimulateRequest& request, const Common& common) {
  const auto began = std::chrono::steady_clock::now();
  forecast::Options options{.full = request.full,
                            .timeline = !common.trace.empty() || !common.report.empty(),
                            .causes = true,
                            .allocator = true,
                            .basis = true};
  if (!common.json) options.pictured = report::pictured_stages(scenario.plan.pipeline);
  auto forecast = placing(origin, [&] { return forecast::simulate(scenario, options); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  forecast.simulation.wall = {took.count()};
  forecast::add_interval(forecast, scenario, scenarios::catalog_intervals());
  if (!forecast.memory.fits)
    forecast.warnings.push_back(origin.document.find("plan") || origin.job
                                    ? forecast::advice_to_fit(scenario)
                                    : no_plan_given(request.file));
  return forecast;
}

// The timeline, the page and the snapshot of memory, as far as they are asked for.
void write_files(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                 const report::Beside& beside, const SimulateRequest& request,
                 const Common& common) {
  if (!common.trace.empty()) write_trace(common, forecast.timeline, scenario.cluster.gpus);
  if (!common.report.empty())
    write_report(common, report::simulate_page(
                             {{.scenario = scenario,
                               .forecast = forecast,
                               .correction = beside.correction ? &*beside.correction : nullptr,
                               .command = simulate_command(request.file, common),
                               .run = beside.run}},
                             STEPCAST_VERSION));
  if (!request.snapshot.empty())
    write_file(request.snapshot, report::memory_snapshot(forecast::memory_history(
                                     scenario, forecast.memory.peak_stage)));
}

}  // namespace

int simulate(const SimulateRequest& request, const Common& common, Streams streams) {
  check_trace_name(common.trace);
  check_report_name(common.report);
  check_snapshot_name(request.snapshot);
  if (!request.measured.empty()) parse_measured(request.measured);
  auto written = emitted_outputs(request.emission);
  written.push_back({"--memory-snapshot", request.snapshot});
  const Outputs outputs(common, written);
  const auto asked = asked_for(request, common, outputs);
  const auto& origin = asked.origin;
  if (!asked.scenario) {
    streams.err << "stepcast: " << asked.none << '\n';
    return no_answer;
  }
  const auto& scenario = *asked.scenario;
  check_emission(request.emission, origin);
  const auto correcting = load_correcting(common, outputs, streams);

  auto forecast = forecast_of(scenario, origin, request, common);
  report::Beside beside;
  beside.measured = measured_here(request, scenario, forecast, common);
  beside.job = origin.job;
  beside.searched = asked.searched;
  beside.correction = correct(forecast, scenario, correcting);
  beside.run = whole_run_of(scenario, forecast);
  beside.model_notes = origin.notes;
  const auto warnings = warnings_of(scenario, origin);
  forecast.warnings.insert(forecast.warnings.begin(), warnings.begin(), warnings.end());

  write_files(scenario, forecast, beside, request, common);
  beside.launch = emit(scenario, origin, request.emission, common, streams);
  if (common.json) {
    for (const auto& warning : forecast.warnings) warn(warning, common, streams);
    deliver(report::simulate_json(scenario, forecast, STEPCAST_VERSION, beside), common, streams);
    return success;
  }
  if (!beside.launch.empty() || request.emission.diff) {
    deliver(beside.launch, common, streams);
    return success;
  }
  auto look = text_options(streams);
  if (!common.output.empty()) look.colour = false;
  // The measurement belongs to the file as it stands, not to what --set made of it.
  if (common.sets.empty())
    if (const auto published = scenarios::published_in(origin))
      look.published = report::Published{published->step_time, published->source};
  deliver(report::simulate_text(scenario, forecast, look, beside), common, streams);
  return success;
}

}  // namespace app
