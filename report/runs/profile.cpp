// SPDX-License-Identifier: Apache-2.0
#include "report/runs/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "report/document.hpp"
#include "report/json.hpp"
#include "report/runs/profile_parts.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {

using forecast::GpuWork;
using forecast::StepPart;
using units::Seconds;

namespace {

// Returns the key of the forecast's part with which such work is compared, or a key such as
// "all_reduce_s" for "all-reduce" if there is none.
std::string work_key(GpuWork kind) {
  if (const auto part = part_of(kind)) return facts_of(*part).key;
  std::string key(to_text(kind));
  std::ranges::replace_if(
      key, [](char c) { return c == ' ' || c == '-'; }, '_');
  return key + "_s";
}

Document breakdown_document(const forecast::StepBreakdown& step) {
  Object time;
  for (std::size_t kind = 0; kind < forecast::gpu_works; ++kind)
    time.quantity(work_key(static_cast<GpuWork>(kind)).c_str(), step.exposed[kind]);
  return time.quantity(facts_of(StepPart::bubble).key, step.idle).take();
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
                        .quantity("waiting_s", step.waiting)
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

// A part of the step that both the real run and the forecast have.
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

// "  tensor" of "tensor comm": a line below that of all communication.
std::string group_row(StepPart part) {
  const std::string words = facts_of(part).words;
  return "  " + words.substr(0, words.rfind(' '));
}

std::vector<ProfileRow> profile_rows_of(const forecast::StepBreakdown& real,
                                        const forecast::TimeParts& parts) {
  using enum StepPart;
  const auto on = [&](GpuWork kind) { return real.exposed[static_cast<std::size_t>(kind)]; };
  std::vector<ProfileRow> rows{{"computation", on(GpuWork::compute), parts.computation()},
                               {"communication", communication(real), parts.communication()}};
  for (std::size_t i = 0; i < forecast::gpu_works; ++i) {
    const auto kind = static_cast<GpuWork>(i);
    if (const auto part = part_of(kind); part && is_communication(kind))
      rows.push_back({group_row(*part), on(kind), parts[*part]});
  }
  rows.push_back({"copies", on(GpuWork::copy), parts[offload]});
  rows.push_back({"idle", real.idle, parts[bubble] + parts[other]});
  return rows;
}

std::string beside_text(const ProfileReport& report, const forecast::StepBreakdown& real,
                        const TextOptions& options) {
  const auto* expected = report.expected;
  const auto whose = expected ? fmt::format("this rank, of stage {}", expected->stage)
                              : std::string("the rank that ends last");
  std::string text =
      heading("The median step beside the forecast of " + whose + " (exposed times)", options);
  text += fmt::format("  {}  {}  {}  {}\n", left("", 14), right("real", 12), right("forecast", 12),
                      right("off by", 9));
  auto rows = profile_rows_of(real, expected ? expected->exposed : report.forecast->time);
  rows.push_back({"step", real.time, report.forecast->step.time});
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
  if (step.waiting.value > 0)
    text += fmt::format("  in {} of idle a message waits for another rank\n",
                        units::short_text(step.waiting));
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

std::string mismatches_text(const std::vector<forecast::Mismatch>& mismatches,
                            const TextOptions& options) {
  std::string text = heading("The trace is not of this scenario: nothing is compared", options);
  for (const auto& one : mismatches)
    text += wrapped(fmt::format("{}: {} in the trace, {} in the scenario", one.what,
                                printable(one.trace, options.unicode), one.scenario),
                    2, width_of(options));
  return text;
}

Document mismatches_document(const std::vector<forecast::Mismatch>& mismatches) {
  Document list = Document::array();
  for (const auto& one : mismatches)
    list.push_back(Object()
                       .put("what", one.what)
                       .put("trace", one.trace)
                       .put("scenario", one.scenario)
                       .take());
  return list;
}

std::string profile_text(const ProfileReport& report, const TextOptions& options) {
  const auto& step = report.breakdown.steps.at(report.breakdown.typical);
  std::string text = toned(printable(report.file, options.unicode), Tone::strong, options) + '\n';
  if (report.profile.rank)
    text += fmt::format(
        "  rank {}{}\n", *report.profile.rank,
        report.profile.world_size ? fmt::format(" of {}", *report.profile.world_size) : "");
  text += fmt::format("\n  step time   {} (median of {})\n", units::short_text(step.time),
                      report.breakdown.steps.size());
  if (report.breakdown.steps.size() > 1)
    text += wrapped(
        "All but the list of steps and streams is of the median step; tools that take the "
        "whole recording show other shares.",
        2, width_of(options));
  text += breakdown_text(step, options);
  if (!report.mismatches.empty())
    text += mismatches_text(report.mismatches, options);
  else if (report.forecast)
    text += beside_text(report, step, options);
  return text + steps_text(report.breakdown, options) + streams_text(report.breakdown, options);
}

// `rank` is the lowest of those that do the same work.
Document expected_document(const forecast::RankTimes& expected) {
  return Object()
      .put("rank", expected.rank)
      .put("stage", expected.stage)
      .put("time", time_document(expected.exposed))
      .take();
}

std::string profile_json(const ProfileReport& report, std::string_view version) {
  const auto& step = report.breakdown.steps.at(report.breakdown.typical);
  const auto whole = [](std::optional<std::int64_t> value) {
    return value ? Document(*value) : Document();
  };
  return dump(
      Object()
          .put("stepcast", std::string(version))
          .put("file", report.file)
          .put("rank", whole(report.profile.rank))
          .put("world_size", whole(report.profile.world_size))
          .put("step", Object()
                           .quantity("time_s", step.time)
                           .put("name", step.name)
                           .put("median_of", report.breakdown.steps.size())
                           .take())
          .put("time", breakdown_document(step))
          .quantity("communication_s", step.communicating)
          .quantity("hidden_s", step.hidden)
          .quantity("waiting_s", step.waiting)
          .put("steps", steps_document(report.breakdown))
          .put("streams", streams_document(report.breakdown))
          .put("mismatches", mismatches_document(report.mismatches))
          .put("expected", report.expected ? expected_document(*report.expected) : Document())
          .put("against",
               report.forecast && report.mismatches.empty()
                   ? Document::parse(simulate_json(*report.scenario, *report.forecast, version))
                   : Document())
          .take());
}

}  // namespace report
