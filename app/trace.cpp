// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "app/command.hpp"
#include "app/placing.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "forecast/rank_times.hpp"
#include "report/runs/profile.hpp"
#include "report/snapshot.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/memory_snapshot.hpp"
#include "scenarios/foreign/profiler_trace.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/scenario_file.hpp"

namespace app {

namespace {

// Whether the file's name is that of a snapshot of memory; a profiler's trace is JSON.
bool is_snapshot(const std::string& file) {
  const auto plain = file.ends_with(".gz") ? file.substr(0, file.size() - 3) : file;
  return plain.ends_with(".pickle") || plain.ends_with(".pkl");
}

}  // namespace

int trace(const std::string& file, const std::string& against, const Common& common,
          Streams streams) {
  if (against.empty()) refuse_env(common, file, false);
  if (against.empty() && !common.sets.empty())
    throw Mistake(
        "--set changes the scenario that a trace is held against; name it with --against");
  if (std::error_code wrong; std::filesystem::is_directory(file, wrong))
    throw scenarios::Error({{file,
                             "is a directory; expected a file; the traces of several ranks are for "
                             "stepcast explain SCENARIO --trace " +
                                 file}});
  const Outputs outputs(common);
  outputs.spare({file});
  std::optional<forecast::Scenario> scenario;
  std::optional<forecast::Forecast> forecast;
  if (!against.empty()) {
    auto read =
        scenarios::load_placed_scenario(source_of(against, common.caller), common.sets, common.job);
    refuse_env(common, against, read.origin.job.has_value());
    outputs.spare(read.origin.read);
    scenario = std::move(read.value);
    forecast =
        placing(read.origin, [&] { return forecast::simulate(*scenario, {.causes = true}); });
    forecast::add_interval(*forecast, *scenario, scenarios::catalog_intervals());
  }
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  if (is_snapshot(file)) {
    const auto snapshot = scenarios::load_memory_snapshot(file);
    const report::SnapshotReport answer{file, snapshot, scenario ? &*scenario : nullptr,
                                        forecast ? &*forecast : nullptr};
    deliver(common.json ? report::snapshot_json(answer, STEPCAST_VERSION)
                        : report::snapshot_text(answer, options),
            common, streams);
    return success;
  }
  const auto profile = scenarios::load_profiler_trace(file);
  const auto breakdown = forecast::break_down(profile);
  report::ProfileReport answer{file, profile, breakdown, scenario ? &*scenario : nullptr,
                               forecast ? &*forecast : nullptr};
  std::vector<forecast::RankTimes> ranks;
  if (scenario) {
    ranks = forecast::rank_times(*scenario);
    answer.mismatches = forecast::mismatches_of({profile}, *scenario, ranks);
    if (profile.rank && answer.mismatches.empty())
      answer.expected = &ranks[forecast::rank_like(*profile.rank, *scenario, ranks)];
  }
  deliver(common.json ? report::profile_json(answer, STEPCAST_VERSION)
                      : report::profile_text(answer, options),
          common, streams);
  return success;
}

}  // namespace app
