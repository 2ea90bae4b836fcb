// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>

#include "app/caller.hpp"
#include "app/command.hpp"
#include "app/corrections.hpp"
#include "app/placing.hpp"
#include "forecast/accuracy/correction.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "forecast/diagnosis/changes.hpp"
#include "forecast/diagnosis/diagnosis.hpp"
#include "report/runs/explanation.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/trace_folder.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/scenario_file.hpp"

namespace app {

namespace {

using units::Seconds;

// The scenario with one more --set, forecast; none where it does not allow it.
class ChangeTrial {
 public:
  ChangeTrial(const ExplainRequest& request, const Common& common)
      : request_(request), common_(common) {}

  std::optional<Seconds> step_with(const std::string& set) const {
    auto sets = common_.sets;
    sets.push_back(set);
    try {
      const auto read = scenarios::load_placed_scenario(source_of(request_.file, common_.caller),
                                                        sets, common_.job);
      return forecast::simulate(read.value).step.time;
    } catch (const scenarios::Error&) {
      return {};
    } catch (const std::invalid_argument&) {
      return {};
    }
  }

  // The change by as much as explains the measured step; by its most where that is not enough.
  std::optional<report::TriedChange> tried(const forecast::LikelyChange& change,
                                           Seconds measured) const {
    if (!change.by_factor) {
      const auto step = step_with(change.set);
      if (!step) return {};
      return report::TriedChange{change.words, change.set, *step, {}};
    }
    double low = 1, high = change.most;
    auto step = step_with(change.by_factor(high));
    if (!step) return {};
    constexpr int halvings = 12;
    const bool enough = measured < *step;
    for (int i = 0; enough && i < halvings; ++i) {
      const double middle = std::sqrt(low * high);
      const auto at = step_with(change.by_factor(middle));
      if (!at) return {};
      (*at > measured ? high : low) = middle;
      if (std::abs(*at / measured - 1) < 0.002) {
        high = middle;
        step = at;
        break;
      }
      if (*at > measured) step = at;
    }
    return report::TriedChange{change.words, change.by_factor(high), *step, high};
  }

 private:
  const ExplainRequest& request_;
  const Common& common_;
};

// How much of the difference a change leaves, and how much had to change for it.
double unlikelihood(const report::TriedChange& change, Seconds forecast, Seconds measured) {
  const double left =
      std::abs(std::log(change.step / measured)) / std::abs(std::log(forecast / measured));
  return left + (change.factor ? 0.25 * std::log2(*change.factor) : 0.0);
}

std::vector<report::TriedChange> changes_for(const forecast::Scenario& scenario, Seconds forecast,
                                             Seconds measured, const ChangeTrial& trial) {
  std::vector<report::TriedChange> changes;
  constexpr double felt = 0.1;
  for (const auto& change : forecast::likely_changes(scenario))
    if (auto tried = trial.tried(change, measured);
        tried && tried->step - forecast > felt * (measured - forecast))
      changes.push_back(*std::move(tried));
  std::ranges::stable_sort(changes, {}, [&](const report::TriedChange& change) {
    return unlikelihood(change, forecast, measured);
  });
  constexpr std::size_t most = 10;
  if (changes.size() > most) changes.resize(most);
  return changes;
}

void add_diagnosis(report::Explanation& answer, const ExplainRequest& request,
                   const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                   const ChangeTrial& trial) {
  auto traced = scenarios::load_profiler_traces(request.trace);
  answer.traces = std::move(traced.files);
  answer.diagnosis = forecast::diagnose(traced.profiles, scenario, forecast);
  answer.measured = answer.diagnosis->measured;
  constexpr std::size_t tried = 5;
  for (const auto& suspect : answer.diagnosis->suspects)
    answer.tried.push_back(answer.tried.size() < tried && !suspect.set.empty()
                               ? trial.step_with(suspect.set)
                               : std::nullopt);
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
  outputs.spare(origin.read);
  auto forecast = placing(origin, [&] { return forecast::simulate(scenario, {.causes = true}); });
  forecast::add_interval(forecast, scenario, scenarios::catalog_intervals());
  report::Explanation answer{.scenario = request.file,
                             .measured = told.value_or(Seconds{}),
                             .forecast = forecast.step.time,
                             .low = forecast.step.time_low,
                             .high = forecast.step.time_high,
                             .told = told};
  const ChangeTrial trial(request, common);
  if (!request.trace.empty()) {
    placing(origin, [&] {
      add_diagnosis(answer, request, scenario, forecast, trial);
      return 0;
    });
  } else if (*told > forecast.step.time) {
    answer.changes = changes_for(scenario, forecast.step.time, *told, trial);
  }
  answer.deviations = forecast::deviations(forecast::measured_step(
      scenario.name, answer.measured, forecast::usual_noise, scenario, forecast));
  auto look = text_options(streams);
  if (!common.output.empty()) look.colour = false;
  deliver(common.json ? report::explanation_json(answer, STEPCAST_VERSION)
                      : report::explanation_text(answer, look),
          common, streams);
  if (answer.diagnosis && !answer.diagnosis->mismatches.empty()) {
    streams.err << "the trace is not of this scenario\n";
    return no_answer;
  }
  return success;
}

}  // namespace app
