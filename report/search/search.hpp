// SPDX-License-Identifier: Apache-2.0
// The results of a search and their proof.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/style.hpp"
#include "scenarios/jobs/job.hpp"
#include "search/configurable.hpp"
#include "search/corrected.hpp"
#include "search/objectives.hpp"
#include "search/purchase/whole_run.hpp"
#include "search/why.hpp"
#include "units/quantity.hpp"

namespace report {

// A search among the plans that one framework can run, and the fastest plan without its limits.
struct FrameworkLimits {
  std::string framework;                  // "megatron@d98e8a64dd"
  std::optional<units::Seconds> without;  // a step of that plan; absent: none fits
  std::vector<std::string> beyond;        // what the framework cannot express; empty: nothing
};

// One line: the gain of a search without the framework's limits over the best step `within` them.
std::string limits_text(const FrameworkLimits& limits, std::optional<units::Seconds> within);

// Returns the objective, if it is more than a plan; the best plan with its forecast and its YAML,
// the proof and the reasons, a table of the plans, and time against memory. The answer must have a
// plan. `corrected`: the correction of its times, if any. `configurable`: plans that people can
// configure, which are shown instead of the answer's, with the gain of the finer ones; empty: the
// answer's are shown. `run`: a whole training with the plan that is shown first.
std::string search_text(const search::Outcome& outcome, const search::Why& why,
                        const TextOptions& options = {},
                        const std::optional<search::Corrected>& corrected = {},
                        const std::optional<search::WholeRun>& run = {},
                        const std::vector<search::Configurable>& configurable = {});

// Everything that a document tells of a search. No member has a default: a report that leaves one
// out does not compile.
struct SearchReport {
  const search::Outcome& outcome;
  const std::optional<search::Why>& why;
  const std::optional<search::Corrected>& corrected;  // the correction of its times, if any
  // Plans that people can configure, a list beside the answer's.
  const std::vector<search::Configurable>& configurable;
  const std::optional<search::WholeRun>& run;       // a whole training with the best plan
  const std::optional<FrameworkLimits>& limits;     // of the framework that the plans keep to
  const std::optional<scenarios::JobAccount>& job;  // from which the question was read
  const std::string& emitted;  // the launch configuration of the best plan; empty: none
  units::Seconds wall;
};

// The document of `search --json`, written as that of `simulate` (json.hpp). Its `scenario` is the
// resolved one of the best plan, without that plan. With one of `plans` under `plan` and, if
// alternatives differ in it, its `precision` in training, it is simulated to the same step time.
// A plan is `equal` if it is slower than the best by no more than the best's 80 % interval.
std::string search_json(const SearchReport& report, std::string_view version);

// Progress of a search, in less than 80 columns.
std::string search_progress(const search::Progress& progress);

// Returns in one line the reason why no plan is good enough, and what would help.
std::string no_plan_text(const search::Outcome& outcome);

}  // namespace report
