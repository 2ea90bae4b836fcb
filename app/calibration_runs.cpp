// SPDX-License-Identifier: Apache-2.0
#include "app/calibration_runs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "app/command.hpp"
#include "app/parallel.hpp"
#include "app/published.hpp"
#include "forecast/accuracy/fit_scale.hpp"
#include "scenarios/fitted_devices.hpp"
#include "scenarios/measured/collective_tables.hpp"

namespace app {
namespace {

using scenarios::Entries;
using scenarios::PublishedRow;
using Measure = scenarios::CalibrationSet::Measure;

std::string group_of(const PublishedRow& row, const std::string& dataset) {
  const auto group =
      row.device + '|' + row.precision + '|' + row.model + '|' + row.scale + '|' + row.parallelism;
  return group == "||||" ? dataset : group;
}

// Returns the number of measured figures of that kind in the row that a fit may use.
std::size_t measured(const PublishedRow& row, Measure measure) {
  if (!row.run || !row.scenario || !row.fitted) return 0;
  if (measure == Measure::passes) return row.pass_times_s.size();
  const bool has = measure == Measure::memory ? std::isfinite(row.measured_bytes) &&
                                                    row.measured_bytes > 0 && !row.out_of_memory
                                              : row.time_counts && row.measured_step_time_s > 0;
  return has ? 1 : 0;
}

std::optional<double> error_of(const forecast::ValidationRow& row, Measure measure,
                               std::size_t pass) {
  if (measure == Measure::passes) return forecast::error(row.passes[pass]);
  return measure == Measure::memory ? forecast::memory_error(row) : forecast::error(row);
}

const char* name_of(Measure measure) {
  switch (measure) {
    case Measure::time:
      return "time";
    case Measure::memory:
      return "memory";
    case Measure::passes:
      return "passes";
    case Measure::collectives:
      return "collectives";
  }
  return "";
}

// Returns the indices of the changed catalogs under which the file reads as another scenario, or
// machine, than under the first catalog.
template <class Measured>
std::vector<std::size_t> felt_by(const Measured& file, const Entries& start,
                                 const std::vector<Entries>& changed) {
  std::set<std::string> named;
  const auto plain = scenarios::read_again(file, start, &named);
  std::vector<std::size_t> felt;
  for (std::size_t k = 0; k < changed.size(); ++k) {
    const bool touched = std::ranges::any_of(
        named, [&](const auto& name) { return changed[k].at(name) != start.at(name); });
    if (touched && !(scenarios::read_again(file, changed[k]) == plain)) felt.push_back(k);
  }
  return felt;
}

// Returns the fitted keys of the checkout and of this calibration, so that rows on devices of
// either may be fitted to; none if the checkout has no calibration.
scenarios::Calibration with_checkout(const scenarios::Calibration& calibration) {
  auto both = checkout_calibration();
  if (!both.keys.empty())
    both.keys.insert(both.keys.end(), calibration.keys.begin(), calibration.keys.end());
  return both;
}

forecast::FitScale scale_of(const scenarios::FittedKey& key) {
  return {key.start, key.low, key.high, key.width, key.logarithmic};
}

}  // namespace

CalibrationRuns::CalibrationRuns(scenarios::Calibration calibration,
                                 const std::filesystem::path& published,
                                 const std::filesystem::path& collectives,
                                 const std::filesystem::path& catalog, unsigned threads)
    : calibration_(std::move(calibration)),
      fitted_(with_checkout(calibration_)),
      catalog_(calibration_, catalog),
      threads_(threads) {
  for (std::size_t set = 0; set < calibration_.sets.size(); ++set) {
    const auto& wanted = calibration_.sets[set];
    sizes_.push_back(0);
    if (wanted.measure == Measure::collectives)
      add_collectives(set, collectives);
    else
      add_runs(set, published);
  }
  find_keys();
  leave_out_refused();
  for (std::size_t set = 0; set < sizes_.size(); ++set)
    if (sizes_[set] == 0)
      throw Mistake("data set " + calibration_.sets[set].name + " has no row with a measured " +
                    name_of(calibration_.sets[set].measure) +
                    " that can be simulated and fitted to; leave it out of the calibration");
}

void CalibrationRuns::add(std::size_t set, const std::string& group, Residual residual, Felt felt) {
  const auto number = groups_.emplace(group, groups_.size()).first->second;
  runs_.push_back({std::move(residual), std::move(felt), {set, number}});
  ++sizes_[set];
}

void CalibrationRuns::add_runs(std::size_t set, const std::filesystem::path& folder) {
  const auto& wanted = calibration_.sets[set];
  const auto measure = wanted.measure;
  std::int64_t seen = 0;
  auto datasets = scenarios::load_datasets(folder, {wanted.name});
  scenarios::mark_fitted(datasets, fitted_);
  for (const auto& dataset : datasets)
    for (const auto& one : dataset.rows) {
      const auto figures = measured(one, measure);
      if (figures == 0 || seen++ % wanted.every != 0) continue;
      const auto row = std::make_shared<const PublishedRow>(one);
      for (std::size_t figure = 0; figure < figures; ++figure)
        add(
            set, group_of(one, dataset.name),
            [row, measure, figure](const Entries& entries) {
              const auto forecast = row_of(*row, scenarios::read_again(*row, entries));
              return forecast::residual_of(error_of(forecast, measure, figure));
            },
            [row](const Entries& start, const std::vector<Entries>& changed) {
              return felt_by(*row, start, changed);
            });
    }
}

// Points of one table are one group: the same machine, one after the other.
void CalibrationRuns::add_collectives(std::size_t set, const std::filesystem::path& folder) {
  const auto& wanted = calibration_.sets[set];
  const auto file = std::make_shared<const scenarios::CollectiveTableFile>(
      scenarios::load_collective_table_file(folder, wanted.name));
  for (const auto& point : file->table.points) {
    if ((&point - file->table.points.data()) % wanted.every != 0) continue;
    const auto residual = [file, point](const Entries& entries) {
      topology::CollectiveTable alone{
          .name = file->table.name, .call = file->table.call, .points = {point}};
      alone.cluster = scenarios::read_again(*file, entries);
      return forecast::residual_of(topology::score(alone).rows.front().error);
    };
    add(set, wanted.name, residual,
        [file](const Entries& start, const std::vector<Entries>& changed) {
          return felt_by(*file, start, changed);
        });
  }
}

std::vector<forecast::Membership> CalibrationRuns::members() const {
  std::vector<forecast::Membership> all;
  for (const auto& run : runs_) all.push_back(run.member);
  return all;
}

std::vector<double> CalibrationRuns::starts() const {
  std::vector<double> values;
  for (const auto& key : calibration_.keys) values.push_back(key.start);
  return values;
}

// A key reaches the runs that it changes: not those that override it.
void CalibrationRuns::find_keys() {
  auto values = starts();
  const auto start = catalog_.entries(values);
  std::vector<Entries> changed;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto& key = calibration_.keys[k];
    values[k] = key.start < key.high ? key.high : key.low;
    changed.push_back(catalog_.entries(values));
    values[k] = key.start;
  }
  for_each_index(runs_.size(), threads_,
                 [&](std::size_t i) { runs_[i].keys = runs_[i].felt(start, changed); });
}

void CalibrationRuns::leave_out_refused() {
  const auto values = starts();
  const auto start = catalog_.entries(values);
  for_each_index(runs_.size(), threads_,
                 [&](std::size_t i) { residuals_of(runs_[i], {values}, {start}); });
  const auto is_refused = [&](const Run& run) {
    return run.known.begin()->second == forecast::hopeless_residual();
  };
  for (const auto& run : runs_)
    if (is_refused(run)) --sizes_[run.member.set];
  refused_ = std::erase_if(runs_, is_refused);
}

forecast::FitProblem CalibrationRuns::problem() const {
  forecast::FitProblem problem;
  for (const auto& key : calibration_.keys) problem.unknowns.push_back(scale_of(key).unknown());
  problem.observations = forecast::weighed(members(), sizes_.size(), groups_.size());
  problem.threshold = problem.noise = calibration_.noise;
  problem.enough = 1e-4;
  return problem;
}

std::vector<double> CalibrationRuns::values(const forecast::Point& point) const {
  std::vector<double> values;
  for (std::size_t k = 0; k < point.size(); ++k)
    values.push_back(scale_of(calibration_.keys[k]).value(point[k]));
  return values;
}

forecast::Point CalibrationRuns::point(const std::vector<double>& values) const {
  forecast::Point point;
  for (std::size_t k = 0; k < values.size(); ++k)
    point.push_back(scale_of(calibration_.keys[k]).coordinate(values[k]));
  return point;
}

std::vector<double> CalibrationRuns::residuals_of(
    Run& run, const std::vector<std::vector<double>>& values,
    const std::vector<scenarios::Entries>& entries) const {
  std::vector<double> residuals;
  for (std::size_t p = 0; p < values.size(); ++p) {
    std::vector<double> own;
    for (const auto key : run.keys) own.push_back(values[p][key]);
    const auto [known, fresh] = run.known.emplace(std::move(own), forecast::hopeless_residual());
    if (fresh) {
      try {
        if (const auto off = run.residual(entries[p])) known->second = *off;
      } catch (const std::invalid_argument&) {
      }
    }
    residuals.push_back(known->second);
  }
  return residuals;
}

std::vector<std::vector<double>> CalibrationRuns::residuals(
    const std::vector<forecast::Point>& points) {
  std::vector<std::vector<double>> asked;
  std::vector<scenarios::Entries> entries;
  for (const auto& point : points) {
    asked.push_back(values(point));
    entries.push_back(catalog_.entries(asked.back()));
  }
  std::vector<std::vector<double>> result(points.size(), std::vector<double>(runs_.size()));
  for_each_index(runs_.size(), threads_, [&](std::size_t i) {
    const auto own = residuals_of(runs_[i], asked, entries);
    for (std::size_t p = 0; p < own.size(); ++p) result[p][i] = own[p];
  });
  return result;
}

forecast::CalibrationSummary CalibrationRuns::summary(
    const std::vector<double>& before, const std::vector<double>& values,
    const forecast::FitAssessment& assessment) const {
  forecast::CalibrationSummary summary{.observations = runs_.size(), .groups = groups_.size()};
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto& key = calibration_.keys[k];
    summary.parameters.push_back(
        {.file = key.file,
         .key = key.key,
         .unit = key.unit,
         .meaning = key.meaning,
         .value = values[k],
         .standard_error = scale_of(key).standard_error(values[k], assessment.standard_errors[k]),
         .start = key.start,
         .low = key.low,
         .high = key.high,
         .width = key.width,
         .logarithmic = key.logarithmic,
         .at_bound = assessment.at_bound[k]});
  }
  for (std::size_t s = 0; s < sizes_.size(); ++s)
    summary.sets.push_back({.name = calibration_.sets[s].name,
                            .measure = name_of(calibration_.sets[s].measure),
                            .observations = sizes_[s]});
  for (const auto& run : runs_)
    for (const auto key : run.keys) ++summary.parameters[key].observations;
  forecast::add_errors(summary, members(), before, assessment);
  return summary;
}

}  // namespace app
