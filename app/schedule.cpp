// SPDX-License-Identifier: Apache-2.0
#include "report/schedule.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "app/command.hpp"
#include "strategies/pipeline.hpp"

namespace app {

namespace {

using strategies::Pass;

strategies::ScheduleKind kind_of(const ScheduleRequest& request) {
  if (request.schedule == "gpipe") return strategies::ScheduleKind::gpipe;
  if (request.schedule == "1f1b") return strategies::ScheduleKind::one_f_one_b;
  if (request.schedule == "interleaved") return strategies::ScheduleKind::interleaved;
  throw Mistake("--schedule " + request.schedule +
                ": unknown schedule; choose gpipe, 1f1b or interleaved");
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

void check(const ScheduleRequest& request) {
  const auto positive = [](const char* name, double value, double least, double most) {
    if (!(value >= least) || value > most)
      throw Mistake(std::string(name) + ": out of range; expected " +
                    (least > 0 ? "at least 1" : "a finite number, 0 or more"));
  };
  positive("--stages", request.stages, 1, 1e6);
  positive("--microbatches", request.microbatches, 1, 1e9);
  positive("--chunks", request.chunks, 1, 1e6);
  positive("--forward", request.forward, 0, 1e12);
  positive("--backward", request.backward, 0, 1e12);
  positive("--weight", request.weight, 0, 1e12);
  positive("--comm", request.comm, 0, 1e12);
  const double slots = 2.0 * request.stages * request.microbatches * request.chunks;
  if (slots > 2e6)
    throw Mistake("--stages x --microbatches x --chunks gives " +
                  std::to_string(static_cast<std::int64_t>(slots)) +
                  " operations; at most 2 million are simulated");
  if (request.chunks > 1 && request.schedule != "interleaved")
    throw Mistake("--chunks " + std::to_string(request.chunks) +
                  ": only --schedule interleaved runs several chunks per stage");
}

// Ticks per unit of time: a chunk's share of decimal times comes out whole, and the sum of all
// passes stays far inside 64 bits.
double ticks_per_unit(const ScheduleRequest& request) {
  const double sum = (request.forward + request.backward + request.weight + request.comm) * 1e3 *
                     request.stages * request.microbatches;
  double scale = request.chunks;
  while (scale * 10 * std::max(sum, 1e-9) < 4e18 && scale < 1e15) scale *= 10;
  return scale;
}

report::ScheduleReport report_of(const ScheduleRequest& request, const strategies::Order& order,
                                 const strategies::PipelineRun& run, double scale) {
  report::ScheduleReport result{.name = request.schedule};
  result.stages.resize(order.size());
  std::int64_t first = INT64_MAX, last = 0, span = 0;
  std::vector<std::int64_t> began(order.size(), INT64_MAX), ended(order.size(), 0);
  std::vector<std::int64_t> work(order.size(), 0);
  for (const auto& op : run.operations) {
    const auto s = static_cast<std::size_t>(op.stage);
    first = std::min(first, op.start);
    last = std::max(last, op.end);
    began[s] = std::min(began[s], op.start);
    ended[s] = std::max(ended[s], op.end);
    work[s] += op.end - op.start;
    const char* name = op.slot.pass == Pass::forward          ? "F"
                       : op.slot.pass == Pass::backward       ? "BW"
                       : op.slot.pass == Pass::backward_input ? "B"
                                                              : "W";
    result.operations.push_back({op.stage, op.slot.chunk, op.slot.microbatch, name,
                                 static_cast<double>(op.start) / scale,
                                 static_cast<double>(op.end) / scale});
  }
  const auto makespan = last - first;
  double idle = 0;
  for (std::size_t s = 0; s < order.size(); ++s) {
    span = std::max(span, ended[s] - began[s]);
    auto& stage = result.stages[s];
    stage.work = static_cast<double>(work[s]) / scale;
    stage.idle = static_cast<double>(makespan - work[s]) / scale;
    stage.peak_in_flight = strategies::peak_in_flight(order[s], request.chunks);
    stage.in_flight_vectors = strategies::in_flight_vectors(order[s], request.chunks);
    idle += static_cast<double>(makespan - work[s]);
  }
  result.makespan = static_cast<double>(makespan) / scale;
  result.span = static_cast<double>(span) / scale;
  if (makespan > 0) {
    const auto whole = static_cast<double>(makespan);
    result.bubble_fraction = idle / static_cast<double>(order.size()) / whole;
    result.bubble_fraction_max_stage =
        1 - static_cast<double>(*std::ranges::max_element(work)) / whole;
  }
  return result;
}

}  // namespace

int schedule(const ScheduleRequest& request, const Common& common, Streams streams) {
  check_trace_name(common.trace);
  const auto kind = kind_of(request);
  check(request);
  const auto slow = slow_of(request);
  const auto order =
      strategies::order_of(kind, request.stages, request.chunks, request.microbatches);
  const double scale = ticks_per_unit(request);
  const auto ticks = [&](double time) { return std::llround(time * scale); };
  const auto run = strategies::run_pipeline(
      order, request.chunks, request.microbatches,
      {ticks(request.forward), ticks(request.backward), ticks(request.weight), ticks(request.comm)},
      slow);
  const auto result = report_of(request, order, run, scale);
  if (!common.trace.empty()) write_trace(common.trace, report::schedule_timeline(result));
  deliver(common.json ? report::schedule_json(result)
                      : report::schedule_text(result, text_options(streams)),
          common, streams);
  return success;
}

}  // namespace app
