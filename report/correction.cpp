// SPDX-License-Identifier: Apache-2.0
#include "report/correction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/correction_parts.hpp"
#include "report/job.hpp"
#include "report/run.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using forecast::Carried;
using forecast::Correction;

constexpr std::size_t most_rows = 6;
constexpr double felt = 0.005;  // weights below round to nothing

double measured_error(const MeasuredHere& measured, const forecast::Forecast& forecast) {
  return forecast.step.time / measured.step.measured - 1;
}

bool is_inside(const MeasuredHere& measured, const forecast::Forecast& forecast) {
  const auto& step = forecast.step;
  return measured.step.measured >= step.time_low && measured.step.measured <= step.time_high;
}

double factor_of(const forecast::MeasuredStep& step) { return step.measured / step.forecast; }

std::string steps_words(std::size_t number) {
  return fmt::format("{} measured step{}", number, number == 1 ? "" : "s");
}

// Three decimals, of large factors fewer, so that a gap stays before it in a column.
std::string factor_words(double factor) {
  if (factor < 100) return fmt::format("{:.3f}", factor);
  return factor < 1e6 ? fmt::format("{:.0f}", factor) : fmt::format("{:.1e}", factor);
}

// The width of an interval as high / low - 1; `logarithm`: of high / low.
double ratio_width(double logarithm) { return std::exp(logarithm) - 1; }
std::string width_words(double logarithm) { return percent(ratio_width(logarithm)); }

std::string weights_text(const Correction& correction, const TextOptions& options) {
  const int name_width = std::max(12, width_of(options) - 62);
  std::string text = fmt::format("{}{}{}{}{}{}{}\n", std::string(14, ' '), left("from", name_width),
                                 right("measured", 10), right("forecast", 10), right("factor", 8),
                                 right("alike", 8), right("weight", 8));
  std::size_t shown = 0;
  for (const auto& one : correction.from) {
    if (shown == most_rows) break;
    ++shown;
    text += fmt::format(
        "{}{}{}{}{}{}{}\n", std::string(14, ' '),
        left(fitted(printable(one.name, options.unicode), name_width - 1), name_width),
        right(units::short_text(one.measured), 10), right(units::short_text(one.forecast), 10),
        right(factor_words(one.measured / one.forecast), 8),
        right(fmt::format("{:.2f}", one.correlation), 8),
        right(fmt::format("{:.2f}", one.weight), 8));
  }
  if (correction.from.size() > shown)
    text +=
        item("", fmt::format("({} with less weight are not shown)", correction.from.size() - shown),
             options);
  return text;
}

// Each line four columns to the right.
std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const auto end = std::min(lines.find('\n', at), lines.size());
    text += (end > at ? "    " : "") + lines.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return text;
}

// Returns an entry for a file of corrections. A scenario without a file stands in it whole. Values
// of --set are YAML scalars and stand there as they were given; names of files are quoted.
std::string entry_yaml(const MeasuredHere& measured) {
  std::string text = "- scenario: " + json_string(measured.file) + "\n";
  if (!measured.text.empty()) text = "- scenario:\n" + indented(measured.text);
  if (!measured.sets.empty()) text += "  set:\n";
  for (const auto& set : measured.sets) {
    const auto equals = set.find('=');
    text += "    " + set.substr(0, equals) + ": " +
            (equals == std::string::npos ? "" : set.substr(equals + 1)) + "\n";
  }
  return text + fmt::format("  measured: {:.6g} s\n", measured.step.measured.value);
}

std::string measured_text(const MeasuredHere& measured, const forecast::Forecast& forecast,
                          const TextOptions& options) {
  const double factor = factor_of(measured.step);
  std::string text = heading("Your measured step", options);
  text += item("measured",
               fmt::format("{}: the forecast is {} off, and it lies {} the 80 % interval",
                           units::short_text(measured.step.measured),
                           signed_percent(measured_error(measured, forecast)),
                           is_inside(measured, forecast) ? "inside" : "outside"),
               options);
  text += item("factor", fmt::format("{:.3f} (measured / simulated)", factor), options);
  const double off = forecast::deviations(measured.step);
  if (std::abs(off) > forecast::suspicious_deviations)
    text += item("!",
                 fmt::format("that is {:.1f} standard deviations of what such forecasts are off "
                             "by: see whether the scenario describes what ran (batch, precision, "
                             "attention kernel, recomputation), and whether the step was a usual "
                             "one, before you correct by it",
                             std::abs(off)),
                 options);
  // A step faster than forecast has no losses to name.
  if (!is_inside(measured, forecast) && measured.step.measured > forecast.step.time)
    text +=
        item("why",
             fmt::format("stepcast explain {} --measured {:.6g}s [--trace FOLDER] names what may "
                         "have made the difference",
                         printable(measured.file, options.unicode), measured.step.measured.value),
             options);
  text += heading("To correct forecasts like this one: --corrections FILE, which has", options);
  std::string lines = entry_yaml(measured);
  for (std::size_t at = 0; at < lines.size();) {
    const auto end = lines.find('\n', at);
    text += "  " + printable(lines.substr(at, end - at), options.unicode) + '\n';
    at = end + 1;
  }
  text += wrapped("(its folder is where the path starts)", 2, width_of(options));
  return text;
}

}  // namespace

std::string correction_sentence(const Correction& correction) {
  return fmt::format("times are corrected by {:.3f}, from {} as simulated, by {}",
                     correction.factor, units::short_text(correction.simulated),
                     steps_words(correction.from.size()));
}

std::string correction_text(const Correction& correction, bool common, const TextOptions& options) {
  if (std::ranges::none_of(correction.from,
                           [](const Carried& one) { return std::abs(one.weight) >= felt; }))
    return item("corrected",
                fmt::format("by nothing: none of {} is like this scenario",
                            steps_words(correction.from.size())),
                options);
  double weight = 0;
  for (const auto& one : correction.from) weight += one.weight;
  std::string text = item(
      "corrected",
      fmt::format("by {:.3f} (80 %: {:.3f} to {:.3f}), from {} simulated; the interval is {} wide, "
                  "without correction {}",
                  correction.factor, correction.low, correction.high,
                  units::short_text(correction.simulated), width_words(correction.width),
                  width_words(correction.width_before)),
      options);
  text += weights_text(correction, options);
  text += item("",
               fmt::format("weight: the power of its factor that goes into the correction; they "
                           "sum to {:.2f}, and the rest stays with the simulation. All times here "
                           "are multiplied by it; shares, memory and loads are as simulated",
                           weight),
               options);
  if (correction.contradiction >= felt)
    text += item("!",
                 fmt::format("measured steps contradict each other by more than noise and the "
                             "difference of their scenarios explain: that adds a standard "
                             "deviation of {} to the interval",
                             percent(correction.contradiction)),
                 options);
  if (common)
    text += item("",
                 "it is the best plan's, and the same for all plans here: it changes neither their "
                 "order nor the gap that is proved, which are of simulated times",
                 options);
  return text;
}

Document correction_document(const Correction& correction) {
  Document from = Document::array();
  for (const auto& one : correction.from)
    from.push_back(Object()
                       .put("name", one.name)
                       .quantity("measured_s", one.measured)
                       .quantity("simulated_s", one.forecast)
                       .number("factor", one.measured / one.forecast)
                       .number("correlation", one.correlation)
                       .number("weight", one.weight)
                       .take());
  return Object()
      .number("factor", correction.factor)
      .number("low", correction.low)
      .number("high", correction.high)
      .number("width", ratio_width(correction.width))
      .number("width_without", ratio_width(correction.width_before))
      .number("contradiction", correction.contradiction)
      .quantity("simulated_step_time_s", correction.simulated)
      .put("from", std::move(from))
      .take();
}

Document measured_document(const MeasuredHere& measured, const forecast::Forecast& forecast) {
  return Object()
      .quantity("time_s", measured.step.measured)
      .number("error", measured_error(measured, forecast))
      .put("inside_interval", is_inside(measured, forecast))
      .number("factor", factor_of(measured.step))
      .number("deviations", forecast::deviations(measured.step))
      .put("entry", entry_yaml(measured))
      .take();
}

std::string searched_words(const PlanSearched& how) {
  const auto found =
      fmt::format("found by a search among {} choices of degrees", grouped_count(how.enumerated));
  const std::string stopped = how.interrupted ? ", which was stopped early" : "";
  const auto proved = how.gap >= 1 ? std::string("nothing is proved of it")
                      : how.gap > 0
                          ? fmt::format("none is faster by more than {}", percent_at_most(how.gap))
                          : std::string("none is faster");
  return found + stopped + ": " + proved + "; stepcast search shows others, and why";
}

std::string simulate_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                          const TextOptions& options, const Beside& beside) {
  std::string text = head_text(scenario, forecast, options) + run_text(beside.run, options);
  if (beside.searched) text += item("plan", searched_words(*beside.searched), options);
  if (beside.correction) text += correction_text(*beside.correction, false, options);
  if (beside.measured) text += measured_text(*beside.measured, forecast, options);
  text += body_text(scenario, forecast, options);
  return beside.job ? text + job_text(*beside.job, options) : text;
}

}  // namespace report
