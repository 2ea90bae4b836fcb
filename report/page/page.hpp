// SPDX-License-Identifier: Apache-2.0
// Answers as pages: one file each, which a browser opens from the disk and which asks nobody for
// anything. A page shows the documents of --json, which it carries whole.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "report/compare.hpp"
#include "report/schedule.hpp"
#include "report/search/search.hpp"
#include "search/purchase/whole_run.hpp"

namespace report {

// One simulated step; the forecast has its timeline.
struct PageRun {
  const forecast::Scenario& scenario;
  const forecast::Forecast& forecast;
  const forecast::Correction* correction = nullptr;  // the correction in the forecast
  // The words of the command that forecasts the step, to which a --set can be added; empty: not
  // known.
  std::vector<std::string> command = {};
  std::optional<search::WholeRun> run = {};  // if training.tokens is given
};

// The page of one run, or of two on one time base, the first the one that the other is held
// against; `effects` of the changes between them. O(slices); throws as simulate_json does.
std::string simulate_page(const std::vector<PageRun>& runs, std::string_view version,
                          const std::vector<Effect>& effects = {});

// The page of a search that found a plan: its plans, each of which opens, and why the best one is.
// `runs`: of the plans that search_text lists, which are the configurable ones if there are any, in
// their order; those without a timeline are shown without.
std::string search_page(const SearchReport& report, const std::vector<PageRun>& runs,
                        std::string_view version);

// The page of one pipeline schedule. Throws as schedule_timeline does.
std::string schedule_page(const ScheduleReport& schedule);

// The page of a sweep, of any two of its axes, from its document: {"sweep": {"name", "mode",
// "axes": [{"name", "values"}]}, "points": [{"id", "axes": {name: value}, "status", "reason",
// figures …, "plan"}]}; of 10,000 points it is 2 MB or so. Figures that end in "_s" are seconds,
// in "_bytes" bytes, in "_fraction" shares. Throws std::invalid_argument if it is none.
std::string sweep_page(std::string_view json);

// The page of a purchase, from the document of `purchase --json`. Throws std::invalid_argument if
// it is none.
std::string purchase_page(std::string_view json);

}  // namespace report
