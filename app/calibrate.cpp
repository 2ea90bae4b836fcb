// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <ostream>
#include <set>

#include "app/calibration_runs.hpp"
#include "app/command.hpp"
#include "app/published.hpp"
#include "report/calibration.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

// Writes the files, and names them.
std::vector<std::string> write_tables(const std::map<std::string, std::string>& texts,
                                      const fs::path& folder) {
  std::vector<std::string> written;
  for (const auto& [path, text] : texts) {
    std::error_code wrong;
    fs::create_directories((folder / path).parent_path(), wrong);  // writing says what is wrong
    write_file((folder / path).string(), text);
    written.push_back(path);
  }
  return written;
}

// The files that a calibration reads, without those of the catalog, which it writes anew.
scenarios::Files read_by(const scenarios::Calibration& calibration, const fs::path& published) {
  scenarios::Files read;
  for (const auto& set : calibration.sets) {
    const bool table = set.measure == scenarios::CalibrationSet::Measure::collectives;
    const auto folder = table ? checkout("collectives") : published;
    for (const char* ending : {".yaml", ".csv"}) read.push_back(folder / (set.name + ending));
  }
  return read;
}

std::vector<Output> outputs_of(const scenarios::Calibration& calibration, const fs::path& catalog) {
  std::set<std::string> files;
  for (const auto& key : calibration.keys) files.insert((catalog / key.file).string());
  std::erase_if(files, [](const auto& file) {  // their folders are made
    std::error_code wrong;
    return !fs::exists(fs::path(file).parent_path(), wrong);
  });
  std::vector<Output> outputs;
  for (const auto& file : files) outputs.push_back({"--catalog", file});
  return outputs;
}

forecast::CalibrationSummary fit(CalibrationRuns& runs, const Common& common, Streams streams) {
  const auto problem = runs.problem();
  const auto residuals = [&](const std::vector<forecast::Point>& points) {
    if (!common.quiet && streams.terminal && points.size() > 1) streams.err << "slopes …\n";
    return runs.residuals(points);
  };
  const auto minimum = forecast::minimise(problem, residuals);
  auto values = runs.values(minimum.point);
  for (auto& value : values) value = scenarios::rounded(value);
  forecast::Point start;
  for (const auto& unknown : problem.unknowns) start.push_back(unknown.start);
  const auto before = residuals({start}).front();
  auto summary =
      runs.summary(before, values, forecast::assess(problem, runs.point(values), residuals));
  summary.steps = minimum.steps;
  summary.converged = minimum.converged;
  return summary;
}

}  // namespace

int calibrate(const CalibrationRequest& request, const Common& common, Streams streams) {
  const auto file =
      request.parameters.empty() ? checkout("calibration.yaml") : fs::path(request.parameters);
  const auto calibration = scenarios::load_calibration(file, common.sets);
  const auto threads = threads_of(common);
  const auto catalog = request.catalog.empty() ? checkout("catalog") : fs::path(request.catalog);
  const auto published = published_folder(request.data);
  const Outputs outputs(
      common, request.only_print ? std::vector<Output>{} : outputs_of(calibration, catalog));
  outputs.spare({file});
  outputs.spare(read_by(calibration, published));
  CalibrationRuns runs(calibration, published, checkout("collectives"), catalog, threads);
  if (runs.refused() > 0 && !common.quiet)
    streams.err << "warning: " << runs.refused() << " rows cannot be simulated and are left out\n";
  auto summary = fit(runs, common, streams);
  if (!request.only_print) {
    std::vector<double> values;
    for (const auto& parameter : summary.parameters) values.push_back(parameter.value);
    summary.files = write_tables(runs.texts(values), catalog);
  }
  const auto answer = common.json ? report::calibrate_json(summary)
                                  : report::calibrate_text(summary, text_options(streams));
  deliver(answer, common, streams);
  return success;
}

}  // namespace app
