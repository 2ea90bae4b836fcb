// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/alerts.hpp"
#include "report/correction_parts.hpp"
#include "report/document.hpp"
#include "report/sweep/kept.hpp"
#include "report/sweep/sweep.hpp"

namespace report {
namespace {

using search::Figure;

std::string line(const Document& document) {
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

std::string figure_text(const Figure& figure, double value) {
  if (figure.kind == Figure::Kind::truth) return value != 0 ? "true" : "false";
  return figure.kind == Figure::Kind::whole ? fmt::format("{:.0f}", value)
                                            : fmt::format("{}", value);
}

// Returns the text as a cell of CSV, quoted if it has a comma, a quote or a line end.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// A JSON value as people write it in a cell: text without its quotes.
std::string plain_text(const std::string& json) {
  return json.starts_with('"') ? Document::parse(json).get<std::string>() : json;
}

// Returns the stored answer of a point if the report has more of it than figures; else an empty
// object.
Document result_of(const SweepFacts& facts, const SweepRow& row) {
  const bool asked = facts.alerts || facts.corrected || facts.mode == "search";
  return asked && !row.result.empty() ? Document::parse(row.result) : Document::object();
}

Document counts_document(const SweepSummary& summary) {
  Document counts = Document::object();
  std::int64_t done = 0;
  for (const auto& [status, count] : summary.counts) {
    counts[status] = count;
    done += count;
  }
  return Object()
      .put("points", summary.all)
      .put("done", done)
      .put("missing", summary.all - done)
      .put("status", std::move(counts))
      .take();
}

Document point_document(const SweepSummary& summary, const SweepRow& row) {
  Object object;
  object.put("id", row.id);
  Document axes = Document::object();
  for (std::size_t i = 0; i < row.axes.size(); ++i)
    axes[summary.axis_names[i]] = Document::parse(row.axes[i]);
  object.put("axes", std::move(axes));
  for (std::size_t i = 0; i < row.figures.size(); ++i) {
    const auto& figure = search::figures()[i];
    object.put(std::string(figure.name).c_str(),
               Document::parse(figure_text(figure, row.figures[i])));
  }
  return object.take();
}

Document best_document(const SweepSummary& summary, const std::optional<SweepRow>& row) {
  if (!row) return nullptr;
  return of_kept(*row, [&] { return point_document(summary, *row); });
}

// {"words": [sentences], "reasons": [{"status", "example", "points"}]}.
Document nothing_ok_document(const NothingOk& why, const std::vector<std::string>& axis_names) {
  Document reasons = Document::array();
  for (const auto& [status, example, points] : why.reasons)
    reasons.push_back(
        Object().put("status", status).put("example", example).put("points", points).take());
  return Object()
      .put("words", nothing_ok_words(why, axis_names))
      .put("reasons", std::move(reasons))
      .take();
}

// Returns the members that follow the figures of a row.
std::string json_extras(const SweepFacts& facts, const SweepRow& row) {
  const auto result = result_of(facts, row);
  std::string text;
  if (facts.alerts) text += ", \"alerts\": " + line(result.value("alerts", Document()));
  if (facts.mode == "search")
    for (const char* key : {"plan", "gap"})
      text += fmt::format(", \"{}\": {}", key, line(result.value(key, Document())));
  if (facts.corrected) text += ", \"correction\": " + line(result.value("correction", Document()));
  return text;
}

std::string csv_extras(const SweepFacts& facts, const SweepRow& row) {
  const auto result = result_of(facts, row);
  std::string text;
  if (facts.alerts) text += "," + cell(result.value("alerts", ""));
  if (facts.corrected)
    text += "," + (result.contains("correction") ? line(result["correction"].at("factor")) : "");
  if (facts.mode == "search")
    for (const char* key : {"plan", "gap"})
      text += "," + (result.contains(key) ? cell(line(result[key])) : std::string());
  return text;
}

std::string csv_axes(const SweepRow& row) {
  std::string text;
  for (const auto& value : row.axes) text += "," + cell(plain_text(value));
  return text;
}

}  // namespace

std::string point_json(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                       const strategies::Plan* plan, const forecast::Correction* correction,
                       std::optional<double> gap) {
  Object object;
  if (plan != nullptr) object.put("plan", short_plan_document(*plan));
  if (gap) object.number("gap", *gap);
  if (correction != nullptr) object.put("correction", correction_document(*correction));
  if (!scenario.alerts.empty()) {
    std::string names;
    for (const auto& name : forecast::raised_in(forecast::alerts_of(scenario, forecast)))
      names += (names.empty() ? "" : ";") + name;
    object.put("alerts", names);
  }
  const auto& memory = forecast.memory;
  return line(object.quantity("model_flops", forecast.step.model_flops)
                  .put("tokens", forecast.step.tokens)
                  .quantity("capacity_bytes", memory.capacity)
                  .quantity("peak_allocated_bytes", memory.peak_allocated)
                  .quantity("peak_reserved_bytes", memory.peak_reserved)
                  .put("peak_stage", memory.peak_stage)
                  .quantity("host_bytes", memory.host)
                  .quantity("nvme_bytes", memory.nvme)
                  .put("critical_path", parts_document(forecast.critical_path))
                  .put("warnings", forecast.warnings)
                  .take());
}

std::string scenario_line(const forecast::Scenario& scenario) {
  return line(scenario_document(scenario));
}

std::string sweep_json_begin(const SweepFacts& facts) {
  std::string text = "{\n  \"stepcast\": " + json_string(facts.version) +
                     ",\n  \"sweep\": {\n    \"name\": " + json_string(facts.name) +
                     ",\n    \"mode\": " + json_string(facts.mode) + ",\n    \"axes\": [";
  bool first = true;
  for (const auto& axis : facts.axes) {
    text += std::string(first ? "" : ",") + "\n      {\"name\": " + json_string(axis.name) +
            ", \"values\": [";
    first = false;
    for (std::size_t i = 0; i < axis.values.size(); ++i)
      text += (i == 0 ? "" : ", ") + axis.values[i];
    text += "]}";
  }
  return text + "\n    ]\n  },\n  \"points\": [";
}

std::string sweep_json_row(const SweepFacts& facts, const SweepRow& row, bool first) {
  std::string text =
      std::string(first ? "" : ",") + "\n    {\"id\": " + json_string(row.id) + ", \"axes\": {";
  for (std::size_t i = 0; i < row.axes.size(); ++i)
    text += (i == 0 ? "" : ", ") + json_string(facts.axes[i].name) + ": " + row.axes[i];
  text += "}, \"status\": " + json_string(row.status) +
          ", \"reason\": " + (row.reason.empty() ? "null" : json_string(row.reason));
  const auto figures = search::figures();
  for (std::size_t i = 0; i < figures.size(); ++i)
    text += fmt::format(", \"{}\": {}", figures[i].name,
                        row.figures.empty() ? "null" : figure_text(figures[i], row.figures[i]));
  return text + of_kept(row, [&] { return json_extras(facts, row); }) + "}";
}

std::string sweep_json_end(const std::optional<NothingOk>& nothing_ok,
                           const std::vector<std::string>& axis_names, bool interrupted) {
  std::string text = "\n  ]";
  if (interrupted) text += ",\n  \"interrupted\": true";
  if (nothing_ok)
    text += ",\n  \"nothing_ok\": " + line(nothing_ok_document(*nothing_ok, axis_names));
  return text + "\n}\n";
}

std::string sweep_csv_header(const SweepFacts& facts) {
  std::string text = "id";
  for (const auto& axis : facts.axes) text += "," + cell(axis.name);
  text += ",status,reason";
  for (const auto& figure : search::figures()) text += "," + std::string(figure.name);
  if (facts.alerts) text += ",alerts";
  if (facts.corrected) text += ",correction_factor";
  return text + (facts.mode == "search" ? ",plan,gap\n" : "\n");
}

std::string sweep_csv_row(const SweepFacts& facts, const SweepRow& row) {
  auto text = row.id + of_kept(row, [&] { return csv_axes(row); });
  text += "," + row.status + "," + cell(row.reason);
  const auto figures = search::figures();
  for (std::size_t i = 0; i < figures.size(); ++i)
    text += "," + (row.figures.empty() ? std::string() : figure_text(figures[i], row.figures[i]));
  return text + of_kept(row, [&] { return csv_extras(facts, row); }) + "\n";
}

std::string sweep_summary_json(const SweepSummary& summary, std::string_view version) {
  return dump(Object()
                  .put("stepcast", std::string(version))
                  .put("name", summary.name)
                  .put("mode", summary.mode)
                  .put("counts", counts_document(summary))
                  .put("fastest", best_document(summary, summary.fastest))
                  .put("most_tokens_per_gpu", best_document(summary, summary.thriftiest))
                  .put("nothing_ok", summary.nothing_ok ? nothing_ok_document(*summary.nothing_ok,
                                                                              summary.axis_names)
                                                        : Document(nullptr))
                  .take());
}

std::string place_words(const std::vector<std::string>& names,
                        const std::vector<std::string>& axes) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += (i == 0 ? "" : ", ") + names[i] + " " + plain_text(axes[i]);
  return text;
}

}  // namespace report
