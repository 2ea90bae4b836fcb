// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <ostream>

#include "app/command.hpp"
#include "forecast/forecast.hpp"
#include "forecast/intervals.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/scenario_file.hpp"

namespace app {

int simulate(const std::string& file, bool full, const Common& common, Streams streams) {
  check_trace_name(common.trace);
  check_report_name(common.report);
  const auto scenario = scenarios::load_scenario(file, common.sets);

  const auto began = std::chrono::steady_clock::now();
  auto forecast = forecast::simulate(
      scenario, {.full = full,
                 .timeline = !common.json || !common.trace.empty() || !common.report.empty(),
                 .causes = true});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  forecast.simulation.wall = {took.count()};
  forecast::add_interval(forecast, scenario, scenarios::catalog_intervals());
  auto warnings = scenarios::warnings(scenario);
  forecast.warnings.insert(forecast.warnings.begin(), warnings.begin(), warnings.end());

  if (!common.trace.empty()) write_trace(common.trace, forecast.timeline, scenario.cluster.gpus);
  if (!common.report.empty())
    write_file(common.report, report::simulate_page({{scenario, forecast}}, STEPCAST_VERSION));
  if (common.json) {
    if (!common.quiet)
      for (const auto& warning : forecast.warnings) streams.err << "warning: " << warning << '\n';
    deliver(report::simulate_json(scenario, forecast, STEPCAST_VERSION), common, streams);
    return success;
  }
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  // The measurement belongs to the file as it stands, not to what --set made of it.
  if (common.sets.empty())
    if (const auto published = scenarios::load_published(file))
      options.published = report::Published{published->step_time, published->source};
  deliver(report::simulate_text(scenario, forecast, options), common, streams);
  return success;
}

}  // namespace app
