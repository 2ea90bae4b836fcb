// SPDX-License-Identifier: Apache-2.0
#include "report/launch/script_edit.hpp"

#include <algorithm>
#include <map>

#include "report/launch/text_lines.hpp"

namespace report {
namespace {

using Span = TextRange;

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

// Returns the places of the argument's name in the text, in order.
std::vector<std::size_t> places_of(std::string_view text, std::string_view name) {
  std::vector<std::size_t> found;
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool begins = at == 0 || ends_word(text[at - 1]) || text[at - 1] == '(';
    const bool ends = end == text.size() || ends_word(text[end]) || text[end] == '=' ||
                      text[end] == ':' || text[end] == '\\';
    if (begins && ends && !is_comment(text, at)) found.push_back(at);
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

// Returns the place of the quote inside of which `at` is; nothing: it is in none.
std::optional<std::size_t> quote_around(std::string_view text, std::size_t at) {
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < at; ++i) {
    const char c = text[i];
    const bool single = open && text[*open] == '\'';
    if (c == '\\' && !single) {
      ++i;
    } else if (open) {
      if (c == text[*open]) open.reset();
    } else if (c == '"' || c == '\'') {
      open = i;
    } else if (c == '#' && (i == 0 || ends_word(text[i - 1]))) {
      i = line_end(text, i);
    }
  }
  return open;
}

// Returns the place of the quote that closes the one before the argument at `at`, if the quotes
// hold nothing but this argument, "--bf16" or '--num-layers=32'; nothing: it stands in none of its
// own.
std::optional<std::size_t> own_quotes(std::string_view text, std::size_t at, std::size_t name_end) {
  if (at == 0 || (text[at - 1] != '"' && text[at - 1] != '\'')) return {};
  const char quote = text[at - 1];
  const bool word = at == 1 || text[at - 2] == '(' || text[at - 2] == '\n' ||
                    blanks.find(text[at - 2]) != blanks.npos;
  if (!word || quote_around(text, at) != at - 1) return {};
  if (name_end < text.size() && text[name_end] == quote) return name_end;
  if (name_end >= text.size() || text[name_end] != '=') return {};
  const auto close = text.find(quote, name_end);
  if (close == text.npos || close > line_end(text, name_end)) return {};
  const auto value = text.substr(name_end, close - name_end);
  const bool alone = value.find_first_of(blanks) == value.npos && value.find("${") == value.npos;
  return alone ? std::optional(close) : std::nullopt;
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
    const bool quoted = text[next] == '"' || text[next] == '\'';
    if (quoted && text.substr(next + 1).starts_with("--")) return all;  // another argument
    const bool last = next + 1 >= text.size() || text[next + 1] == ')' || text[next + 1] == '\n' ||
                      blanks.find(text[next + 1]) != blanks.npos;
    if (const auto open = quoted && last ? quote_around(text, next) : std::nullopt;
        open && text[*open] == text[next])
      return all;  // it closes the quotes around the name
    const auto written = text.substr(word.begin, word.end - word.begin);
    const bool another = all.begin != all.end && written.find('$') != written.npos;
    if (another || holds_arguments(text, written)) return all;
    if (quoted && word.end - word.begin == 1) return all;
    if (all.begin == all.end) all.begin = word.begin;
    all.end = at = word.end;
  }
}

// Where an argument stands: its name with quotes of its own, and its values.
struct ArgumentSpan {
  Span name, values;
  std::size_t end = 0;  // of both
};

ArgumentSpan span_of(std::string_view text, std::size_t at, const std::string& name) {
  const auto name_end = at + name.size();
  const auto close = own_quotes(text, at, name_end);
  ArgumentSpan span{{at, name_end}, {}};
  if (!close) {
    span.values = values_behind(text, name_end);
  } else if (*close != name_end) {
    span.name = {at - 1, *close + 1};
    span.values = {name_end + 1, *close};
  } else {
    span.name = {at - 1, name_end + 1};
    span.values = values_behind(text, name_end + 1);
  }
  span.end = std::max(span.values.end, span.name.end);
  return span;
}

std::string plain_value(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') &&
      value.back() == value.front())
    value = value.substr(1, value.size() - 2);
  return std::string(value);
}

// Whether the quoted text at `open` is a command for a shell: the word before is "-c", or ends so,
// "-lc".
bool is_command(std::string_view text, std::size_t open) {
  const auto last = open == 0 ? text.npos : text.find_last_not_of(blanks, open - 1);
  if (last == text.npos || last + 1 == open || text[last] != 'c') return false;
  const auto dash = text.find_last_of(" \t\n", last);
  return dash != text.npos && text[dash + 1] == '-' && text[dash + 2] != '-';
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

// Returns the end of the key "value" that follows the one whose value is the name, "name: NAME";
// nothing: it is another name.
std::optional<std::size_t> value_below(std::string_view text, std::size_t at, std::size_t end) {
  constexpr std::string_view named = "name: ", key = "value";
  const auto next = text.find_first_not_of(" \t\r\n", end);
  const bool has = text.substr(0, at).ends_with(named) && next != text.npos &&
                   text.substr(next).starts_with(key);
  return has ? std::optional(next + key.size()) : std::nullopt;
}

// A script while it changes, and where it has the arguments that change.
class EditedScript {
 public:
  EditedScript(std::string_view text, const PlaceChoice& chosen, InnerQuotes quotes)
      : text_(text), chosen_(chosen), quotes_(quotes) {}

  // Looks for an argument; all are looked for before the text changes.
  void locate(const std::string& name) {
    const auto places = places_of(text_, name);
    if (at_.contains(name) || places.empty()) return;
    if (const auto place = chosen_(text_, name, places)) at_[name] = *place;
  }

  bool has(const std::string& name) const { return at_.contains(name); }
  // Whether the text has the argument with a value beside it.
  bool has_value(const std::string& name) const {
    if (!has(name)) return false;
    const auto values = span_of(text_, at_.at(name), name).values;
    return values.begin != values.end;
  }
  const std::string& text() const { return text_; }

  void set(const JobEdit& edit);
  void put_behind(const std::string& anchor, const JobEdit& edit);
  void take_out(const std::string& name);

 private:
  void replace(std::size_t begin, std::size_t end, const std::string& by) {
    text_.replace(begin, end - begin, by);
    for (auto& [name, place] : at_)
      if (place >= end) place += by.size() - (end - begin);
  }
  void insert(std::size_t at, const std::string& more) { replace(at, at, more); }
  // Returns the value as it is spelled at this place.
  std::string spelled(const std::string& value, std::size_t at) const;

  std::string text_;
  const PlaceChoice& chosen_;
  InnerQuotes quotes_;
  std::map<std::string, std::size_t> at_;
};

std::string EditedScript::spelled(const std::string& value, std::size_t at) const {
  const auto plain = plain_value(value);
  if (plain == value) return value;
  const auto open = quote_around(text_, at);
  const char around = open ? text_[*open] : value.front(), other = around == '"' ? '\'' : '"';
  if (!open) return quotes_ == InnerQuotes::doubled ? other + value + other : value;
  return is_command(text_, *open) || quotes_ != InnerQuotes::none ? other + plain + other : plain;
}

void EditedScript::set(const JobEdit& edit) {
  const auto span = span_of(text_, at_.at(edit.name), edit.name);
  const auto values = span.values;
  if (values.begin == values.end || edit.value->empty()) return;
  const char quote = text_[values.begin];
  auto value = plain_value(*edit.value);
  const auto there = plain_value(text_.substr(values.begin, values.end - values.begin));
  if (plain_value(there) == value) return;
  if (plain_value(there) != there) value = there.front() + value + there.front();
  const bool quoted = quote == '"' || quote == '\'', inside = values.end < span.name.end;
  replace(values.begin, values.end,
          inside   ? value
          : quoted ? quote + value + quote
                   : spelled(*edit.value, values.begin));
}

// Takes an argument out, with its line if nothing else is on it. The line before then ends the
// command if this line ended it.
void EditedScript::take_out(const std::string& name) {
  const auto whole = span_of(text_, at_.at(name), name);
  at_.erase(name);
  Span span{whole.name.begin, whole.end};
  const auto place = span.begin;
  const auto begin = line_begin(text_, span.begin), end = line_end(text_, span.end);
  const auto behind = std::string_view(text_).substr(span.end, end - span.end);
  const auto rest = behind.find_first_not_of(" \t\r");
  const bool first = text_.find_first_not_of(blanks, begin) == place;
  if (first && (rest == behind.npos || behind[rest] == '\\')) {
    const auto continued = continuation_before(text_, begin);
    if (rest == behind.npos && continued)
      replace(*continued, end - (behind.ends_with('\r') ? 1 : 0), {});
    else
      replace(begin, std::min(end + 1, text_.size()), {});
    return;
  }
  if (first)  // what follows takes its place
    span.end = std::min(text_.find_first_not_of(blanks, span.end), end);
  else
    while (span.begin > begin && blanks.find(text_[span.begin - 1]) != blanks.npos) --span.begin;
  replace(span.begin, span.end, {});
}

// Puts an argument behind `anchor`, an argument of the text, in the same style: on a line of its
// own, or on the same line.
void EditedScript::put_behind(const std::string& anchor, const JobEdit& edit) {
  const auto at = at_.at(anchor), name_end = at + anchor.size();
  const auto span = span_of(text_, at, anchor);
  const auto end = span.end, start = span.name.begin;
  const bool key = text_[name_end] == ':';
  const auto word =
      key ? edit.name + ": " + (edit.value->empty() ? "true" : *edit.value)
          : edit.name + (edit.value->empty() ? "" : " " + spelled(*edit.value, start));
  const auto begin = line_begin(text_, start), line = line_end(text_, end);
  const bool first = text_.find_first_not_of(blanks, begin) == start;  // of its line
  const auto rest = std::min(text_.find_first_not_of(" \t\r", end), line);
  const bool continued = rest < line && text_[rest] == '\\';
  const auto own = "\n" + indent_at(text_, start) + word;
  auto place = end;
  if (!first || (rest < line && !continued))
    insert(end, " " + word);
  else if (continued)
    insert(place = line, own + text_.substr(end, line - end));
  else  // the line that was the command's last goes on
    insert(end, (continuation_before(text_, begin) ? " \\" : "") + in_lines_of(text_, own));
  at_[edit.name] = text_.find(edit.name, place);
}

}  // namespace

std::optional<std::string> script_value(std::string_view text, std::string_view name) {
  const auto places = places_of(text, name);
  if (places.empty()) return {};
  const auto values = span_of(text, places.back(), std::string(name)).values;
  return std::string(text.substr(values.begin, values.end - values.begin));
}

std::vector<TextRange> assignments_of(std::string_view text, std::string_view name) {
  std::vector<TextRange> values;
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    auto end = at + name.size();
    const bool begins = at == 0 || ends_word(text[at - 1]) || text[at - 1] == ';';
    if (!begins || is_comment(text, at)) continue;
    if (const auto below = value_below(text, at, end)) end = *below;
    const bool key = text.substr(end).starts_with(": ");
    if (!key && !text.substr(end).starts_with('=')) continue;
    auto value = key ? values_behind(text, end) : word_at(text, end + 1);
    value.end = std::min(text.find(';', value.begin), value.end);
    if (value.end - value.begin > 1 && (text[value.begin] == '"' || text[value.begin] == '\''))
      ++value.begin, --value.end;
    values.push_back(value);
  }
  return values;
}

std::optional<std::size_t> last_place(std::string_view, std::string_view,
                                      const std::vector<std::size_t>& places) {
  return places.back();
}

std::string edited_script(std::string_view text, const std::vector<JobEdit>& edits,
                          const PlaceChoice& chosen, InnerQuotes quotes) {
  EditedScript script(text, chosen, quotes);
  std::string anchor;
  for (const auto& edit : edits) {
    script.locate(edit.name);
    if (!edit.value || !script.has(edit.name)) continue;
    if (edit.value->empty() || script.has_value(edit.name)) anchor = edit.name;
  }
  for (const std::string usual : {"--tensor-model-parallel-size", "--micro-batch-size",
                                  "--global-batch-size", "--num-layers"}) {
    if (!anchor.empty()) break;
    script.locate(usual);
    if (script.has_value(usual)) anchor = usual;
  }
  for (const auto& edit : edits)
    if (edit.value && script.has(edit.name)) script.set(edit);
  for (const auto& edit : edits)
    if (edit.value && !script.has(edit.name) && !anchor.empty()) script.put_behind(anchor, edit);
  for (const auto& edit : edits)
    if (!edit.value && script.has(edit.name)) script.take_out(edit.name);
  return script.text();
}

}  // namespace report
