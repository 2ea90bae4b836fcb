// SPDX-License-Identifier: Apache-2.0
// Published runs as residuals of the fitted keys: read and simulated again wherever a key reaches.
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forecast/accuracy/calibration.hpp"
#include "forecast/accuracy/calibration_summary.hpp"
#include "forecast/accuracy/observations.hpp"
#include "scenarios/calibration.hpp"

namespace app {

class CalibrationRuns {
 public:
  // Rows that have the measurement and a scenario, `every` so many of each set: of published runs,
  // and of tables in the folder of measured collectives.
  CalibrationRuns(scenarios::Calibration calibration, const std::filesystem::path& published,
                  const std::filesystem::path& collectives, const std::filesystem::path& catalog,
                  unsigned threads);

  // Rows that cannot be simulated at the start of the parameters; they are left out.
  std::size_t refused() const { return refused_; }

  // Every data set weighs the same, and all together as many observations as there are groups.
  forecast::FitProblem problem() const;
  // Returns the residuals at points of the problem; they are the same for any number of threads.
  std::vector<std::vector<double>> residuals(const std::vector<forecast::Point>& points);
  // Converts a point to the values of the keys, and back.
  std::vector<double> values(const forecast::Point& point) const;
  forecast::Point point(const std::vector<double>& values) const;

  forecast::CalibrationSummary summary(const std::vector<double>& before,
                                       const std::vector<double>& values,
                                       const forecast::FitAssessment& assessment) const;
  std::map<std::string, std::string> texts(const std::vector<double>& values) const {
    return catalog_.texts(values);
  }

 private:
  // Returns ln(predicted / measured) with these entries of the catalog, or nothing where there is
  // no forecast. Throws std::invalid_argument where the run cannot be simulated.
  using Residual = std::function<std::optional<double>(const scenarios::Entries&)>;
  // Indices of the changed catalogs under which the run differs from that under the first catalog.
  using Felt = std::function<std::vector<std::size_t>(const scenarios::Entries&,
                                                      const std::vector<scenarios::Entries>&)>;
  struct Run {
    Residual residual;
    Felt felt;
    forecast::Membership member;
    std::vector<std::size_t> keys = {};                // fitted keys that change the run
    std::map<std::vector<double>, double> known = {};  // residual by the values of those
  };
  void add_runs(std::size_t set, const std::filesystem::path& folder);
  void add_collectives(std::size_t set, const std::filesystem::path& folder);
  void add(std::size_t set, const std::string& group, Residual residual, Felt felt);
  std::vector<forecast::Membership> members() const;  // memberships of all runs
  std::vector<double> starts() const;
  void find_keys();
  void leave_out_refused();
  std::vector<double> residuals_of(Run& run, const std::vector<std::vector<double>>& values,
                                   const std::vector<scenarios::Entries>& entries) const;

  scenarios::Calibration calibration_;
  scenarios::Calibration fitted_;  // calibration_, and the checkout's keys
  scenarios::FittedCatalog catalog_;
  unsigned threads_;
  std::size_t refused_ = 0;
  std::vector<Run> runs_;
  std::vector<std::size_t> sizes_;  // runs of each set
  std::map<std::string, std::size_t> groups_;
};

}  // namespace app
