// SPDX-License-Identifier: Apache-2.0
#include "report/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/document.hpp"
#include "report/terminal.hpp"

namespace report {
namespace {

using forecast::CalibrationSummary;
using forecast::FittedParameter;
using forecast::FittedSet;

std::string figure(double value, const std::string& unit) {
  return fmt::format("{:.3g}", value) + (unit.empty() ? "" : " " + unit);
}

// Returns the prior width of a parameter, one sigma: "x 1.4 either way", "+- 0.1".
std::string known(const FittedParameter& parameter) {
  if (parameter.logarithmic) return fmt::format("x {:.2g} either way", std::exp(parameter.width));
  return fmt::format("+- {:.2g}", parameter.width);
}

std::string error_of(const FittedParameter& parameter) {
  if (parameter.at_bound) return parameter.value <= parameter.low ? "lowest" : "highest";
  return parameter.observations == 0 ? "-" : fmt::format("{:.2g}", parameter.standard_error);
}

std::string parameters_text(const CalibrationSummary& summary, const TextOptions& options) {
  int widest = 20;
  for (const auto& one : summary.parameters) widest = std::max(widest, columns(one.key) + 2);
  std::string text = toned(left("parameter", widest) +
                               "       value  std. error       start  known before       rows",
                           Tone::strong, options) +
                     '\n';
  std::string file;
  for (const auto& one : summary.parameters) {
    if (one.file != file) text += printable(one.file, options.unicode) + '\n';
    file = one.file;
    text += fmt::format("{}{}  {}  {}  {}  {:>6}\n", left("  " + one.key, widest),
                        right(figure(one.value, one.unit), 12), right(error_of(one), 10),
                        right(figure(one.start, one.unit), 10), right(known(one), 16),
                        one.observations);
  }
  return text + '\n';
}

std::string set_line(const std::string& name, int width, const std::string& measure,
                     std::size_t rows, const FittedSet& set) {
  return fmt::format("{}  {}  {:>6}  {}  {}  {}\n", left(fitted(name, width), width),
                     left(measure, 11), rows, right(percent(set.before), 8),
                     right(percent(set.after), 8), right(percent(set.left_out), 8));
}

std::string sets_text(const CalibrationSummary& summary, const TextOptions& options) {
  int widest = 21;
  for (const auto& set : summary.sets) widest = std::max(widest, columns(set.name));
  widest = std::min(widest, std::max(20, width_of(options) - 53));
  std::string text =
      toned(left("data set", widest) + "  what           rows    before    fitted  left out",
            Tone::strong, options) +
      '\n';
  for (const auto& set : summary.sets)
    text +=
        set_line(printable(set.name, options.unicode), widest, set.measure, set.observations, set);
  const FittedSet mean{
      .before = summary.before, .after = summary.after, .left_out = summary.left_out};
  return text + set_line("mean of the data sets", widest, "", summary.observations, mean) + '\n';
}

std::string closing(const CalibrationSummary& summary) {
  std::string text = fmt::format("{} parameters, {} rows in {} groups; {} steps{}\n",
                                 summary.parameters.size(), summary.observations, summary.groups,
                                 summary.steps, summary.converged ? "" : ", not converged");
  if (!summary.note.empty())
    text += summary.note + '\n';
  else if (const auto ratio = summary.ratio())
    text += fmt::format(
        "left out: each group forecast from the others, {:.2f} times the fitted "
        "error\n",
        *ratio);
  for (const auto& file : summary.files) text += "wrote " + file + '\n';
  return text;
}

Document parameter_document(const FittedParameter& one) {
  return Object()
      .put("file", one.file)
      .put("key", one.key)
      .put("unit", one.unit)
      .put("meaning", one.meaning)
      .number("value", one.value)
      .optional("standard_error", one.at_bound ? std::nullopt : std::optional(one.standard_error))
      .number("start", one.start)
      .number("low", one.low)
      .number("high", one.high)
      .number("width", one.width)
      .put("scale", one.logarithmic ? "logarithm" : "unit")
      .put("at_bound", one.at_bound)
      .put("observations", one.observations)
      .take();
}

Document set_document(const FittedSet& set) {
  return Object()
      .put("name", set.name)
      .put("measure", set.measure)
      .put("observations", set.observations)
      .number("before", set.before)
      .number("after", set.after)
      .number("left_out", set.left_out)
      .take();
}

}  // namespace

std::string calibrate_text(const CalibrationSummary& summary, const TextOptions& options) {
  return parameters_text(summary, options) + sets_text(summary, options) + closing(summary);
}

std::string calibrate_json(const CalibrationSummary& summary) {
  Document parameters = Document::array(), sets = Document::array();
  for (const auto& one : summary.parameters) parameters.push_back(parameter_document(one));
  for (const auto& set : summary.sets) sets.push_back(set_document(set));
  return dump(Object()
                  .put("parameters", std::move(parameters))
                  .put("datasets", std::move(sets))
                  .number("before", summary.before)
                  .number("after", summary.after)
                  .number("left_out", summary.left_out)
                  .optional("left_out_over_after", summary.ratio())
                  .put("observations", summary.observations)
                  .put("groups", summary.groups)
                  .put("steps", summary.steps)
                  .put("converged", summary.converged)
                  .put("files", summary.files)
                  .unless_empty("note", summary.note)
                  .take());
}

}  // namespace report
