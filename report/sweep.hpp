// SPDX-License-Identifier: Apache-2.0
// A sweep's points as JSON, as a table, and in words.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/correction.hpp"
#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "plans/plan.hpp"
#include "report/text.hpp"
#include "search/points.hpp"

namespace report {

struct SweepAxis {
  std::string name;
  std::vector<std::string> values;  // JSON, in the order of rows
};

struct SweepFacts {
  std::string version, name, mode;
  std::vector<SweepAxis> axes;
  bool alerts = false;     // points are judged by rules
  bool corrected = false;  // by measured steps; each row then says by how much
};

struct SweepRow {
  std::string id;
  std::vector<std::string> axes;  // JSON, of every axis
  std::string status, reason;
  std::vector<double> figures;  // of search::figures(); empty: none
  std::string result;           // the point's JSON (point_json)
};

// What is kept of a point beside its figures, on one line: `simulate --json` without scenario,
// stages and links; `plan` is added where it was searched, `correction` where there is one, and
// with rules of operators `alerts`: the names of those that are raised, joined by ";".
std::string point_json(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                       const strategies::Plan* plan,
                       const forecast::Correction* correction = nullptr);

// The scenario on one line, as `simulate --json` has it.
std::string scenario_line(const forecast::Scenario& scenario);

// One document of any number of rows: the beginning, each row, the end.
std::string sweep_json_begin(const SweepFacts& facts);
std::string sweep_json_row(const SweepFacts& facts, const SweepRow& row, bool first);
std::string sweep_json_end();

// A table (RFC 4180, line feeds) with names that end in units; empty where a row has no figure.
std::string sweep_csv_header(const SweepFacts& facts);
std::string sweep_csv_row(const SweepFacts& facts, const SweepRow& row);

struct SweepProgress {
  std::int64_t done = 0, all = 0;  // points
  units::Seconds spent;            // on `fresh` of them
  std::int64_t fresh = 0;
  std::optional<double> best;  // tokens/s per GPU of those that fit
  std::string best_at;         // "cluster.nodes 16, plan.tensor 8"
};
// One line: done, rate, time left, best so far.
std::string sweep_progress(const SweepProgress& progress);

struct SweepSummary {
  std::string name, mode;
  std::int64_t all = 0;                                      // points
  std::vector<std::pair<std::string, std::int64_t>> counts;  // by status
  std::optional<SweepRow> fastest, thriftiest;               // tokens/s, tokens/s per GPU
  std::vector<std::string> axis_names;
  bool corrected = false;  // by measured steps
};
std::string sweep_text(const SweepSummary& summary, const TextOptions& options);
std::string sweep_summary_json(const SweepSummary& summary, std::string_view version);

// "cluster.nodes 16, plan.tensor 8"
std::string place_words(const std::vector<std::string>& names,
                        const std::vector<std::string>& axes);

}  // namespace report
