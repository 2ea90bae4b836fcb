// SPDX-License-Identifier: Apache-2.0
// Reads schedules as recorded from their authors' code, and measures ours alike.
#pragma once
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "plans/words.hpp"
#include "strategies/pipeline.hpp"

namespace recorded {

using strategies::ScheduleKind;

struct Length {
  std::int64_t makespan = 0, span = 0;
};

inline Length length_of(const strategies::PipelineRun& run, int stages) {
  std::vector<std::int64_t> began(static_cast<std::size_t>(stages), INT64_MAX),
      ended(began.size(), 0);
  for (const auto& op : run.operations) {
    const auto s = static_cast<std::size_t>(op.stage);
    began[s] = std::min(began[s], op.start);
    ended[s] = std::max(ended[s], op.end);
  }
  Length length;
  for (std::size_t s = 0; s < began.size(); ++s)
    length.span = std::max(length.span, ended[s] - began[s]);
  length.makespan = *std::ranges::max_element(ended) - *std::ranges::min_element(began);
  return length;
}

inline ScheduleKind kind_named(const std::string& name) {
  for (const auto& [known, kind] : strategies::words_of(ScheduleKind{}))
    if (known == name) return kind;
  throw std::invalid_argument("no schedule " + name);
}

// The rows of a file under data/, in cells; comments and the heading are left out.
inline std::vector<std::vector<std::string>> rows_of(const std::string& name) {
  std::ifstream file(STEPCAST_SOURCE_DIR "/tests/strategies/data/" + name);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("schedule")) continue;
    std::stringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

// A row of pipeline_schedules.csv. Its times are in sixteenths, so that quarters of a chunk's share
// stay whole.
struct Recording {
  static constexpr std::int64_t scale = 16;
  std::string text;
  ScheduleKind kind{};
  int stages = 0, chunks = 0, microbatches = 0;
  strategies::PassTimes times{};
  std::vector<double> slow;
  Length length;
  std::vector<double> peaks;  // by stage
};

inline Recording row_of(const std::vector<std::string>& cells) {
  const std::map<std::string, strategies::PassTimes> cases{
      {"A", {12, 12, 12, 0}}, {"B", {12, 12, 12, 1}}, {"C", {12, 12, 12, 6}},
      {"D", {12, 16, 8, 0}},  {"E", {12, 16, 8, 1}},  {"H", {12, 16, 8, 1}}};
  Recording row{.kind = kind_named(cells[0]),
                .stages = std::stoi(cells[1]),
                .chunks = std::stoi(cells[3]),
                .microbatches = std::stoi(cells[2]),
                .times = cases.at(cells[4])};
  for (const auto& cell : cells) row.text += cell + ' ';
  for (auto* time :
       {&row.times.forward, &row.times.backward, &row.times.weight, &row.times.latency})
    *time *= Recording::scale;
  if (cells[4] == "H") {
    row.slow.assign(static_cast<std::size_t>(row.stages), 1.0);
    row.slow.front() = 1.25;
    row.slow.back() = 1.5;
  }
  const auto ticks = [](const std::string& cell) {
    return static_cast<std::int64_t>(std::stod(cell) * Recording::scale);
  };
  row.length = {ticks(cells[5]), ticks(cells[6])};
  std::stringstream peaks(cells[7]);
  for (double peak; peaks >> peak;) row.peaks.push_back(peak);
  return row;
}

}  // namespace recorded
