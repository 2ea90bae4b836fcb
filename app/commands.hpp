// SPDX-License-Identifier: Apache-2.0
// Commands as they are added to the tree that parses the command line.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "app/command.hpp"

namespace app {

using Action = std::function<int(Streams)>;  // runs the parsed command

// Checks that a value is one of these words; a refusal lists them and names the nearest.
CLI::Validator one_of(const std::vector<std::string>& words);

// Options that hold on every command that runs something.
void add_common(CLI::App& command, Common& common);
// The options --as and --env, of commands that read a scenario or a job.
void add_job(CLI::App& command, Common& common);
// --emit and --emit-to, of the plan that `what` names.
void add_emission(CLI::App& command, Emission& emission, const std::string& what);
// The option --corrections, of commands that forecast.
CLI::Option* add_corrections(CLI::App& command, Common& common);
// The option --report, of a page that shows `what`.
void add_report(CLI::App& command, Common& common, const std::string& what);

void add_purchase(CLI::App& program, Common& common, Action& action);
void add_trace_command(CLI::App& program, Common& common, Action& action);
void add_explain(CLI::App& program, Common& common, Action& action);
void add_sweep(CLI::App& program, Common& common, Action& action);
void add_validate(CLI::App& program, Common& common, Action& action);
void add_calibrate(CLI::App& program, Common& common, Action& action);
void add_catalog(CLI::App& program, Common& common, Action& action);
void add_import(CLI::App& program, Common& common, Action& action);
void add_manual(CLI::App& program, Common& common, Action& action);  // completion and man

}  // namespace app
