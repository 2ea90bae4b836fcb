// SPDX-License-Identifier: Apache-2.0
// Measured steps beside forecasts: corrections by them, and entries of them for a file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forecast/accuracy/correction.hpp"
#include "report/style.hpp"
#include "scenarios/jobs/job.hpp"
#include "search/purchase/whole_run.hpp"

namespace report {

// A measured step of the scenario that is forecast.
struct MeasuredHere {
  forecast::MeasuredStep step;
  std::string file;               // the scenario's
  std::vector<std::string> sets;  // "path=value" laid over it
  std::string text = {};          // of a scenario that is no file: YAML
};

// The search that found the plan which a scenario left open.
struct PlanSearched {
  std::int64_t enumerated = 0;  // choices of degrees
  double gap = 0;               // no plan is faster by a greater share
  bool interrupted = false;     // by a limit of time, or somebody
  double memory_headroom = 0;   // share of memory that plans leave free
};

// Parts of a report beside the forecast, which already contains its correction.
struct Beside {
  std::optional<forecast::Correction> correction;
  std::optional<MeasuredHere> measured;
  std::optional<scenarios::JobAccount> job;  // the job that the scenario was read from
  std::string launch;  // the plan as what a framework starts from; empty: none was asked for
  std::optional<search::WholeRun> run = {};   // if training.tokens is given
  std::optional<PlanSearched> searched = {};  // absent: the plan is the scenario's
  std::vector<std::string> model_notes = {};  // what the model's file has, and the forecast lacks
};

// simulate_text() with the run and the first two after the headline and the job at the end.
std::string simulate_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          const TextOptions& options, const Beside& beside);

// The factor, its effect on the interval, and the steps that carried it. `common`: it holds for all
// plans of a search.
std::string correction_text(const forecast::Correction& correction, bool common,
                            const TextOptions& options);

// The correction in one sentence.
std::string correction_sentence(const forecast::Correction& correction);

}  // namespace report
