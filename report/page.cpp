// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include "report/json.hpp"
#include "report/page_parts.hpp"
#include "report/question_text.hpp"

namespace report {
namespace {

Document run_document(const PageRun& run, std::string_view version) {
  return Object()
      .put("document", Document::parse(simulate_json(run.scenario, run.forecast, version)))
      .put("plan_words", degrees_words(run.scenario.plan))
      .put("warnings", run.forecast.warnings)
      .put("timeline", timeline_document(run.forecast.timeline))
      .take();
}

// The template with its data: JSON in which no '<' is left, so that no name in it can end the
// element that holds it.
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

}  // namespace

std::string simulate_page(const std::vector<PageRun>& runs, std::string_view version) {
  Document documents = Document::array();
  for (const auto& run : runs) documents.push_back(run_document(run, version));
  return page_of(Object().put("kind", "simulate").put("runs", std::move(documents)).take());
}

}  // namespace report
