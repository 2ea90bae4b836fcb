// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "app/caller.hpp"
#include "app/command.hpp"
#include "app/corrections.hpp"
#include "app/placing.hpp"
#include "forecast/accuracy/correction.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "forecast/diagnosis/changes.hpp"
#include "forecast/diagnosis/diagnosis.hpp"
#include "forecast/warnings.hpp"
#include "report/runs/explanation.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/trace_folder.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/scenario_file.hpp"

namespace app {

namespace {

using units::Seconds;

// Forecasts the scenario with one more --set.
forecast::StepWith step_with_of(const ExplainRequest& request, const Common& common) {
  return [&](const std::string& set) -> std::optional<Seconds> {
    auto sets = common.sets;
    sets.push_back(set);
    try {
      const auto read =
          scenarios::load_placed_scenario(source_of(request.file, common.caller), sets, common.job);
      return forecast::simulate(read.value).step.time;
    } catch (const scenarios::Error&) {
      return {};
    } catch (const std::invalid_argument&) {
      return {};
    }
  };
}

// Whether the forecast with a suspect's key loses so much more than the run that the suspect is
// none: its kernels rather waited for other ranks.
bool contradicts(const forecast::Suspect& suspect, units::Seconds with_set, units::Seconds lost) {
  constexpr double far = 4;
  return with_set > far * std::max(lost, suspect.seconds);
}

void add_diagnosis(report::Explanation& answer, const ExplainRequest& request,
                   const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                   const forecast::StepWith& step_with) {
  auto traced = scenarios::load_profiler_traces(request.trace);
  answer.traces = std::move(traced.files);
  try {
    answer.diagnosis = forecast::diagnose(traced.profiles, scenario, forecast);
  } catch (const forecast::NothingSeen& refused) {
    throw scenarios::Error({{answer.traces[refused.profile] + ":1:1", refused.what()}});
  }
  answer.measured = answer.diagnosis->measured;
  constexpr std::size_t tried = 5;
  constexpr double felt = 0.001;
  std::vector<forecast::Suspect> suspects;
  for (auto& suspect : answer.diagnosis->suspects) {
    auto step =
        answer.tried.size() < tried && !suspect.set.empty() ? step_with(suspect.set) : std::nullopt;
    if (step &&
        contradicts(suspect, *step - forecast.step.time, answer.measured - forecast.step.time)) {
      answer.diagnosis->unexplained += suspect.seconds;
      continue;
    }
    // A key that leaves the forecast as it is tests nothing.
    if (step && *step < forecast.step.time * (1 + felt)) {
      suspect.set.clear();
      step.reset();
    }
    answer.tried.push_back(step);
    suspects.push_back(std::move(suspect));
  }
  answer.diagnosis->suspects = std::move(suspects);
}

}  // namespace

int explain(const ExplainRequest& request, const Common& common, Streams streams) {
  if (request.measured.empty() && request.trace.empty())
    throw Mistake(
        "explain: how long did the step take? Give --measured TIME, --trace FILE|FOLDER "
        "or both");
  const Outputs outputs(common);
  if (!request.trace.empty()) outputs.spare({request.trace});
  std::optional<Seconds> told;
  if (!request.measured.empty()) told = parse_measured(request.measured);
  const auto read = scenarios::load_placed_scenario(source_of(request.file, common.caller),
                                                    common.sets, common.job);
  const auto& scenario = read.value;
  const auto& origin = read.origin;
  refuse_env(common, request.file, origin.job.has_value());
  outputs.spare(origin.read);
  auto forecast = placing(origin, [&] { return forecast::simulate(scenario, {.causes = true}); });
  forecast::add_interval(forecast, scenario, scenarios::catalog_intervals());
  report::Explanation answer{.scenario = request.file,
                             .measured = told.value_or(Seconds{}),
                             .forecast = forecast.step.time,
                             .low = forecast.step.time_low,
                             .high = forecast.step.time_high,
                             .told = told,
                             .model = &scenario.model};
  const auto step_with = step_with_of(request, common);
  if (!request.trace.empty()) {
    placing(origin, [&] {
      add_diagnosis(answer, request, scenario, forecast, step_with);
      return 0;
    });
  } else if (*told > forecast.step.time) {
    answer.changes = forecast::tried_changes(scenario, forecast.step.time, *told, step_with);
  }
  answer.deviations = forecast::deviations(forecast::measured_step(
      scenario.name, answer.measured, forecast::usual_noise, scenario, forecast));
  auto look = text_options(streams);
  if (!common.output.empty()) look.colour = false;
  deliver(common.json ? report::explanation_json(answer, STEPCAST_VERSION)
                      : report::explanation_text(answer, look),
          common, streams);
  if (!forecast.memory.fits)
    warn("the scenario does not fit: " + forecast::misfit_of(scenario, forecast.memory), common,
         streams);
  if (answer.diagnosis && !answer.diagnosis->mismatches.empty()) {
    streams.err << "the trace is not of this scenario\n";
    return no_answer;
  }
  return success;
}

}  // namespace app
