// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_edit.hpp"

#include <algorithm>

#include "scenarios/documents/toml.hpp"
#include "scenarios/jobs/deepspeed.hpp"

namespace report {
namespace {

using scenarios::Value;

constexpr std::string_view blanks = " \t";

using Span = TextRange;

std::size_t line_begin(std::string_view text, std::size_t at) {
  const auto feed = at == 0 ? text.npos : text.rfind('\n', at - 1);
  return feed == text.npos ? 0 : feed + 1;
}

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// Returns a piece of text with the ends of lines that this text has.
std::string in_lines_of(std::string_view text, std::string piece) {
  const auto feed = text.find('\n');
  if (feed == text.npos || feed == 0 || text[feed - 1] != '\r') return piece;
  for (auto at = piece.find('\n'); at != piece.npos; at = piece.find('\n', at + 1))
    if (at == 0 || piece[at - 1] != '\r') piece.insert(at++, 1, '\r');
  return piece;
}

std::string indent_at(std::string_view text, std::size_t at) {
  const auto begin = line_begin(text, at);
  const auto first = std::min(text.find_first_not_of(blanks, begin), text.size());
  return std::string(text.substr(begin, first - begin));
}

// --- scripts

constexpr std::string_view operators = ";|&<>";  // of the shell, behind which no value goes on

bool ends_word(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '"' || c == '\'' || c == ')' ||
         operators.find(c) != operators.npos;
}

// Whether a redirection begins at `at`: ">", "<", "&>" or a number with one of them, "2>".
bool redirects(std::string_view text, std::size_t at) {
  const auto sign = text.find_first_not_of("0123456789", at);
  return sign != text.npos && (text[sign] == '<' || text[sign] == '>');
}

bool is_comment(std::string_view text, std::size_t at) {
  const auto first = text.find_first_not_of(blanks, line_begin(text, at));
  return first != text.npos && first <= at && text[first] == '#';
}

// Returns the last place of the argument's name.
std::optional<std::size_t> find_flag(std::string_view text, std::string_view name) {
  std::optional<std::size_t> found;
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool begins = at == 0 || ends_word(text[at - 1]) || text[at - 1] == '(';
    const bool ends = end == text.size() || ends_word(text[end]) || text[end] == '=' ||
                      text[end] == ':' || text[end] == '\\';
    if (begins && ends && !is_comment(text, at)) found = at;
  }
  return found;
}

// Returns the place behind the bracket that closes the one at `at`; the end of the text if none
// does.
std::size_t behind_bracket(std::string_view text, std::size_t at) {
  const char open = text[at], close = open == '(' ? ')' : '}';
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == open;
    depth -= text[at] == close;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

// Returns the word at `at`: to the closing quote, or up to a blank outside of $(…) and ${…}.
Span word_at(std::string_view text, std::size_t at) {
  if (at < text.size() && (text[at] == '\'' || text[at] == '"')) {
    const auto close = text.find(text[at], at + 1);
    return {at, close == text.npos ? text.size() : close + 1};
  }
  auto end = at;
  while (end < text.size() && !ends_word(text[end])) {
    const bool opens =
        text[end] == '$' && end + 1 < text.size() && (text[end + 1] == '(' || text[end + 1] == '{');
    end = opens ? behind_bracket(text, end + 1) : end + 1;
  }
  return {at, end};
}

// Whether the word stands for arguments of their own, and not for the value of one: "$@",
// "${LIST[@]}", or a variable whose text begins with a hyphen.
bool holds_arguments(std::string_view text, std::string_view word) {
  const auto dollar = word.find('$');
  if (dollar == word.npos || word.find_first_not_of("\"'", 0) != dollar) return false;
  if (word.find('@') != word.npos || word.find("$*") != word.npos) return true;
  const auto begin = word.find_first_not_of("{", dollar + 1);
  if (begin == word.npos) return false;
  const auto end = word.find_first_of("}\"':[%#/,^+-=", begin);
  const auto name = std::string(word.substr(begin, end - begin));
  for (auto at = text.find(name + "="); at != text.npos; at = text.find(name + "=", at + 1)) {
    const auto value = text.find_first_not_of("(\"' \t\n", at + name.size() + 1);
    if (value != text.npos && text[value] == '-' && (at == 0 || ends_word(text[at - 1])))
      return true;
  }
  return false;
}

// Returns the range of the values behind the name: words up to the next argument or the end of the
// command's line.
Span values_behind(std::string_view text, std::size_t name_end) {
  if (name_end < text.size() && (text[name_end] == '=' || text[name_end] == ':')) {
    const bool key = text[name_end] == ':';  // of YAML: the value is the rest of the line
    auto begin = name_end + 1;
    if (!key) return word_at(text, begin);
    begin = std::min(text.find_first_not_of(blanks, begin), text.size());
    auto end = std::min(text.find(" #", begin), line_end(text, begin));
    while (end > begin && ends_word(text[end - 1]) && text[end - 1] != '"' && text[end - 1] != '\'')
      --end;
    return {begin, end};
  }
  Span all{name_end, name_end};
  auto at = name_end;
  while (true) {
    const auto next = text.find_first_not_of(blanks, at);
    constexpr std::string_view ends = "\n\\-)#";
    if (next == text.npos || next == at || ends.find(text[next]) != ends.npos ||
        operators.find(text[next]) != operators.npos || redirects(text, next))
      return all;
    const auto word = word_at(text, next);
    if (word.begin == word.end) return all;
    const auto written = text.substr(word.begin, word.end - word.begin);
    const bool another = all.begin != all.end && written.find('$') != written.npos;
    if (another || holds_arguments(text, written)) return all;
    if ((text[next] == '"' || text[next] == '\'') && word.end - word.begin == 1) return all;
    if (all.begin == all.end) all.begin = word.begin;
    all.end = at = word.end;
  }
}

std::string plain_value(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') &&
      value.back() == value.front())
    value = value.substr(1, value.size() - 2);
  return std::string(value);
}

// Returns where the line before the one that begins at `begin` has its continuation, blanks before
// the "\" and all; nothing: it ends without one.
std::optional<std::size_t> continuation_before(std::string_view text, std::size_t begin) {
  if (begin == 0) return {};
  auto end = begin - 1;
  if (end > 0 && text[end - 1] == '\r') --end;
  if (end == 0 || text[end - 1] != '\\') return {};
  --end;
  while (end > 0 && blanks.find(text[end - 1]) != blanks.npos) --end;
  return end;
}

// Takes a range out, with its line if nothing else is on it. The line before then ends the command
// if this line ended it.
void take_out(std::string& text, Span span) {
  const auto begin = line_begin(text, span.begin), end = line_end(text, span.end);
  const auto before = std::string_view(text).substr(begin, span.begin - begin);
  const auto behind = std::string_view(text).substr(span.end, end - span.end);
  const auto rest = behind.find_first_not_of(" \t\r");
  const bool first = before.find_first_not_of(blanks) == before.npos;
  if (first && (rest == behind.npos || behind[rest] == '\\')) {
    const auto continued = continuation_before(text, begin);
    if (rest == behind.npos && continued)
      text.erase(*continued, end - (behind.ends_with('\r') ? 1 : 0) - *continued);
    else
      text.erase(begin, std::min(end + 1, text.size()) - begin);
    return;
  }
  if (first)  // what follows takes its place
    span.end = std::min(text.find_first_not_of(blanks, span.end), end);
  else
    while (span.begin > begin && blanks.find(text[span.begin - 1]) != blanks.npos) --span.begin;
  text.erase(span.begin, span.end - span.begin);
}

// Puts an argument behind `anchor`, an argument of the text, in the same style: on a line of its
// own, or on the same line.
void put_behind(std::string& text, std::string_view anchor, const JobEdit& edit) {
  const auto at = find_flag(text, anchor);
  if (!at) return;
  const auto name_end = *at + anchor.size();
  const auto values = values_behind(text, name_end);
  const auto end = std::max(values.end, name_end);
  const bool key = text[name_end] == ':';
  const auto word = key ? edit.name + ": " + (edit.value->empty() ? "true" : *edit.value)
                        : edit.name + (edit.value->empty() ? "" : " " + *edit.value);
  const auto begin = line_begin(text, *at), line = line_end(text, end);
  const bool first = text.find_first_not_of(blanks, begin) == *at;  // of its line
  const auto rest = std::min(text.find_first_not_of(" \t\r", end), line);
  const bool continued = rest < line && text[rest] == '\\';
  if (!first || (rest < line && !continued)) {
    text.insert(end, " " + word);
    return;
  }
  const auto own = "\n" + indent_at(text, *at) + word;
  if (continued)
    text.insert(line, own + text.substr(end, line - end));
  else  // the line that was the command's last goes on
    text.insert(end, (continuation_before(text, begin) ? " \\" : "") + in_lines_of(text, own));
}

// --- files of keys

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
};

void set_value(std::string& text, const Value& value, const std::string& to) {
  const auto begin = offset_of(text, value.line, value.column);
  const auto end = value_end(text, begin);
  if (text.substr(begin, end - begin) != to) text.replace(begin, end - begin, to);
}

void take_key(std::string& text, const Located& at) {
  const auto key = offset_of(text, at.key->line, at.key->column);
  const auto value = offset_of(text, at.value->line, at.value->column);
  const auto begin = line_begin(text, key);
  auto end = value_end(text, std::max(value, key));
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
  if (found.value != nullptr) return set_value(text, *found.value, in_lines_of(text, *edit.value));
  const auto dot = edit.name.rfind('.');
  const auto key = edit.name.substr(dot == edit.name.npos ? 0 : dot + 1);
  const auto line = in_lines_of(text, style.line(key, *edit.value));
  if (found.section == nullptr) {
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

std::string applied(std::string_view text, const std::vector<JobEdit>& edits, const Style& style) {
  std::string changed(text);
  for (const auto& edit : edits) apply(changed, edit, style);
  return changed;
}

}  // namespace

std::optional<std::string> script_value(std::string_view text, std::string_view name) {
  const auto at = find_flag(text, name);
  if (!at) return {};
  const auto values = values_behind(text, *at + name.size());
  return std::string(text.substr(values.begin, values.end - values.begin));
}

std::vector<TextRange> assignments_of(std::string_view text, std::string_view name) {
  std::vector<TextRange> values;
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool begins = at == 0 || ends_word(text[at - 1]) || text[at - 1] == ';';
    const bool key = text.substr(end).starts_with(": ");
    if (!begins || is_comment(text, at) || !(key || text.substr(end).starts_with('='))) continue;
    auto value = key ? values_behind(text, end) : word_at(text, end + 1);
    value.end = std::min(text.find(';', value.begin), value.end);
    if (value.end - value.begin > 1 && (text[value.begin] == '"' || text[value.begin] == '\''))
      ++value.begin, --value.end;
    values.push_back(value);
  }
  return values;
}

std::string spelled_at(std::string_view text, const Value& value) {
  const auto begin = offset_of(text, value.line, value.column);
  return std::string(text.substr(begin, value_end(text, begin) - begin));
}

std::string edited_script(std::string_view text, const std::vector<JobEdit>& edits) {
  std::string changed(text), anchor;
  for (const auto& edit : edits) {
    const auto at = find_flag(changed, edit.name);
    if (!at) continue;
    const auto values = values_behind(changed, *at + edit.name.size());
    const bool quoted = changed[values.begin] == '"' || changed[values.begin] == '\'';
    if (!edit.value) continue;
    anchor = edit.name;
    if (plain_value(changed.substr(values.begin, values.end - values.begin)) ==
        plain_value(*edit.value))
      continue;
    if (values.begin == values.end || edit.value->empty()) continue;
    const char quote = changed[values.begin];
    changed.replace(values.begin, values.end - values.begin,
                    quoted ? quote + plain_value(*edit.value) + quote : *edit.value);
  }
  for (const auto& edit : edits)
    if (edit.value && !find_flag(changed, edit.name)) {
      for (const auto* usual : {"--tensor-model-parallel-size", "--micro-batch-size",
                                "--global-batch-size", "--num-layers"})
        if (anchor.empty() && find_flag(changed, usual)) anchor = usual;
      if (!anchor.empty()) put_behind(changed, anchor, edit);
    }
  for (const auto& edit : edits)
    if (const auto at = find_flag(changed, edit.name); at && !edit.value) {
      const auto values = values_behind(changed, *at + edit.name.size());
      take_out(changed, {*at, std::max(values.end, *at + edit.name.size())});
    }
  return changed;
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
                  ""});
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
       ""});
}

std::string edited_yaml(std::string_view text, const std::vector<JobEdit>& edits) {
  return applied(
      text, edits,
      {[](std::string_view yaml) { return scenarios::parse_yaml(yaml, "config.yaml"); },
       [](const std::string& key, const std::string& value) { return key + ": " + value; },
       [](std::string& yaml, const std::string& section, const std::string& line) {
         if (!yaml.ends_with('\n')) yaml += in_lines_of(yaml, "\n");
         yaml += in_lines_of(yaml, section + ":\n  ") + line + in_lines_of(yaml, "\n");
       },
       "  "});
}

}  // namespace report
