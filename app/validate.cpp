// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>

#include "app/command.hpp"
#include "app/parallel.hpp"
#include "app/published.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "forecast/accuracy/regime.hpp"
#include "forecast/accuracy/validation.hpp"
#include "forecast/forecast.hpp"
#include "report/intervals.hpp"
#include "report/validation.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/fitted_devices.hpp"
#include "scenarios/intervals.hpp"

namespace app {

namespace fs = std::filesystem;

fs::path published_folder(const std::string& asked) {
  return data_folder(asked, "published", "published runs");
}

fs::path data_folder(const std::string& asked, const std::string& name, const std::string& what) {
  const auto folder = asked.empty() ? checkout(name) : fs::path(asked);
  std::error_code wrong;
  if (!fs::is_directory(folder, wrong))
    throw Mistake("the folder of " + what + " is not there; name it with --data FOLDER");
  return folder;
}

fs::path checkout(const std::string& name) {
  std::error_code wrong;
  const auto program = fs::read_symlink("/proc/self/exe", wrong);
  const auto installed = program.parent_path().parent_path() / "share" / "stepcast";
  for (const auto& place : {fs::path(), fs::path(STEPCAST_SOURCE_DIR), installed})
    if (const auto there = place / "scenarios" / name; fs::exists(there, wrong)) return there;
  return fs::path("scenarios") / name;
}

scenarios::Calibration checkout_calibration() {
  const auto file = checkout("calibration.yaml");
  std::error_code wrong;
  return fs::exists(file, wrong) ? scenarios::load_calibration(file) : scenarios::Calibration{};
}

std::vector<scenarios::Dataset> load_published(const fs::path& folder,
                                               const std::vector<std::string>& names,
                                               scenarios::Files& read) {
  auto datasets = scenarios::load_datasets(folder, names, &read);
  read.push_back(checkout("calibration.yaml"));
  scenarios::mark_fitted(datasets, checkout_calibration());
  return datasets;
}

void check_names(const std::vector<std::string>& datasets, const std::vector<std::string>& known) {
  for (const auto& name : datasets) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::vector<std::string_view> words(known.begin(), known.end());
    const auto near = scenarios::equal_suggestions(name, words);
    std::string text = "unknown data set '" + name + "'" + near +
                       (near.empty() ? "; expected one of:" : " Expected one of:");
    for (const auto& one : known) text += "\n  " + one;
    throw Mistake(text);
  }
}

namespace {

// Memory is compared like with like. A source that does not say means what its tool prints:
// mostly the allocator's own figure.
units::Bytes memory_of(const forecast::Memory& memory, const std::string& kind,
                       scenarios::MemoryStage where) {
  using enum scenarios::MemoryStage;
  if (where == fullest) {
    if (kind == "device") return memory.peak;
    return kind == "reserved" ? memory.peak_reserved : memory.peak_allocated;
  }
  const auto& stage = where == first ? memory.stages.front() : memory.stages.back();
  if (kind == "device") return stage.peak;
  if (kind == "reserved") return stage.peak_reserved;
  return stage.peak_allocated;
}

// Returns the forecast time of a pass of that kind on a stage in the middle, which has neither
// embedding nor head; nothing for an unknown kind.
std::optional<units::Seconds> pass_time(const forecast::Forecast& forecast,
                                        const std::string& kind) {
  const auto& stage = forecast.pipeline.stages[forecast.pipeline.stages.size() / 2];
  if (kind == "forward") return stage.forward;
  if (kind == "backward_input") return stage.backward_input;
  if (kind == "backward_weight") return stage.backward_weight;
  if (kind == "layer.forward") return forecast.layer.forward;
  if (kind == "layer.backward") return forecast.layer.backward;
  return std::nullopt;
}

// A layer that ran by itself says nothing of whether the model fits.
bool only_layers(const forecast::ValidationRow& row) {
  return !row.passes.empty() && std::ranges::all_of(row.passes, [](const auto& pass) {
    return pass.kind.starts_with("layer.");
  });
}

// Returns the published figures of a row, without forecast.
forecast::ValidationRow measured_row(const scenarios::PublishedRow& published) {
  forecast::ValidationRow row{
      .id = published.id,
      .time_counts = published.time_counts,
      .fitted = published.fitted,
      .out_of_memory = published.out_of_memory,
      .groups = {published.device, published.precision, published.parallelism, published.scale,
                 published.model, forecast::regime_of(published.device, published.model)},
      .assumed = published.assumed};
  if (published.relative_only && std::isfinite(published.measured_tflops))
    row.measured_rate = units::FlopsPerSecond{published.measured_tflops * 1e12};
  if (std::isfinite(published.measured_step_time_s))
    row.measured_s = units::Seconds{published.measured_step_time_s};
  if (std::isfinite(published.measured_bytes))
    row.measured_bytes = units::Bytes{published.measured_bytes};
  row.memory_kind = published.memory_kind;
  for (const auto& [kind, time] : published.pass_times_s)
    row.passes.push_back({.kind = kind, .measured = units::Seconds{time}});
  return row;
}

}  // namespace

forecast::ValidationRow row_of(const scenarios::PublishedRow& published,
                               const std::optional<forecast::Scenario>& scenario,
                               const forecast::Intervals& intervals) {
  auto row = measured_row(published);
  if (!scenario) {
    row.status = forecast::ValidationRow::Status::unsupported;
    row.reason = published.unsupported_reason;
    return row;
  }
  auto forecast = forecast::simulate(*scenario, {.network = false});
  forecast::add_interval(forecast, *scenario, intervals);
  row.run = forecast::circumstances_of(*scenario, forecast);
  row.predicted_s = forecast.step.time;
  if (row.measured_rate) row.predicted_rate = forecast.step.flops_per_gpu;
  if (forecast.step.time_low < forecast.step.time_high) {
    row.low_s = forecast.step.time_low;
    row.high_s = forecast.step.time_high;
  }
  row.predicted_bytes = memory_of(forecast.memory, row.memory_kind, published.memory_stage);
  if (!only_layers(row)) row.predicted_fits = forecast.memory.fits && forecast.memory.host_fits;
  for (auto& pass : row.passes) pass.predicted = pass_time(forecast, pass.kind);
  return row;
}

namespace {

forecast::DatasetRows rows_of(const scenarios::Dataset& dataset,
                              const forecast::Intervals& intervals, unsigned threads) {
  forecast::DatasetRows result{
      dataset.name, std::vector<forecast::ValidationRow>(dataset.rows.size()), dataset.added};
  for_each_index(dataset.rows.size(), threads, [&](std::size_t i) {
    try {
      result.rows[i] = row_of(dataset.rows[i], dataset.rows[i].scenario, intervals);
    } catch (const std::invalid_argument& why) {
      result.rows[i] = measured_row(dataset.rows[i]);
      result.rows[i].status = forecast::ValidationRow::Status::unsupported;
      result.rows[i].reason = why.what();
    }
  });
  return result;
}

}  // namespace

int validate(const ValidateRequest& request, const Common& common, Streams streams) {
  const auto& datasets = request.datasets;
  const std::string what = datasets.empty() ? "" : datasets.front();
  if (!request.similarity.empty() && what != "corrections")
    throw Mistake("--likeness is what 'validate corrections' writes; write that, or leave it out");
  if (what == "collectives" || what == "search" || what == "corrections") {
    if (!request.page.empty() || !request.intervals.empty())
      throw Mistake("--report and --intervals are of training runs; leave them out");
    const std::vector<std::string> named(datasets.begin() + 1, datasets.end());
    if (what == "corrections")
      return validate_corrections(named, request.folder, request.similarity, common, streams);
    return what == "search" ? validate_search(named, request.folder, common, streams)
                            : validate_collectives(named, request.folder, common, streams);
  }
  if (!common.sets.empty())
    throw Mistake("--set changes a scenario; validate forecasts the published ones as they are");
  const auto where = published_folder(request.folder);
  const auto known = scenarios::dataset_names(where);
  check_names(datasets, known);
  if (!request.intervals.empty() && !datasets.empty())
    throw Mistake("--intervals is made from all data sets; name none");
  const Outputs outputs(common, {{"--report", request.page}, {"--intervals", request.intervals}});
  scenarios::Files read;
  const auto published = load_published(where, datasets, read);
  outputs.spare(read);
  const auto threads = threads_of(common);
  const auto intervals = scenarios::catalog_intervals();
  std::vector<forecast::DatasetRows> all;
  for (const auto& dataset : published) {
    if (!common.quiet && streams.terminal) streams.err << dataset.name << '\n';
    all.push_back(rows_of(dataset, intervals, threads));
  }
  if (!request.intervals.empty())
    write_file(request.intervals,
               report::intervals_yaml(forecast::intervals_of(forecast::residuals_of(all))));
  if (datasets.empty()) forecast::leave_out(all);
  const auto score = forecast::score(std::move(all));
  if (!request.page.empty()) write_file(request.page, report::validate_page(score));
  if (common.caller != nullptr)
    common.caller->page = [score] { return report::validate_page(score); };
  deliver(common.json ? report::validate_json(score)
                      : report::validate_text(score, text_options(streams)),
          common, streams);
  return success;
}

}  // namespace app
