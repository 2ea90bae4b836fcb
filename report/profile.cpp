// SPDX-License-Identifier: Apache-2.0
#include "report/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "report/document.hpp"
#include "report/json.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {

using forecast::GpuWork;
using units::Seconds;

namespace {

// "tensor_comm_s" of "tensor comm", "all_reduce_s" of "all-reduce"; copies are what offloading is.
std::string work_key(GpuWork kind) {
  if (kind == GpuWork::copy) return "offload_s";
  std::string key(to_text(kind));
  std::ranges::replace_if(
      key, [](char c) { return c == ' ' || c == '-'; }, '_');
  return key + "_s";
}

Document breakdown_document(const forecast::StepBreakdown& step) {
  Object time;
  for (std::size_t kind = 0; kind < forecast::gpu_works; ++kind)
    time.quantity(work_key(static_cast<GpuWork>(kind)).c_str(), step.exposed[kind]);
  return time.quantity("bubble_s", step.idle).take();
}

Document steps_document(const forecast::Breakdown& breakdown) {
  Document steps = Document::array();
  for (const auto& step : breakdown.steps)
    steps.push_back(Object()
                        .put("name", step.name)
                        .quantity("time_s", step.time)
                        .put("time", breakdown_document(step))
                        .quantity("communication_s", step.communicating)
                        .quantity("hidden_s", step.hidden)
                        .take());
  return steps;
}

Document streams_document(const forecast::Breakdown& breakdown) {
  Document streams = Document::array();
  for (const auto& stream : breakdown.streams)
    streams.push_back(Object()
                          .put("stream", stream.stream)
                          .put("works", stream.works)
                          .quantity("busy_s", stream.busy)
                          .put("mostly", std::string(to_text(stream.mostly)))
                          .take());
  return streams;
}

// What both sides know: real, forecast.
struct ProfileRow {
  std::string name;
  Seconds real, forecast;
};

Seconds communication(const forecast::StepBreakdown& step) {
  Seconds sum;
  for (std::size_t kind = 0; kind < forecast::gpu_works; ++kind)
    if (is_communication(static_cast<GpuWork>(kind))) sum += step.exposed[kind];
  return sum;
}

std::vector<ProfileRow> profile_rows_of(const forecast::StepBreakdown& real,
                                        const forecast::TimeParts& parts) {
  const auto on = [&](GpuWork kind) { return real.exposed[static_cast<std::size_t>(kind)]; };
  const auto sent = parts.tensor_comm + parts.context_comm + parts.expert_comm +
                    parts.pipeline_comm + parts.data_comm;
  return {{"computation", on(GpuWork::compute), parts.compute + parts.recompute + parts.optimizer},
          {"communication", communication(real), sent},
          {"  tensor", on(GpuWork::tensor_comm), parts.tensor_comm},
          {"  context", on(GpuWork::context_comm), parts.context_comm},
          {"  expert", on(GpuWork::expert_comm), parts.expert_comm},
          {"  pipeline", on(GpuWork::pipeline_comm), parts.pipeline_comm},
          {"  data", on(GpuWork::data_comm), parts.data_comm},
          {"copies", on(GpuWork::copy), parts.offload},
          {"idle", real.idle, parts.bubble + parts.other}};
}

std::string beside_text(const forecast::StepBreakdown& real, const forecast::Forecast& forecast,
                        const TextOptions& options) {
  std::string text = heading("The median step beside the forecast (exposed times)", options);
  text += fmt::format("  {}  {}  {}  {}\n", left("", 14), right("real", 12), right("forecast", 12),
                      right("off by", 9));
  auto rows = profile_rows_of(real, forecast.time);
  rows.push_back({"step", real.time, forecast.step.time});
  for (const auto& [name, measured, predicted] : rows) {
    if (measured.value == 0 && predicted.value == 0) continue;
    text += fmt::format(
        "  {}  {}  {}  {}\n", left(name, 14), right(units::short_text(measured), 12),
        right(units::short_text(predicted), 12),
        right(measured.value > 0 ? signed_percent((predicted - measured) / measured) : "", 9));
  }
  return text;
}

std::string breakdown_text(const forecast::StepBreakdown& step, const TextOptions& options) {
  std::string text = heading("Where the time of the median step went (exposed)", options);
  const auto line = [&](std::string_view name, Seconds time) {
    if (time.value == 0) return;
    const double share = step.time.value > 0 ? time / step.time : 0;
    text += fmt::format("  {}  {}  {}  {}\n", left(std::string(name), 16),
                        right(units::short_text(time), 10), right(percent(share), 8),
                        bar(share, width_of(options) - 42, false, options));
  };
  for (std::size_t kind = 0; kind < forecast::gpu_works; ++kind)
    line(to_text(static_cast<GpuWork>(kind)), step.exposed[kind]);
  line("idle", step.idle);
  if (step.communicating.value > 0)
    text += fmt::format("  of {} of communication {} hide under computation\n",
                        units::short_text(step.communicating),
                        percent(step.hidden / step.communicating));
  return text;
}

std::string steps_text(const forecast::Breakdown& breakdown, const TextOptions& options) {
  constexpr std::size_t most = 10;
  if (breakdown.steps.size() < 2) return {};
  std::string text = heading("Steps", options);
  for (std::size_t i = 0; i < std::min(most, breakdown.steps.size()); ++i) {
    const auto& step = breakdown.steps[i];
    text += fmt::format("  {}  {}   computation {}, communication {}, idle {}\n",
                        left(fitted(printable(step.name, options.unicode), 18), 18),
                        right(units::short_text(step.time), 10),
                        units::short_text(step.exposed.front()),
                        units::short_text(communication(step)), units::short_text(step.idle));
  }
  if (breakdown.steps.size() > most)
    text += fmt::format("  and {} more\n", breakdown.steps.size() - most);
  return text;
}

std::string streams_text(const forecast::Breakdown& breakdown, const TextOptions& options) {
  constexpr std::size_t most = 12;
  std::string text = heading("Streams", options);
  auto streams = breakdown.streams;
  std::ranges::stable_sort(streams, std::greater<>(),
                           [](const auto& stream) { return stream.busy.value; });
  for (std::size_t i = 0; i < std::min(most, streams.size()); ++i)
    text += fmt::format("  {}  busy {}  {} kernels and copies, mostly {}\n",
                        left(fmt::format("stream {}", streams[i].stream), 12),
                        right(units::short_text(streams[i].busy), 10), streams[i].works,
                        to_text(streams[i].mostly));
  if (streams.size() > most) text += fmt::format("  and {} more\n", streams.size() - most);
  return text;
}

}  // namespace

std::string profile_text(const ProfileReport& report, const TextOptions& options) {
  const auto& step = report.breakdown.steps.at(report.breakdown.typical);
  std::string text = toned(printable(report.file, options.unicode), Tone::strong, options) + '\n';
  if (report.profile.rank)
    text += fmt::format(
        "  rank {}{}\n", *report.profile.rank,
        report.profile.world_size ? fmt::format(" of {}", *report.profile.world_size) : "");
  text += fmt::format("\n  step time   {} (median of {})\n", units::short_text(step.time),
                      report.breakdown.steps.size());
  text += breakdown_text(step, options);
  if (report.forecast) text += beside_text(step, *report.forecast, options);
  return text + steps_text(report.breakdown, options) + streams_text(report.breakdown, options);
}

std::string profile_json(const ProfileReport& report, std::string_view version) {
  const auto& step = report.breakdown.steps.at(report.breakdown.typical);
  const auto whole = [](std::optional<std::int64_t> value) {
    return value ? Document(*value) : Document();
  };
  return dump(Object()
                  .put("stepcast", std::string(version))
                  .put("file", report.file)
                  .put("rank", whole(report.profile.rank))
                  .put("world_size", whole(report.profile.world_size))
                  .put("step", Object().quantity("time_s", step.time).take())
                  .put("time", breakdown_document(step))
                  .quantity("communication_s", step.communicating)
                  .quantity("hidden_s", step.hidden)
                  .put("steps", steps_document(report.breakdown))
                  .put("streams", streams_document(report.breakdown))
                  .put("against", report.forecast
                                      ? Document::parse(simulate_json(*report.scenario,
                                                                      *report.forecast, version))
                                      : Document())
                  .take());
}

}  // namespace report
