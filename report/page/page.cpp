// SPDX-License-Identifier: Apache-2.0
#include "report/page/page.hpp"

#include <algorithm>
#include <cstdint>

#include "report/bubbles.hpp"
#include "report/fabric.hpp"
#include "report/json.hpp"
#include "report/page/page_parts.hpp"
#include "report/question_text.hpp"
#include "report/search/search.hpp"
#include "report/search/search_parts.hpp"

namespace report {
namespace {

// Returns advice by cause; `of` returns the advice against a cause.
template <class Of>
Document remedies_document(Of of) {
  Object remedies;
  for (std::size_t i = 0; i < forecast::interval_causes; ++i) {
    const auto cause = static_cast<forecast::IdleCause>(i);
    remedies.put(std::string(to_text(cause)).c_str(), of(cause));
  }
  return remedies.take();
}

// Returns the fabric that joins the nodes; null if there is only one node.
Document machine_document(const topology::Cluster& cluster) {
  if (cluster.nodes() < 2) return nullptr;
  return fabric_plan_document(topology::plan_of(cluster), cluster);
}

// Returns sentences to read first: the correction and the warnings.
std::vector<std::string> notes(const PageRun& run) {
  auto all = run.forecast.warnings;
  if (run.correction != nullptr) all.insert(all.begin(), correction_sentence(*run.correction));
  return all;
}

Document run_document(const PageRun& run, std::string_view version) {
  Beside beside;
  if (run.correction != nullptr) beside.correction = *run.correction;
  beside.run = run.run;
  return Object()
      .put("document", Document::parse(simulate_json(run.scenario, run.forecast, version, beside)))
      .put("plan_words", degrees_words(run.scenario.plan))
      .put("warnings", notes(run))
      .put("remedies", remedies_document([&](forecast::IdleCause cause) {
             return remedy(run.scenario, run.forecast, cause);
           }))
      .put("fabric", machine_document(run.scenario.cluster))
      .put("command", run.command)
      .put("timeline", timeline_document(run.forecast.timeline))
      .take();
}

// The words of simulated steps, which the page takes apart (page_parts.hpp).
std::string pass_words(const ScheduleOperation& operation, bool chunks) {
  const std::string_view words = operation.pass == "F"   ? "forward"
                                 : operation.pass == "B" ? "input gradient"
                                 : operation.pass == "W" ? "weight gradient"
                                                         : "backward";
  return std::string(words) + " m" + std::to_string(operation.microbatch) +
         (chunks ? " c" + std::to_string(operation.chunk) : "");
}

Document run_documents(const std::vector<PageRun>& runs, std::string_view version) {
  Document documents = Document::array();
  for (const auto& run : runs) documents.push_back(run_document(run, version));
  return documents;
}

}  // namespace

std::string page_of(const Document& data) {
  const auto page = page_template();
  const auto marker = page.find(page_marker);
  const auto json = data.dump(-1, ' ', false, Document::error_handler_t::replace);
  std::string text(page.substr(0, marker));
  text.reserve(page.size() + json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  text += page.substr(marker + page_marker.size());
  return text;
}

std::string simulate_page(const std::vector<PageRun>& runs, std::string_view version,
                          const std::vector<Effect>& effects) {
  Object object;
  object.put("kind", "simulate").put("keys", keys_document());
  if (runs.size() == 2)
    object.put("compared", Document::parse(compared_json(runs.front().scenario,
                                                         runs.back().scenario, effects)));
  return page_of(object.put("runs", run_documents(runs, version)).take());
}

namespace {

Document why_list(const search::Outcome& outcome, const search::Why& why) {
  Document list = Document::array();
  for (const auto& [name, words] : why_entries(outcome.question, outcome.answer, why))
    list.push_back(Object().put("name", name).put("words", words).take());
  return list;
}

}  // namespace

std::string search_page(const SearchReport& report, const std::vector<PageRun>& runs,
                        std::string_view version) {
  return page_of(
      Object()
          .put("kind", "search")
          .put("keys", keys_document())
          .put("search", Document::parse(search_json(report, version)))
          .put("why", report.why ? why_list(report.outcome, *report.why) : Document::array())
          .put("runs", run_documents(runs, version))
          .take());
}

std::string schedule_page(const ScheduleReport& schedule) {
  auto timeline = schedule_timeline(schedule);
  const bool chunks = std::ranges::any_of(
      schedule.operations, [](const auto& operation) { return operation.chunk > 0; });
  std::int64_t end = 0;
  for (std::size_t i = 0; i < timeline.slices.size(); ++i) {
    timeline.slices[i].name = pass_words(schedule.operations[i], chunks);
    end = std::max(end, timeline.slices[i].end_ps);
  }
  auto figures = Document::parse(schedule_json(schedule));
  figures.erase("operations");  // they are the timeline
  return page_of(
      Object()
          .put("kind", "schedule")
          .put("name", schedule.name)
          .put("schedule", std::move(figures))
          .number("unit", schedule.makespan > 0 ? static_cast<double>(end) / schedule.makespan : 1)
          .put("remedies", remedies_document(schedule_remedy))
          .put("timeline", timeline_document(timeline))
          .take());
}

}  // namespace report
