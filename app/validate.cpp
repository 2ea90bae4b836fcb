// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <thread>

#include "app/command.hpp"
#include "app/published.hpp"
#include "forecast/forecast.hpp"
#include "forecast/validation.hpp"
#include "report/validation.hpp"

namespace app {

namespace fs = std::filesystem;

fs::path published_folder(const std::string& asked) {
  for (const fs::path& folder : {fs::path(asked), fs::path("scenarios/published"),
                                 fs::path(STEPCAST_SOURCE_DIR) / "scenarios" / "published"}) {
    std::error_code wrong;
    if (!folder.empty() && fs::is_directory(folder, wrong)) return folder;
    if (!asked.empty()) break;
  }
  throw Mistake("the folder of published runs is not there; name it with --data FOLDER");
}

namespace {

std::string unknown(const std::string& name, const std::vector<std::string>& known) {
  std::string text = "unknown data set '" + name + "'; expected one of:";
  for (const auto& one : known) text += "\n  " + one;
  return text;
}

// Memory is compared like with like. A source that does not say means what its tool prints:
// mostly the allocator's own figure.
units::Bytes memory_of(const forecast::Memory& memory, const std::string& kind) {
  if (kind == "device") return memory.peak;
  if (kind == "reserved") return memory.peak_reserved;
  return memory.peak_allocated;
}

}  // namespace

forecast::Row row_of(const scenarios::PublishedRow& published,
                     const std::optional<forecast::Scenario>& scenario) {
  forecast::Row row{.id = published.id, .time_counts = published.time_counts};
  if (std::isfinite(published.measured_step_time_s))
    row.measured_s = units::Seconds{published.measured_step_time_s};
  if (std::isfinite(published.measured_bytes))
    row.measured_bytes = units::Bytes{published.measured_bytes};
  row.memory_kind = published.memory_kind;
  if (!scenario) {
    row.status = forecast::Row::Status::unsupported;
    row.reason = published.unsupported_reason;
    return row;
  }
  const auto forecast = forecast::simulate(*scenario);
  row.predicted_s = forecast.step.time;
  if (forecast.step.time_low < forecast.step.time_high) {
    row.low_s = forecast.step.time_low;
    row.high_s = forecast.step.time_high;
  }
  row.predicted_bytes = memory_of(forecast.memory, row.memory_kind);
  return row;
}

namespace {

forecast::DatasetRows rows_of(const scenarios::Dataset& dataset, unsigned threads) {
  forecast::DatasetRows result{dataset.name, std::vector<forecast::Row>(dataset.rows.size())};
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (auto i = next++; i < dataset.rows.size(); i = next++) {
      try {
        result.rows[i] = row_of(dataset.rows[i], dataset.rows[i].scenario);
      } catch (const std::invalid_argument& why) {
        result.rows[i] = {.id = dataset.rows[i].id,
                          .status = forecast::Row::Status::unsupported,
                          .reason = why.what()};
      }
    }
  };
  std::vector<std::jthread> crew;
  for (unsigned i = 1; i < threads; ++i) crew.emplace_back(work);
  work();
  return result;
}

}  // namespace

int validate(const std::vector<std::string>& datasets, const std::string& folder,
             const Common& common, Streams streams) {
  if (!datasets.empty() && datasets.front() == "collectives")
    return validate_collectives({datasets.begin() + 1, datasets.end()}, folder, common, streams);
  const auto where = published_folder(folder);
  const auto known = scenarios::dataset_names(where);
  for (const auto& name : datasets)
    if (std::ranges::find(known, name) == known.end()) throw Mistake(unknown(name, known));
  const auto threads =
      common.threads > 0 ? common.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<forecast::DatasetRows> all;
  for (const auto& dataset : scenarios::load_datasets(where, datasets)) {
    if (!common.quiet && streams.terminal) streams.err << dataset.name << '\n';
    all.push_back(rows_of(dataset, threads));
  }
  const auto score = forecast::score(std::move(all));
  deliver(common.json ? report::validate_json(score)
                      : report::validate_text(score, text_options(streams)),
          common, streams);
  return success;
}

}  // namespace app
