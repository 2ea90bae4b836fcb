// SPDX-License-Identifier: Apache-2.0
#include "report/page/transposed.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/page/columns.hpp"

namespace report {
namespace {

std::string text_of(const Document& value) {
  return value.dump(-1, ' ', false, Document::error_handler_t::replace);
}

// Returns the values one after the other, or each distinct value once and the order in which they
// come.
Document column_of(Document values) {
  std::unordered_map<std::string, std::uint64_t> known;  // looked up, never walked
  Document distinct = Document::array();
  std::vector<std::uint64_t> index;
  std::size_t plain = 0, once = 0;  // characters
  for (const auto& value : values) {
    auto text = text_of(value);
    plain += text.size() + 1;
    const auto length = text.size() + 1;
    const auto [found, fresh] = known.try_emplace(std::move(text), known.size());
    if (fresh) {
      once += length;
      distinct.push_back(value);
    }
    index.push_back(found->second);
  }
  auto which = index_document(index);
  if (once + which.dump().size() >= plain) return values;
  return Object().put("distinct", std::move(distinct)).put("index", std::move(which)).take();
}

bool holds_objects(const Document& values) {
  return std::ranges::any_of(values, [](const Document& value) { return value.is_object(); }) &&
         std::ranges::all_of(
             values, [](const Document& value) { return value.is_object() || value.is_null(); });
}

}  // namespace

Document transposed(const Document& rows) {
  Document all = Document::object();  // by key, in order of appearance
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_object()) continue;
    for (const auto& [key, value] : rows[i].items()) {
      auto& values = all[key];
      if (values.is_null()) values = Document::array();
      while (values.size() < i) values.push_back(nullptr);
      values.push_back(value);
    }
  }
  Object columns;
  for (auto& [key, values] : all.items()) {
    while (values.size() < rows.size()) values.push_back(nullptr);
    columns.put(key.c_str(),
                holds_objects(values) ? transposed(values) : column_of(std::move(values)));
  }
  return Object().put("rows", rows.size()).put("columns", columns.take()).take();
}

}  // namespace report
