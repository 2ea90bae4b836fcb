// SPDX-License-Identifier: Apache-2.0
// Pages of answers that are made elsewhere, from the documents that they are written as.
#include <stdexcept>

#include "report/page/page.hpp"
#include "report/page/page_parts.hpp"
#include "report/page/transposed.hpp"

namespace report {
namespace {

Document parsed(std::string_view json, const char* key) {
  auto document = Document::parse(json, nullptr, false);
  if (!document.is_object() || !document.contains(key) || !document[key].is_array())
    throw std::invalid_argument(std::string("expected a JSON object with a list '") + key + "'");
  return document;
}

}  // namespace

std::string sweep_page(std::string_view json) {
  auto document = parsed(json, "points");
  document["points"] = transposed(document["points"]);
  return page_of(Object().put("kind", "sweep").put("sweep", std::move(document)).take());
}

std::string purchase_page(std::string_view json) {
  return page_of(Object().put("kind", "purchase").put("purchase", parsed(json, "options")).take());
}

}  // namespace report
