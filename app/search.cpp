// SPDX-License-Identifier: Apache-2.0
#include "report/search/search.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>

#include "app/command.hpp"
#include "app/corrections.hpp"
#include "app/emitting.hpp"
#include "app/headway.hpp"
#include "app/parallel.hpp"
#include "app/placing.hpp"
#include "app/search_limits.hpp"
#include "app/stopping.hpp"
#include "app/whole_run_of.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "report/document.hpp"
#include "report/job.hpp"
#include "report/page/page.hpp"
#include "report/traces/trace.hpp"
#include "scenarios/checks/checks.hpp"
#include "scenarios/intervals.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/search_file.hpp"
#include "search/corrected.hpp"
#include "search/objectives.hpp"
#include "search/why.hpp"

namespace app {
namespace {

using Clock = std::chrono::steady_clock;

// One line on standard error, written anew some ten times a second.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& err) : err_(err) {}
  ~ProgressLine() {
    if (shown_) err_ << "\r\x1b[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const search::Progress& progress) {
    const auto now = Clock::now();
    if (shown_ && now - last_ < std::chrono::milliseconds(100)) return;
    err_ << "\r\x1b[K" << report::search_progress(progress) << std::flush;
    last_ = now;
    shown_ = true;
  }

 private:
  std::ostream& err_;
  Clock::time_point last_;
  bool shown_ = false;
};

struct Found {
  search::Outcome outcome;
  std::optional<search::Why> why;  // of an answer with a plan
  std::optional<report::FrameworkLimits> limits;
  std::vector<search::Configurable> configurable;  // as many as plans are reported
  std::optional<search::Corrected> corrected{};
  std::optional<search::WholeRun> run{};  // with the best plan
  std::optional<scenarios::JobAccount> job{};
  units::Seconds wall{};
};

report::SearchReport report_of(const Found& found, const std::string& emitted) {
  return {.outcome = found.outcome,
          .why = found.why,
          .corrected = found.corrected,
          .configurable = found.configurable,
          .run = found.run,
          .limits = found.limits,
          .job = found.job,
          .emitted = emitted,
          .wall = found.wall};
}

// The plan that reports show first.
const search::Ranked& shown_first(const Found& found) {
  return found.configurable.empty() ? found.outcome.answer.plans.front()
                                    : found.configurable.front().ranked;
}

// The least number of best plans among which those that a framework can run are looked for.
constexpr std::size_t looked_through = 100;
// The number of plans beyond the reported ones whose configurable forms may be among the best.
constexpr std::size_t looked_beyond = 10;

// `job` is the job that a plan would change, if there is one.
Found searched(const search::Question& question, const std::optional<scenarios::JobAccount>& job,
               const SearchRequest& request, const Common& common, const Stopping& stopping,
               Streams streams) {
  const auto top = request.top;
  const auto framework = framework_asked_for(request.within);
  ProgressLine line(streams.err);
  const auto threads = threads_of(common);
  search::Options options{.top = std::max({top + looked_beyond, search::compared,
                                           framework ? looked_through : std::size_t{0}}),
                          .stop = &stopping.flag()};
  options.for_each = [threads](std::size_t count, const std::function<void(std::size_t)>& work) {
    for_each_index(count, threads, work);
  };
  if (streams.err_terminal && !common.quiet)
    options.progress = [&line](const search::Progress& progress) { line.show(progress); };
  Telling telling(common.caller, headway_of({}));
  if (telling.wanted())
    options.progress = [&telling](const search::Progress& progress) {
      telling([&] { return headway_of(progress); });
    };
  const auto limited =
      framework ? report::within_limits(question, *framework, job ? &*job : nullptr) : question;
  Found found{
      .outcome = search::optimise(limited, options), .why = {}, .limits = {}, .configurable = {}};
  if (framework) keep_runnable(found.outcome, *framework);
  auto& [of_size, answer, tried, chosen] = found.outcome;
  // A plan that the framework runs gives way to none that was not asked for.
  std::optional<search::Answer> kept;
  if (framework) kept = answer;
  found.configurable = search::configurable_plans(of_size, answer, options);
  if (kept) answer = *std::move(kept);
  if (found.configurable.size() > top) found.configurable.resize(top);
  const auto explained = std::max({top, search::compared, framework ? looked_through : 0});
  if (answer.plans.size() > explained) answer.plans.resize(explained);
  if (!answer.plans.empty()) found.why = search::why(of_size, answer, options);
  if (answer.plans.size() > top) answer.plans.resize(top);
  if (framework) found.limits = limits_of(question, *framework, options);
  return found;
}

forecast::Scenario under(const search::Question& question, const search::Ranked& ranked) {
  auto scenario = question.scenario_of(ranked.alternative);
  scenario.plan = ranked.plan;
  return scenario;
}

void add_interval_to(search::Ranked& ranked, const search::Question& question) {
  forecast::add_interval(ranked.forecast, under(question, ranked), scenarios::catalog_intervals());
}

void add_intervals(std::vector<search::Ranked>& plans, const search::Question& question) {
  for (auto& ranked : plans) add_interval_to(ranked, question);
}

// The most bars in a page that a browser opens quickly.
constexpr std::size_t most_slices = 200'000;

// Returns `command`, which simulates the file that was searched, with the options that set this
// plan.
std::vector<std::string> command_of(const forecast::Scenario& scenario, bool chosen_nodes,
                                    std::vector<std::string> command) {
  if (chosen_nodes)
    command.insert(command.end(),
                   {"--set", "cluster.nodes=" + std::to_string(scenario.cluster.nodes())});
  auto plan = report::plan_document(scenario.plan, scenario.software);
  plan.erase("data");  // which follows from the others, whatever these are set to
  command.insert(command.end(), {"--set", "plan=" + plan.dump()});
  return command;
}

// Returns a page with a timeline of the plan that is shown first, and of those after it as long as
// the page stays small.
std::string search_page(const Found& found, const std::vector<std::string>& command) {
  const auto& question = found.outcome.question;
  std::vector<forecast::Scenario> scenarios;
  for (const auto& one : found.configurable) scenarios.push_back(under(question, one.ranked));
  if (scenarios.empty())
    for (const auto& ranked : found.outcome.answer.plans)
      scenarios.push_back(under(question, ranked));
  const auto* correction = found.corrected ? &found.corrected->correction : nullptr;
  std::vector<forecast::Forecast> forecasts;
  std::size_t slices = 0;
  for (const auto& scenario : scenarios) {
    auto& forecast = forecasts.emplace_back(
        forecast::simulate(scenario, {.timeline = slices < most_slices, .causes = true}));
    forecast::add_interval(forecast, scenario, scenarios::catalog_intervals());
    // The correction's own interval is that of the answer's best plan.
    const bool best = found.configurable.empty() && forecasts.size() == 1;
    if (correction != nullptr && best) forecast::apply(*correction, forecast);
    if (correction != nullptr && !best) forecast::stretch(forecast, correction->factor);
    slices += forecast.timeline.slices.size();
    if (slices > most_slices && forecasts.size() > 1) forecast.timeline = {};
  }
  std::vector<report::PageRun> runs;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    runs.push_back({.scenario = scenarios[i],
                    .forecast = forecasts[i],
                    .correction = correction,
                    .command = command_of(scenarios[i], found.outcome.chosen.has_value(), command),
                    .run = whole_run_of(scenarios[i], forecasts[i])});
  return report::search_page(report_of(found, {}), runs, STEPCAST_VERSION);
}

void warn_of(const forecast::Scenario& scenario, const scenarios::Origin& origin,
             const forecast::Forecast& forecast, const Common& common, Streams streams) {
  for (const auto& warnings : {warnings_of(scenario, origin), forecast.warnings})
    for (const auto& warning : warnings) warn(warning, common, streams);
}

// The timeline of the best plan, stretched by the correction.
forecast::Timeline timeline_of(const forecast::Scenario& best,
                               const std::optional<search::Corrected>& corrected) {
  auto forecast = forecast::simulate(best, {.timeline = true});
  if (corrected) forecast::stretch(forecast, corrected->correction.factor);
  return std::move(forecast.timeline);
}

// Leaves page and trace as functions, so that only a caller who wants them spends the seconds that
// they take.
void leave(Caller& caller, const Found& found, const std::vector<std::string>& command) {
  const auto left = std::make_shared<const Found>(found);
  caller.page = [left, command] { return search_page(*left, command); };
  caller.trace = [left] {
    const auto best = under(left->outcome.question, left->outcome.answer.plans.front());
    return report::chrome_trace(timeline_of(best, left->corrected));
  };
}

// A search without a plan has nothing to show, and is not run again to find that out.
void leave_nothing(Caller& caller) {
  caller.has_page = caller.has_trace = false;
  caller.page = caller.trace = []() -> std::string {
    throw std::invalid_argument("the search found no plan, and so has no page and no timeline");
  };
}

// Adds 80 % intervals to configurable plans, and corrects their times as those of other plans.
void add_intervals(std::vector<search::Configurable>& plans, const search::Question& question,
                   const std::optional<search::Corrected>& corrected) {
  for (auto& one : plans) {
    add_interval_to(one.ranked, question);
    if (!corrected) continue;
    forecast::stretch(one.ranked.forecast, corrected->correction.factor);
    one.finer = corrected->correction.factor * one.finer;
  }
}

// Writes the trace of the best plan and the page, as far as they are asked for, and leaves both to
// a caller.
void write_found(const forecast::Scenario& best, const Found& found, const SearchRequest& request,
                 const Common& common) {
  const auto command = simulate_command(request.file, common);
  if (!common.trace.empty())
    write_trace(common, timeline_of(best, found.corrected), best.cluster.gpus);
  if (!common.report.empty()) write_report(common, search_page(found, command));
  if (common.caller != nullptr) leave(*common.caller, found, command);
}

std::optional<units::Seconds> best_time(const search::Answer& answer) {
  if (answer.plans.empty()) return {};
  return answer.plans.front().forecast.step.time;
}

std::string found_text(const Found& found, const report::TextOptions& options) {
  const auto& first = shown_first(found);
  const auto run = whole_run_of(under(found.outcome.question, first), first.forecast);
  return report::search_text(found.outcome, *found.why, options, found.corrected, run,
                             found.configurable) +
         (found.limits ? report::limits_text(*found.limits, best_time(found.outcome.answer)) : "") +
         (found.job ? report::job_text(*found.job, options) : "");
}

}  // namespace

int search(const SearchRequest& request, const Common& common, Streams streams) {
  check_trace_name(common.trace);
  check_report_name(common.report);
  framework_asked_for(request.within);
  const Outputs outputs(common, emitted_outputs(request.emission));
  const auto placed = scenarios::load_placed_question(source_of(request.file, common.caller),
                                                      common.sets, common.job);
  const auto& asked = placed.value;
  const auto& origin = placed.origin;
  refuse_env(common, request.file, origin.job.has_value());
  outputs.spare(origin.read);
  check_emission(request.emission, origin);
  const auto correcting = load_correcting(common, outputs, streams);
  if (correcting) check_objective(asked);

  const auto began = Clock::now();
  const Stopping stopping(asked.time_limit, common.caller);
  auto found = placing(
      origin, [&] { return searched(asked, origin.job, request, common, stopping, streams); });
  const auto& question = found.outcome.question;
  auto& answer = found.outcome.answer;
  const std::chrono::duration<double> took = Clock::now() - began;
  found.wall = {took.count()};
  found.job = origin.job;
  add_intervals(answer.plans, question);
  add_intervals(answer.pareto, question);
  if (correcting && !answer.plans.empty())
    found.corrected = search::correct(found.outcome, *found.why, correcting->corrections);
  add_intervals(found.configurable, question, found.corrected);
  const bool any = !answer.plans.empty() && (found.outcome.tried.empty() || found.outcome.chosen);
  std::string launch;
  if (any) {
    const auto best = under(question, answer.plans.front());
    found.run = whole_run_of(best, answer.plans.front().forecast);
    warn_of(best, origin, answer.plans.front().forecast, common, streams);
    write_found(best, found, request, common);
    launch = emit(best, origin, request.emission, common, streams);
  } else {
    if (common.caller != nullptr) leave_nothing(*common.caller);
    streams.err << "stepcast: " << report::no_plan_text(found.outcome) << '\n';
    if (found.limits) streams.err << report::limits_text(*found.limits, best_time(answer));
  }
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  if (common.json)
    deliver(report::search_json(report_of(found, launch), STEPCAST_VERSION), common, streams);
  else if (any)
    deliver(launch.empty() && !request.emission.diff ? found_text(found, options) : launch, common,
            streams);
  if (stopping.by_user()) return interrupted;
  return any ? success : no_answer;
}

}  // namespace app
