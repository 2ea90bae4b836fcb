// SPDX-License-Identifier: Apache-2.0
#include "app/corrections.hpp"

#include <fmt/format.h>

#include <cmath>

#include "app/parallel.hpp"
#include "report/sweep/sweep.hpp"
#include "scenarios/corrections_file.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/similarity.hpp"
#include "units/text.hpp"

namespace app {

namespace {

// Warns of a measured step that its own forecast misses by far: correcting by it carries the
// difference between the scenario and what ran, or a slip of the pen, into other forecasts.
void warn_of_odd(const forecast::MeasuredStep& step, const std::string& place, const Common& common,
                 Streams streams) {
  const double off = forecast::deviations(step);
  if (std::abs(off) <= forecast::suspicious_deviations) return;
  warn(fmt::format("{}: measured {}, where the forecast of {} is {}: {:.1f} standard deviations of "
                   "what such forecasts are off by; see whether the time has the right unit, and "
                   "whether the scenario describes what ran, before you correct by it",
                   place, units::short_text(step.measured), step.name,
                   units::short_text(step.forecast), std::abs(off)),
       common, streams);
}

}  // namespace

std::optional<Correcting> load_correcting(const Common& common, const Outputs& outputs,
                                          Streams streams) {
  if (common.corrections.empty()) return {};
  scenarios::Files read;
  const auto entries = scenarios::load_corrections(common.corrections, &read);
  outputs.spare(read);
  const auto intervals = scenarios::catalog_intervals();
  Correcting correcting;
  correcting.corrections.similarity = scenarios::catalog_similarity();
  correcting.corrections.steps.resize(entries.size());
  const auto threads = threads_of(common);
  std::vector<scenarios::Complaint> refused(entries.size());
  for_each_index(entries.size(), threads, [&](std::size_t i) {
    const auto& [name, scenario, measured, noise, place, path] = entries[i];
    try {
      auto forecast = forecast::simulate(scenario);
      forecast::add_interval(forecast, scenario, intervals);
      correcting.corrections.steps[i] =
          forecast::measured_step(name, measured, noise, scenario, forecast);
    } catch (const std::invalid_argument& wrong) {
      refused[i] = {place, path + ".scenario: " + wrong.what()};
    }
  });
  std::erase_if(refused, [](const auto& complaint) { return complaint.text.empty(); });
  if (!refused.empty()) throw scenarios::Error(std::move(refused));
  for (std::size_t i = 0; i < entries.size(); ++i)
    warn_of_odd(correcting.corrections.steps[i], entries[i].place, common, streams);
  for (const auto& [name, scenario, measured, noise, place, path] : entries)
    correcting.text += name + '\n' + report::scenario_line(scenario) + '\n' +
                       std::to_string(measured.value) + ' ' + std::to_string(noise) + '\n';
  return correcting;
}

std::optional<forecast::Correction> correct(forecast::Forecast& forecast,
                                            const forecast::Scenario& scenario,
                                            const std::optional<Correcting>& correcting) {
  if (!correcting) return {};
  auto correction = forecast::correction_of(scenario, forecast, correcting->corrections);
  forecast::apply(correction, forecast);
  return correction;
}

void check_objective(const search::Question& question) {
  if (question.objective.kind != search::Objective::Kind::step_time)
    throw std::invalid_argument(
        "--corrections: this search.objective is decided by simulated times; leave the objective "
        "out, or search without --corrections and simulate the plan that is found with them");
}

units::Seconds parse_measured(const std::string& text) {
  units::Seconds measured;
  try {
    measured = units::parse_duration(text);
  } catch (const std::invalid_argument& wrong) {
    throw Mistake("--measured " + text + ": " + wrong.what() +
                  "; expected the time of one step, such as 12.3s or '950 ms'");
  }
  if (!(measured.value > 0) || measured.value > 1e6)
    throw Mistake("--measured " + text +
                  ": out of range; a step takes a while, and ends within days: expected a time "
                  "such as 12.3s");
  return measured;
}

}  // namespace app
