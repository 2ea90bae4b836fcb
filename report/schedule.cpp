// SPDX-License-Identifier: Apache-2.0
#include "report/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "report/document.hpp"
#include "report/picture.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

constexpr int most_stages = 32;

double finite(const char* key, double value) {
  if (!std::isfinite(value)) throw std::domain_error(std::string(key) + " is not finite");
  return value;
}

// Adds to `text` an array with one element per line; small objects are readable that way, and so
// are diffs. There may be millions of elements: each is written where it stays.
template <class Element, class Write>
void add_lines(std::string& text, const std::vector<Element>& elements, Write write) {
  text += "[";
  const char* separator = "\n    ";
  for (const Element& element : elements) {
    text += separator;
    write(text, element);
    separator = ",\n    ";
  }
  text += elements.empty() ? "]" : "\n  ]";
}

void add_stage(std::string& text, const ScheduleStage& stage) {
  fmt::format_to(std::back_inserter(text),
                 R"({{"work": {}, "idle": {}, "peak_in_flight": {}, "in_flight_vectors": {}}})",
                 finite("work", stage.work), finite("idle", stage.idle),
                 finite("peak_in_flight", stage.peak_in_flight),
                 Document(stage.in_flight_vectors).dump());
}

void add_operation(std::string& text, const ScheduleOperation& operation) {
  fmt::format_to(
      std::back_inserter(text),
      R"({{"stage": {}, "chunk": {}, "microbatch": {}, "pass": {}, "start": {}, "end": {}}})",
      operation.stage, operation.chunk, operation.microbatch, json_string(operation.pass),
      finite("start", operation.start), finite("end", operation.end));
}

Shade shade_of_pass(const std::string& pass) {
  if (pass == "F") return Shade::forward;
  if (pass == "B" || pass == "BW") return Shade::backward;
  return pass == "W" ? Shade::weight : Shade::other;
}

const char* pass_kind_of(const std::string& pass) {
  if (pass == "F") return "forward";
  if (pass == "B") return "backward_input";
  return pass == "W" ? "backward_weight" : "backward";
}

double first_start(const ScheduleReport& schedule) {
  double first = std::numeric_limits<double>::infinity();
  for (const auto& operation : schedule.operations) first = std::min(first, operation.start);
  return schedule.operations.empty() ? 0.0 : first;
}

double last_end(const ScheduleReport& schedule) {
  double last = 0;
  for (const auto& operation : schedule.operations) last = std::max(last, operation.end);
  return last;
}

// Returns awaited work with the times of the picture; `at` converts a time.
template <class At>
forecast::Awaited drawn(forecast::Awaited awaited, const At& at) {
  awaited.start_ps = at(awaited.start_ps);
  awaited.end_ps = at(awaited.end_ps);
  return awaited;
}

// Returns an idle interval with the times of the picture. Each cause begins where the one before it
// ends, so that rounded causes still sum to the interval.
template <class At>
forecast::Idle drawn(forecast::Idle idle, const At& at) {
  auto from = idle.start_ps;
  for (auto& share : idle.by_cause) {
    const auto until = from + share;
    share = at(until) - at(from);
    from = until;
  }
  idle.start_ps = at(idle.start_ps);
  idle.end_ps = at(idle.end_ps);
  for (auto& link : idle.chain) link = drawn(std::move(link), at);
  return idle;
}

bool has_chunks(const ScheduleReport& schedule) {
  return std::ranges::any_of(schedule.operations, [](const auto& each) { return each.chunk > 0; });
}

// Each of two passes that run together is drawn in its half of their time.
std::vector<PictureRow> rows_of(const ScheduleReport& schedule) {
  const bool chunks = has_chunks(schedule);
  std::vector<PictureRow> rows(schedule.stages.size());
  for (std::size_t stage = 0; stage < rows.size(); ++stage)
    rows[stage].title = fmt::format("stage {}", stage);
  bool second = false;
  for (const auto& operation : schedule.operations) {
    const char letter = operation.pass.empty() ? '?' : operation.pass.front();
    const double middle = (operation.start + operation.end) / 2;
    rows.at(static_cast<std::size_t>(operation.stage))
        .marks.push_back({second ? middle : operation.start,
                          operation.paired ? middle : operation.end, shade_of_pass(operation.pass),
                          pass_label(letter, operation.microbatch, operation.chunk, chunks)});
    second = operation.paired;
  }
  return rows;
}

std::string stage_table(const ScheduleReport& schedule, const std::vector<int>& shown) {
  std::string text = "\n  stage          work          idle    idle share    peak in flight\n";
  for (const int number : shown) {
    const auto& stage = schedule.stages[static_cast<std::size_t>(number)];
    const double share = schedule.makespan > 0 ? 1 - stage.work / schedule.makespan : 0.0;
    text += fmt::format("  {:>5}  {:>12.6g}  {:>12.6g}  {:>12}  {:>16.4g}\n", number, stage.work,
                        stage.idle, percent(share), stage.peak_in_flight);
  }
  return text;
}

}  // namespace

std::string schedule_json(const ScheduleReport& schedule) {
  auto text = fmt::format(
      "{{\n  \"makespan\": {},\n  \"span\": {},\n  \"bubble_fraction\": {},\n"
      "  \"bubble_fraction_max_stage\": {},\n  \"stages\": ",
      finite("makespan", schedule.makespan), finite("span", schedule.span),
      finite("bubble_fraction", schedule.bubble_fraction),
      finite("bubble_fraction_max_stage", schedule.bubble_fraction_max_stage));
  constexpr std::size_t usual_line = 100;
  text.reserve(text.size() + usual_line * (schedule.stages.size() + schedule.operations.size()));
  add_lines(text, schedule.stages, add_stage);
  text += ",\n  \"operations\": ";
  add_lines(text, schedule.operations, add_operation);
  text += "\n}\n";
  return text;
}

std::string schedule_text(const ScheduleReport& schedule, const TextOptions& options) {
  const int count = static_cast<int>(schedule.stages.size());
  const auto shown = spread(count, most_stages);
  const std::string title =
      fmt::format("{}{} stages, {} operations",
                  schedule.name.empty() ? "" : printable(schedule.name, options.unicode) + ": ",
                  count, schedule.operations.size());
  std::string text = toned(title, Tone::strong, options) + '\n';
  text +=
      schedule.in_seconds
          ? fmt::format("  makespan {}, longest stage's own span {}\n",
                        units::short_text(units::Seconds{schedule.makespan}),
                        units::short_text(units::Seconds{schedule.span}))
          : fmt::format("  makespan {:.6g}, longest stage's own span {:.6g} (in the unit given)\n",
                        schedule.makespan, schedule.span);
  text +=
      fmt::format("  bubble {} of the mean stage, {} of the busiest\n\n",
                  percent(schedule.bubble_fraction), percent(schedule.bubble_fraction_max_stage));
  auto all = rows_of(schedule);
  std::vector<PictureRow> rows;
  for (const int number : shown) rows.push_back(std::move(all[static_cast<std::size_t>(number)]));
  text += picture(rows, first_start(schedule), last_end(schedule), options);
  text += stage_table(schedule, shown);
  if (count > most_stages)
    text += fmt::format("  ({} of {} stages are shown)\n", most_stages, count);
  return text;
}

forecast::Timeline schedule_timeline(const ScheduleReport& schedule) {
  const double first = first_start(schedule);
  double unit = 1e12;  // picoseconds
  for (int i = 0; i < 3 && (last_end(schedule) - first) * unit > 4e18; ++i) unit /= 1000;
  if ((last_end(schedule) - first) * unit > 4e18)
    throw std::domain_error("the schedule is too long for a trace");
  const bool chunks = has_chunks(schedule);
  const auto at = [&](double time) { return std::llround((time - first) * unit); };
  forecast::Timeline timeline;
  timeline.slices.reserve(schedule.operations.size());
  for (const auto& operation : schedule.operations)
    timeline.slices.push_back(
        {.stage = operation.stage,
         .rank = operation.stage,
         .lane = "compute",
         .name = pass_label(operation.pass.empty() ? '?' : operation.pass.front(),
                            operation.microbatch, operation.chunk, chunks),
         .kind = pass_kind_of(operation.pass),
         .microbatch = operation.microbatch,
         .chunk = operation.chunk,
         .start_ps = at(operation.start),
         .end_ps = at(operation.end)});
  // Operations have the times of their ticks, so both meet to the picosecond.
  const auto at_tick = [&](std::int64_t ticks) {
    return at(static_cast<double>(ticks) / schedule.ticks);
  };
  for (auto idle : schedule.waits.idle) timeline.idle.push_back(drawn(std::move(idle), at_tick));
  for (auto part : schedule.waits.critical_path)
    timeline.critical_path.push_back(drawn(std::move(part), at_tick));
  return timeline;
}

}  // namespace report
