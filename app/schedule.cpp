// SPDX-License-Identifier: Apache-2.0
#include "report/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "app/command.hpp"
#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/limits.hpp"
#include "plans/words.hpp"
#include "report/page/page.hpp"
#include "report/terminal.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/foreign/order_file.hpp"
#include "strategies/pipeline.hpp"
#include "units/text.hpp"

namespace app {

namespace {

using strategies::Pass, strategies::ScheduleKind;

constexpr double most_operations = 2e6;  // forwards and backwards

ScheduleKind kind_of(const ScheduleRequest& request) {
  if (request.schedule.empty()) throw Mistake("schedule: name a --schedule or give an --order");
  for (const auto& [name, kind] : words_of(ScheduleKind{}))
    if (request.schedule == name) return kind;
  std::vector<std::string_view> known;
  for (const auto& [name, kind] : words_of(ScheduleKind{})) known.push_back(name);
  throw Mistake("--schedule " + request.schedule + ": unknown schedule; choose " +
                schedule_names() + scenarios::suggestion(request.schedule, known));
}

// Returns the number of chunks per stage: 2 for a schedule in a V if the request has the default of
// 1, else the request's.
int chunks_of(const ScheduleRequest& request, ScheduleKind kind) {
  const bool v = strategies::layout_of(kind, 1, 1).kind == strategies::Layout::Kind::v;
  return v && request.chunks == 1 ? 2 : request.chunks;
}

std::vector<double> slow_of(const ScheduleRequest& request) {
  std::vector<double> slow(static_cast<std::size_t>(request.stages), 1.0);
  for (const auto& text : request.slow) {
    const auto equals = text.find('=');
    int stage = -1;
    double factor = 0;
    const auto* end = text.data() + text.size();
    const bool parsed =
        equals != std::string::npos &&
        std::from_chars(text.data(), text.data() + equals, stage).ptr == text.data() + equals &&
        std::from_chars(text.data() + equals + 1, end, factor).ptr == end;
    if (!parsed || stage < 0 || stage >= request.stages || !(factor > 0) || factor > 1e6)
      throw Mistake("--slow " + text + ": write STAGE=FACTOR, with a stage from 0 to " +
                    std::to_string(request.stages - 1) +
                    " and a factor above 0, e.g. --slow 0=1.25");
    slow[static_cast<std::size_t>(stage)] = factor;
  }
  return slow;
}

// Reads the times of the request: all are bare numbers, or all are durations; 0 is either.
void take_times(ScheduleRequest& request) {
  const std::array<std::pair<const char*, double*>, 4> all{{{"--forward", &request.forward},
                                                            {"--backward", &request.backward},
                                                            {"--weight", &request.weight},
                                                            {"--comm", &request.comm}}};
  std::string bare, duration;  // the first option with such a time
  for (const auto& [name, time] : all) {
    const auto text = std::string(units::trimmed(request.times[name]));
    if (text.empty()) continue;
    const auto written = std::string(name) + " " + text;
    try {
      *time = units::parse_duration(text).value;
    } catch (const std::invalid_argument&) {
      throw Mistake(written + ": expected a number, 0 or more, or a duration such as 1.5ms");
    }
    auto& first =
        text.back() == '.' || (text.back() >= '0' && text.back() <= '9') ? bare : duration;
    if (*time != 0 && first.empty()) first = written;
  }
  if (!bare.empty() && !duration.empty())
    throw Mistake(duration + ": it has a unit and " + bare + " has none; give all times a unit, " +
                  "or none of them");
  request.in_seconds = !duration.empty();
}

void check(const ScheduleRequest& request, ScheduleKind kind) {
  const auto positive = [](const char* name, double value, double least, double most) {
    if (!(value >= least) || value > most)
      throw Mistake(fmt::format("{}: {:.15g} is out of range; expected {} to {}", name, value,
                                least, report::grouped(most)));
  };
  positive("--stages", request.stages, 1, 1e6);
  positive("--microbatches", request.microbatches, 1, 1e9);
  positive("--chunks", request.chunks, 1, 1e6);
  positive("--forward", request.forward, 0, 1e12);
  positive("--backward", request.backward, 0, 1e12);
  positive("--weight", request.weight, 0, 1e12);
  positive("--comm", request.comm, 0, 1e12);
  const strategies::PipelineSize size{kind, request.stages, chunks_of(request, kind),
                                      request.microbatches};
  const auto passes = strategies::passes_of(size);
  if (passes > most_operations)
    throw Mistake("--stages x --microbatches x --chunks gives " +
                  std::to_string(static_cast<std::int64_t>(passes)) +
                  " operations; at most 2 million are simulated");
  if (const auto refused = strategies::too_large(size))
    throw Mistake("--schedule " + request.schedule + ": " + refused->what());
  const bool loop = strategies::layout_of(kind, 1, 1).kind == strategies::Layout::Kind::loop;
  if (loop && request.chunks > 1 && kind != ScheduleKind::interleaved)
    throw Mistake("--chunks " + std::to_string(request.chunks) +
                  ": only --schedule interleaved runs several chunks per stage");
}

// Ticks per unit of time: a chunk's share of decimal times comes out whole, and the sum of all
// passes stays far inside 64 bits.
double ticks_per_unit(const ScheduleRequest& request, const strategies::Layout& layout) {
  const double sum = (request.forward + request.backward + request.weight + request.comm) * 1e3 *
                     request.stages * request.microbatches;
  double scale = layout.parts();
  while (scale * 10 * std::max(sum, 1e-9) < 4e18 && scale < 1e15) scale *= 10;
  return scale;
}

const char* letters_of(Pass pass) {
  return pass == Pass::forward          ? "F"
         : pass == Pass::backward       ? "BW"
         : pass == Pass::backward_input ? "B"
                                        : "W";
}

strategies::PassTimes times_of(const ScheduleRequest& request, const strategies::Layout& layout) {
  const double scale = ticks_per_unit(request, layout);
  const auto ticks = [&](double time) { return std::llround(time * scale); };
  return {ticks(request.forward), ticks(request.backward), ticks(request.weight),
          ticks(request.comm)};
}

report::ScheduleReport report_of(const std::string& name, const strategies::Order& order,
                                 const strategies::Layout& layout,
                                 const strategies::PipelineRun& run, double scale) {
  const auto in_units = [&](sim::Picoseconds ticks) { return static_cast<double>(ticks) / scale; };
  const auto figures = strategies::figures_of(run, order.size());
  report::ScheduleReport result{.name = name,
                                .makespan = in_units(figures.makespan),
                                .span = in_units(figures.span),
                                .bubble_fraction = figures.bubble_fraction,
                                .bubble_fraction_max_stage = figures.bubble_fraction_max_stage,
                                .ticks = scale};
  for (const auto& op : run.operations)
    result.operations.push_back({op.stage, op.slot.chunk, op.slot.microbatch,
                                 letters_of(op.slot.pass), in_units(op.start), in_units(op.end),
                                 op.slot.paired});
  result.stages.resize(order.size());
  for (std::size_t s = 0; s < order.size(); ++s) {
    auto& stage = result.stages[s];
    stage.work = in_units(figures.work[s]);
    stage.idle = in_units(figures.makespan - figures.work[s]);
    stage.peak_in_flight = strategies::peak_in_flight(order[s], layout.parts());
    stage.in_flight_vectors = strategies::in_flight_vectors(order[s], layout.chunks);
  }
  return result;
}

// The order of --order FILE, or the one that --schedule names. Fills in what the file says.
strategies::WrittenOrder order_of(ScheduleRequest& request, const Caller* caller) {
  if (request.order.empty()) {
    const auto kind = kind_of(request);
    check(request, kind);
    const int chunks = chunks_of(request, kind);
    const auto layout = strategies::layout_of(kind, request.stages, chunks);
    const auto times = times_of(request, layout);
    return {strategies::order_of({kind, request.stages, chunks, request.microbatches,
                                  strategies::chunk_times(layout, times, slow_of(request)),
                                  times.latency, std::nullopt}),
            layout, request.microbatches};
  }
  auto written = scenarios::load_order(source_of(request.order, caller));
  request.schedule = "order of " + request.order;
  request.stages = written.layout.stages;
  request.microbatches = written.microbatches;
  check(request, ScheduleKind::interleaved);
  return written;
}

// An order that somebody wrote may wait for itself: then its file is wrong.
strategies::PipelineRun run_of(const strategies::WrittenOrder& written,
                               const strategies::PassTimes& times, const ScheduleRequest& request) {
  const auto run = [&] {
    return strategies::run_pipeline(written.order, written.layout, written.microbatches, times,
                                    slow_of(request));
  };
  if (request.order.empty()) return run();
  try {
    return run();
  } catch (const std::invalid_argument& wrong) {
    throw scenarios::Error({{request.order + ":1:1", wrong.what()}});
  }
}

struct Played {
  report::ScheduleReport result;
  forecast::ScheduleWaits waits;  // if asked for
};

// The order and its run are large, and gone before anything is written.
Played played(ScheduleRequest request, bool with_waits, const Caller* caller) {
  take_times(request);
  const auto written = order_of(request, caller);
  const auto& layout = written.layout;
  const auto run = run_of(written, times_of(request, layout), request);
  Played all{
      report_of(request.schedule, written.order, layout, run, ticks_per_unit(request, layout)), {}};
  all.result.in_seconds = request.in_seconds;
  if (with_waits) all.waits = forecast::waits_of(run, slow_of(request));
  return all;
}

}  // namespace

std::string schedule_names() {
  constexpr auto all = words_of(ScheduleKind{});
  std::string names(all.front().name);
  for (std::size_t i = 1; i < all.size(); ++i)
    names += (i + 1 < all.size() ? ", " : " or ") + std::string(all[i].name);
  return names;
}

namespace {

// Warns that a schedule which moves passes of weight gradients has none that take time.
void warn_of_weight(ScheduleRequest request, const Common& common, Streams streams) {
  take_times(request);
  if (!request.order.empty() || request.weight > 0) return;
  if (!strategies::splits_gradients(kind_of(request))) return;
  warn(request.schedule +
           " fills bubbles with passes of weight gradients, and without --weight they take no "
           "time; split the backward time, such as --backward 1 --weight 1 for --backward 2",
       common, streams);
}

}  // namespace

int schedule(const ScheduleRequest& asked, const Common& common, Streams streams) {
  refuse_sets(common, "a schedule is played from the times of its options");
  check_trace_name(common.trace);
  check_report_name(common.report);
  const Outputs outputs(common);
  if (!asked.order.empty()) outputs.spare({asked.order});
  auto [result, waits] = played(asked, !common.report.empty(), common.caller);
  warn_of_weight(asked, common, streams);
  if (!common.trace.empty())
    write_trace(common, report::schedule_timeline(result),
                static_cast<std::int64_t>(result.stages.size()));
  if (!common.report.empty()) {
    result.waits = std::move(waits);
    write_report(common, report::schedule_page(result));
  }
  deliver(common.json ? report::schedule_json(result)
                      : report::schedule_text(result, text_options(streams)),
          common, streams);
  return success;
}

}  // namespace app
