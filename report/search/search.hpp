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

// The best plan with its forecast and its YAML, what is proved and why, a table of the plans, time
// against memory; first, what was asked for beyond a plan. The answer must have a plan.
// `corrected`: how its times were, if they were. `configurable`: plans that people can configure,
// which are shown instead, with what the finer ones would win; none: the answer's. `run`: a whole
// training with the plan that is shown first.
std::string search_text(const search::Outcome& outcome, const search::Why& why,
                        const TextOptions& options = {},
                        const std::optional<search::Corrected>& corrected = {},
                        const std::optional<search::WholeRun>& run = {},
                        const std::vector<search::Configurable>& configurable = {});

// The document of `search --json`, written as that of `simulate` (json.hpp). Its `scenario` is the
// resolved one of the best plan, without it; with one of `plans` under `plan`, and its `precision`,
// if alternatives differ, in training, it is simulated to the same step time. `emitted` is the
// launch configuration of the best plan; empty: none was asked for. `job`: that the question was
// read from. `limits`: that the plans keep to. `run`: a whole training with the best plan.
// `configurable` is a list beside `plans`. A plan is `equal` that is no slower than the best by
// more than its 80 % interval.
std::string search_json(const search::Outcome& outcome, const std::optional<search::Why>& why,
                        std::string_view version, units::Seconds wall,
                        const std::string& emitted = {},
                        const std::optional<search::Corrected>& corrected = {},
                        const std::optional<scenarios::JobAccount>& job = {},
                        const std::optional<FrameworkLimits>& limits = {},
                        const std::optional<search::WholeRun>& run = {},
                        const std::vector<search::Configurable>& configurable = {});

// Progress of a search, in less than 80 columns.
std::string search_progress(const search::Progress& progress);

// Why no plan is good enough and what would help, in one line.
std::string no_plan_text(const search::Outcome& outcome);

}  // namespace report
