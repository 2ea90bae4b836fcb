// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_edit.hpp"

#include <algorithm>

#include "report/launch/text_lines.hpp"
#include "scenarios/documents/toml.hpp"
#include "scenarios/jobs/deepspeed.hpp"

namespace report {
namespace {

using scenarios::Value;

// Returns the offset of a line and column.
std::size_t offset_of(std::string_view text, int line, int column) {
  std::size_t at = 0;
  for (int i = 1; i < line; ++i) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at + static_cast<std::size_t>(column) - 1;
}

// Returns the end of the value at `begin`: behind its closing bracket or quote, or where a scalar
// ends.
std::size_t value_end(std::string_view text, std::size_t begin) {
  if (begin >= text.size()) return text.size();
  for (const std::string_view lines : {"\"\"\"", "'''"})  // of TOML
    if (text.substr(begin).starts_with(lines)) {
      const auto close = text.find(lines, begin + lines.size());
      return close == text.npos ? text.size() : close + lines.size();
    }
  if (text[begin] == '"' || text[begin] == '\'') {
    auto end = begin + 1;
    while (end < text.size() && text[end] != text[begin]) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  if (text[begin] == '[' || text[begin] == '{') {
    int depth = 0;
    for (auto at = begin; at < text.size(); ++at) {
      depth += text[at] == '[' || text[at] == '{';
      depth -= text[at] == ']' || text[at] == '}';
      if (depth == 0) return at + 1;
    }
    return text.size();
  }
  auto end = std::min(text.find_first_of(",}]\n#", begin), text.size());
  while (end > begin && (blanks.find(text[end - 1]) != blanks.npos || text[end - 1] == '\r')) --end;
  return end;
}

struct Located {
  const Value* value = nullptr;
  const Value* section = nullptr;  // that it is in
  const Value* key = nullptr;
  const Value* section_key = nullptr;
};

Located locate(const Value& document, std::string_view path) {
  Located found{&document, nullptr, nullptr, nullptr};
  while (!path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    const auto name = path.substr(0, dot);
    found.section = found.value;
    found.section_key = found.key;
    found.value = found.key = nullptr;
    for (const auto& member : found.section->members)
      if (member.key.text == name) found.key = &member.key, found.value = &member.value;
    if (found.value == nullptr) {  // not there; the section is only if this was the last step
      if (dot < path.size()) found.section = nullptr;
      return found;
    }
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return found;
}

// The functions by which a format of files writes a new key, and a section that is not there.
struct Style {
  Value (*parse)(std::string_view text);
  std::string (*line)(const std::string& key, const std::string& value);
  void (*open)(std::string& text, const std::string& section, const std::string& line);
  const char* indent;  // of a key in a section whose name has a line of its own
  bool dotted;         // a section inside of another has a name with a dot
};

// Returns the offset of the value as it is written: behind an anchor of YAML, which keeps its name;
// of an alias, "*name", and not of what it stands for.
std::size_t begin_of(std::string_view text, const Located& at) {
  auto begin = offset_of(text, at.value->line, at.value->column);
  const auto key = offset_of(text, at.key->line, at.key->column);
  const auto end = std::min(key + at.key->text.size(), text.size());
  const auto beside = std::min(text.find_first_not_of("\"': \t", end), text.size());
  if (beside < text.size() && text[beside] == '*') return beside;
  if (begin < text.size() && text[begin] == '&') {
    begin = std::min(text.find_first_of(" \t\n", begin), text.size());
    begin = std::min(text.find_first_not_of(" \t\n", begin), text.size());
  }
  return begin;
}

void set_value(std::string& text, const Located& at, const std::string& to) {
  const auto begin = begin_of(text, at);
  const auto end = value_end(text, begin);
  if (text.substr(begin, end - begin) != to) text.replace(begin, end - begin, to);
}

// Takes out a key that shares its line with others, and one comma.
void take_beside(std::string& text, std::size_t begin, std::size_t end) {
  const auto next = std::min(text.find_first_not_of(blanks, end), text.size());
  if (next < text.size() && text[next] == ',') {
    end = std::min(text.find_first_not_of(blanks, next + 1), text.size());
  } else if (const auto before = text.find_last_not_of(" \t\r\n", begin - 1);
             before != text.npos && text[before] == ',') {
    begin = before;
  }
  text.erase(begin, end - begin);
}

void take_key(std::string& text, const Located& at) {
  const auto key = offset_of(text, at.key->line, at.key->column);
  const auto begin = line_begin(text, key);
  auto end = value_end(text, std::max(begin_of(text, at), key));
  const auto rest = std::min(text.find_first_not_of(" \t\r,", end), text.size());
  const bool first = text.find_first_not_of(blanks, begin) == key;
  if (!first ||
      (rest < text.size() && text[rest] != '\n' && text[rest] != '#' && text[rest] != '/'))
    return take_beside(text, key, end);
  if (end < text.size() && text[end] == ',') ++end;
  const bool last = &at.section->members.back().key == at.key && text[end - 1] != ',';
  text.erase(begin, std::min(line_end(text, end) + 1, text.size()) - begin);
  if (!last || begin == 0) return;
  const auto comma = text.find_last_not_of(" \t\r\n", begin - 1);  // of JSON's key before
  if (comma != text.npos && text[comma] == ',') text.erase(comma, 1);
}

// Returns the end of the line where it has nothing but a comment of JSON from `at` on, else `at`.
std::size_t behind_comment(std::string_view text, std::size_t at) {
  auto end = line_end(text, at);
  if (end > at && text[end - 1] == '\r') --end;
  const auto next = text.find_first_not_of(blanks, at);
  return next < end && text.substr(next).starts_with("//") ? end : at;
}

// Puts the first key into a section: into its brackets, or below the line with its name.
void fill(std::string& text, const Located& at, std::string line, const Style& style) {
  const auto value = offset_of(text, at.section->line, at.section->column);
  const auto name = offset_of(text, at.section_key->line, at.section_key->column);
  if (value > name && value < text.size() && text[value] == '{') {
    if (line.ends_with(',')) line.pop_back();
    text.insert(value + 1, line);
    return;
  }
  auto end = line_end(text, name);
  if (end > name && text[end - 1] == '\r') --end;
  text.insert(end, in_lines_of(text, "\n" + indent_at(text, name) + style.indent + line));
}

void apply(std::string& text, const JobEdit& edit, const Style& style) {
  const auto document = style.parse(text);
  const auto found = locate(document, edit.name);
  if (found.value != nullptr && !edit.value) return take_key(text, found);
  if (!edit.value) return;
  if (found.value != nullptr) return set_value(text, found, in_lines_of(text, *edit.value));
  const auto dot = edit.name.rfind('.');
  const auto key = edit.name.substr(dot == edit.name.npos ? 0 : dot + 1);
  const auto line = in_lines_of(text, style.line(key, *edit.value));
  if (found.section == nullptr) {
    const auto outer = edit.name.substr(0, dot == edit.name.npos ? 0 : dot);
    if (!style.dotted && outer.find('.') != outer.npos)
      return apply(text, {outer, "{" + line.substr(0, line.size() - line.ends_with(',')) + "}"},
                   style);
    if (dot != edit.name.npos) style.open(text, edit.name.substr(0, dot), line);
    return;
  }
  if (found.section->members.empty()) {
    if (found.section_key != nullptr) fill(text, found, line, style);
    return;
  }
  const auto& first = found.section->members.front().key;
  const auto at = offset_of(text, first.line, first.column);
  const auto before = at == 0 ? text.npos : text.find_last_not_of(blanks, at - 1);
  if (before != text.npos && text[before] == '{')  // on the line of its section
    text.insert(at, line + (line.ends_with(',') ? " " : ", "));
  else
    text.insert(line_begin(text, at), indent_at(text, at) + line + in_lines_of(text, "\n"));
}

// Returns the place of a line "..." that ends the document; the end of the text if there is none.
std::size_t end_of_yaml(std::string_view text) {
  const auto last = text.find_last_not_of(" \t\r\n");
  const auto begin = last == text.npos ? text.size() : line_begin(text, last);
  return text.substr(begin).starts_with("...") && last == begin + 2 ? begin : text.size();
}

std::string applied(std::string_view text, const std::vector<JobEdit>& edits, const Style& style) {
  std::string changed(text);
  for (const auto& edit : edits) apply(changed, edit, style);
  return changed;
}

}  // namespace

TextRange range_of(std::string_view text, const Value& value) {
  const auto begin = offset_of(text, value.line, value.column);
  return {begin, value_end(text, begin)};
}

std::string spelled_at(std::string_view text, const Value& value) {
  const auto [begin, end] = range_of(text, value);
  return std::string(text.substr(begin, end - begin));
}

std::string edited_json(std::string_view text, const std::vector<JobEdit>& edits) {
  return applied(text, edits,
                 {[](std::string_view json) {
                    return scenarios::parse_yaml(scenarios::plain_json(json), "ds_config.json");
                  },
                  [](const std::string& key, const std::string& value) {
                    return "\"" + key + "\": " + value + ",";
                  },
                  [](std::string& json, const std::string& section, const std::string& line) {
                    const auto open = json.find('{');
                    if (open == json.npos) return;
                    const auto own =
                        "\n  \"" + section + "\": {" + line.substr(0, line.size() - 1) + "},";
                    json.insert(behind_comment(json, open + 1), in_lines_of(json, own));
                  },
                  "", false});
}

std::string edited_toml(std::string_view text, const std::vector<JobEdit>& edits) {
  return applied(
      text, edits,
      {[](std::string_view toml) { return scenarios::parse_toml(toml, "job.toml"); },
       [](const std::string& key, const std::string& value) { return key + " = " + value; },
       [](std::string& toml, const std::string& section, const std::string& line) {
         if (!toml.ends_with('\n')) toml += in_lines_of(toml, "\n");
         toml += in_lines_of(toml, "\n[" + section + "]\n") + line + in_lines_of(toml, "\n");
       },
       "", true});
}

std::string edited_yaml(std::string_view text, const std::vector<JobEdit>& edits) {
  return applied(
      text, edits,
      {[](std::string_view yaml) { return scenarios::parse_yaml(yaml, "config.yaml"); },
       [](const std::string& key, const std::string& value) { return key + ": " + value; },
       [](std::string& yaml, const std::string& section, const std::string& line) {
         const auto end = end_of_yaml(yaml);
         const auto feed = end > 0 && yaml[end - 1] != '\n' ? "\n" : "";
         yaml.insert(end,
                     in_lines_of(yaml, feed + section + ":\n  ") + line + in_lines_of(yaml, "\n"));
       },
       "  ", false});
}

}  // namespace report
