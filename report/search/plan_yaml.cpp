// SPDX-License-Identifier: Apache-2.0
#include "report/search/plan_yaml.hpp"

#include <cstddef>

#include "report/document.hpp"
#include "report/terminal.hpp"

namespace report {
namespace {

// Returns the value in YAML's flow style. The words of a plan need no quotes.
std::string flow(const Document& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, inner] : value.items())
    text += (text.empty() ? "" : ", ") + (value.is_object() ? key + ": " : "") + flow(inner);
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// "key: [a, b," and further lines, broken between items at `width` columns.
std::string flow_lines(const std::string& key, const Document& items, int width) {
  std::string text, line = "  " + key + ": [";
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto item = flow(items[i]) + (i + 1 < items.size() ? "," : "]");
    if (i > 0 && columns(line) + 1 + columns(item) > width) {
      text += line + '\n';
      line = "    ";
    } else if (i > 0) {
      line += ' ';
    }
    line += item;
  }
  return text + line + '\n';
}

// Maps, a line each.
std::string block_lines(const std::string& key, const Document& items) {
  std::string text = "  " + key + ":\n";
  for (const auto& item : items) text += "    - " + flow(item) + '\n';
  return text;
}

}  // namespace

std::string plan_yaml(const strategies::Plan& plan, int width) {
  const auto document = short_plan_document(plan);
  std::string text = "plan:\n";
  for (const auto& [key, value] : document.items()) {
    if (key == "layers")
      text += block_lines(key, value);
    else if (value.is_array())
      text += flow_lines(key, value, width);
    else
      text += "  " + key + ": " + flow(value) + '\n';
  }
  return text;
}

}  // namespace report
