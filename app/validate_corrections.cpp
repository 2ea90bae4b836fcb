// SPDX-License-Identifier: Apache-2.0
// Judges how much measured steps improve the forecasts of their neighbours.
#include <ostream>

#include "app/command.hpp"
#include "app/parallel.hpp"
#include "app/published.hpp"
#include "forecast/accuracy/neighbours.hpp"
#include "report/similarity.hpp"

namespace app {
namespace {

// The rows whose time counts, on devices that something is fitted to, with their forecasts.
forecast::MeasuredSet measured_set(const scenarios::Dataset& dataset, unsigned threads) {
  std::vector<std::optional<forecast::MeasuredRun>> runs(dataset.rows.size());
  for_each_index(dataset.rows.size(), threads, [&](std::size_t i) {
    const auto& row = dataset.rows[i];
    if (!row.scenario || !row.time_counts || !row.fitted || !(row.measured_step_time_s > 0)) return;
    try {
      const auto forecast = forecast::simulate(*row.scenario);
      runs[i] = {forecast::circumstances_of(*row.scenario, forecast),
                 forecast::setting_of(*row.scenario, forecast),
                 {row.measured_step_time_s},
                 forecast.step.time};
    } catch (const std::invalid_argument&) {
      // Rows that cannot be simulated are listed by `validate`.
    }
  });
  forecast::MeasuredSet set{dataset.name, {}};
  for (auto& run : runs)
    if (run) set.runs.push_back(std::move(*run));
  return set;
}

}  // namespace

int validate_corrections(const std::vector<std::string>& datasets, const std::string& folder,
                         const std::string& similarity_file, const Common& common,
                         Streams streams) {
  if (!common.sets.empty())
    throw Mistake("--set changes a scenario; validate forecasts the published ones as they are");
  if (!datasets.empty())
    throw Mistake("validate corrections: judges each data set by all others; name none");
  const auto threads = threads_of(common);
  const Outputs outputs(common, {{"--likeness", similarity_file}});
  scenarios::Files read;
  const auto published = load_published(published_folder(folder), {}, read);
  outputs.spare(read);
  std::vector<forecast::MeasuredSet> sets;
  for (const auto& dataset : published) {
    if (!common.quiet && streams.err_terminal) streams.err << dataset.name << '\n';
    if (auto set = measured_set(dataset, threads); !set.runs.empty())
      sets.push_back(std::move(set));
  }
  const auto similarity = forecast::similarity_of(sets);
  if (!similarity_file.empty()) write_file(similarity_file, report::similarity_yaml(similarity));
  const auto scores = forecast::score_neighbours(sets);
  deliver(common.json ? report::neighbours_json(scores, similarity)
                      : report::neighbours_text(scores, similarity, text_options(streams)),
          common, streams);
  return success;
}

}  // namespace app
