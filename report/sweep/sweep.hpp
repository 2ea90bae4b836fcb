// SPDX-License-Identifier: Apache-2.0
// A sweep's points as JSON, as a table, and in words.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forecast/accuracy/correction.hpp"
#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"
#include "plans/plan.hpp"
#include "report/style.hpp"
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
  std::vector<double> figures;  // in the order of search::figures(); empty: none
  std::string result;           // the point's JSON (point_json)
};

// The stored answer of a point beside its figures, on one line: `simulate --json` without scenario,
// stages and links. It has `plan` and its proved `gap` if the plan was searched, `correction` if
// there is one, and `alerts`, the names of raised rules joined by ";", if there are rules.
std::string point_json(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                       const strategies::Plan* plan,
                       const forecast::Correction* correction = nullptr,
                       std::optional<double> gap = {});

// The scenario on one line, as `simulate --json` has it.
std::string scenario_line(const forecast::Scenario& scenario);

// The reasons why no point of a sweep is fine.
struct NothingOk {
  // Points of one status whose reasons differ in numbers alone; the most first.
  struct Reason {
    std::string status, example;  // the first such reason, as its row has it
    std::int64_t points = 0;
  };
  std::vector<Reason> reasons;
  std::optional<SweepRow> closest;  // least memory of the points that do not fit
  bool has_plan = false;            // the base gives a plan, or an axis varies it
};

// Counts the reasons of rows.
class ReasonCounts {
 public:
  void add(const std::string& status, const std::string& reason);
  std::vector<NothingOk::Reason> most_first() const;

 private:
  std::map<std::pair<std::string, std::string>, NothingOk::Reason>
      counts_;  // by reason less digits
};

// Returns the reasons with their counts, the place of the closest point, and what would help.
std::vector<std::string> nothing_ok_words(const NothingOk& why,
                                          const std::vector<std::string>& axis_names);

// One document of any number of rows: the beginning, each row, the end. `nothing_ok`: the reasons
// if no row is fine. `interrupted`: rows are missing, because the sweep was stopped.
std::string sweep_json_begin(const SweepFacts& facts);
std::string sweep_json_row(const SweepFacts& facts, const SweepRow& row, bool first);
std::string sweep_json_end(const std::optional<NothingOk>& nothing_ok = {},
                           const std::vector<std::string>& axis_names = {},
                           bool interrupted = false);

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
  std::optional<NothingOk> nothing_ok = {};
};
std::string sweep_text(const SweepSummary& summary, const TextOptions& options);
std::string sweep_summary_json(const SweepSummary& summary, std::string_view version);

// "cluster.nodes 16, plan.tensor 8"
std::string place_words(const std::vector<std::string>& names,
                        const std::vector<std::string>& axes);

}  // namespace report
