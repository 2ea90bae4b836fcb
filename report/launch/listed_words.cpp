// SPDX-License-Identifier: Apache-2.0
#include "report/launch/listed_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/launch/script_edit.hpp"
#include "report/launch/text_lines.hpp"
#include "scenarios/frameworks/cluster_file.hpp"

namespace report {
namespace {

constexpr const char* file_name = "job.yaml";

// A word of a list: its text, and where it stands with the quotes around it.
struct ListedWord {
  std::string text;
  TextRange at;
};
using Words = std::vector<ListedWord>;

std::vector<Words> lists_in(std::string_view text) {
  std::vector<Words> lists;
  if (text.find("apiVersion:") == text.npos) return lists;
  for (const auto& words : scenarios::started_words(text, file_name)) {
    Words list;
    for (const auto& word : words) list.push_back({word.text, range_of(text, word)});
    const bool again = std::ranges::any_of(lists, [&](const Words& other) {
      return other.front().at.begin == list.front().at.begin;  // an alias of YAML
    });
    if (!again) lists.push_back(std::move(list));
  }
  return lists;
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9');
}

// An argument of a list: the place of its name, and how many words behind it are its values.
struct Argument {
  std::size_t name = 0, values = 0;
  std::size_t last() const { return name + values; }
};

Argument argument_at(const Words& words, std::size_t name) {
  Argument found{name, 0};
  if (words[name].text.find('=') != std::string::npos) return found;
  while (found.last() + 1 < words.size() && !is_option(words[found.last() + 1].text))
    ++found.values;
  return found;
}

std::optional<Argument> last_argument(const Words& words, std::string_view name) {
  for (auto i = words.size(); i-- > 0;) {
    const std::string_view word = words[i].text;
    if (word.substr(0, word.find('=')) == name) return argument_at(words, i);
  }
  return {};
}

std::string without_quotes(std::string value) {
  const bool quoted = value.size() > 1 && (value.front() == '\'' || value.front() == '"') &&
                      value.front() == value.back();
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::vector<std::string> values_of(const JobEdit& edit) {
  std::vector<std::string> values;
  const auto all = without_quotes(*edit.value);
  for (std::size_t begin = 0; begin < all.size();) {
    const auto end = std::min(all.find(' ', begin), all.size());
    if (end > begin) values.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

// One list while it changes. Changes of its places are made from the last to the first.
class EditedList {
 public:
  EditedList(std::string& text, const Words& words) : text_(text), words_(words) {}

  void edit(const std::vector<JobEdit>& edits);

 private:
  void set(const Argument& argument, const JobEdit& edit);
  void take_out(std::size_t first, std::size_t last);
  void apply();
  void add_behind(std::size_t word, const std::vector<std::string>& more);
  void replace(std::size_t begin, std::size_t end, std::string by) {
    changes_.push_back({{begin, end}, std::move(by)});
  }
  // The quotes of a word; "\"" for one that has none, as numbers of YAML are no texts.
  std::string quote_of(std::size_t word) const {
    return text_[words_[word].at.begin] == '\'' ? "'" : "\"";
  }
  bool is_quoted(std::size_t word) const {
    const char first = text_[words_[word].at.begin];
    return first == '\'' || first == '"';
  }
  bool has_own_line(std::size_t word) const {
    const auto dash = text_.find_last_not_of(blanks, words_[word].at.begin - 1);
    return dash != std::string::npos && text_[dash] == '-' &&
           text_.find_first_not_of(blanks, line_begin(text_, dash)) == dash;
  }

  struct Change {
    TextRange at;
    std::string by;
  };
  std::string& text_;
  const Words& words_;
  std::vector<Change> changes_;
  std::set<std::size_t> gone_;  // words
};

void EditedList::set(const Argument& argument, const JobEdit& edit) {
  const auto values = values_of(edit);
  const auto quote = quote_of(argument.name);
  const auto& name = words_[argument.name];
  if (name.text.find('=') != std::string::npos) {
    const auto word = edit.name + "=" + without_quotes(*edit.value);
    if (word != name.text)
      replace(name.at.begin, name.at.end, is_quoted(argument.name) ? quote + word + quote : word);
    return;
  }
  const auto both = std::min(values.size(), argument.values);
  for (std::size_t i = 0; i < both; ++i) {
    const auto place = argument.name + 1 + i;
    const auto own = quote_of(place);
    if (words_[place].text != values[i])
      replace(words_[place].at.begin, words_[place].at.end, own + values[i] + own);
  }
  if (both < argument.values) take_out(argument.name + 1 + both, argument.last());
  std::vector<std::string> more;
  for (auto i = both; i < values.size(); ++i) more.push_back("\"" + values[i] + "\"");
  add_behind(argument.name + both, more);
}

void EditedList::take_out(std::size_t first, std::size_t last) {
  for (auto i = first; i <= last; ++i) {
    gone_.insert(i);
    if (has_own_line(i))
      replace(line_begin(text_, words_[i].at.begin),
              std::min(line_end(text_, words_[i].at.end) + 1, text_.size()), {});
  }
  if (has_own_line(first)) return;
  const auto begin = words_[first].at.begin, end = words_[last].at.end;
  const auto next = text_.find_first_not_of(" \t\r\n", end);
  if (next != std::string::npos && text_[next] == ',')
    return replace(begin, std::min(text_.find_first_not_of(" \t\r\n", next + 1), text_.size()), {});
  const auto comma = text_.rfind(',', begin);
  replace(comma == std::string::npos ? begin : comma, end, {});
}

void EditedList::add_behind(std::size_t word, const std::vector<std::string>& more) {
  const auto at = words_[word].at;
  const bool own_line = has_own_line(word);
  std::string all;
  for (const auto& one : more)
    all +=
        own_line ? in_lines_of(text_, "\n" + indent_at(text_, at.begin) + "- ") + one : ", " + one;
  auto place = own_line ? line_end(text_, at.end) : at.end;
  if (own_line && place > at.end && text_[place - 1] == '\r') --place;
  if (!all.empty()) replace(place, place, all);
}

void EditedList::edit(const std::vector<JobEdit>& edits) {
  std::size_t anchor = words_.size() - 1;
  for (const auto& edit : edits)
    if (const auto found = last_argument(words_, edit.name); found && edit.value)
      anchor = found->last();
  std::vector<std::string> more;
  for (const auto& edit : edits) {
    const auto found = last_argument(words_, edit.name);
    if (found && edit.value) set(*found, edit);
    if (found && !edit.value) take_out(found->name, found->last());
    if (found || !edit.value) continue;
    const bool quoted = !has_own_line(anchor);
    more.push_back(quoted ? "\"" + edit.name + "\"" : edit.name);
    for (const auto& value : values_of(edit)) more.push_back("\"" + value + "\"");
  }
  while (anchor > 0 && gone_.contains(anchor)) --anchor;
  add_behind(anchor, more);
  apply();
}

void EditedList::apply() {
  std::ranges::sort(changes_, [](const Change& one, const Change& other) {
    return std::pair(one.at.begin, one.at.end) > std::pair(other.at.begin, other.at.end);
  });
  auto before = text_.size();  // up to which nothing has changed yet
  for (const auto& [at, by] : changes_) {
    const auto end = std::min(at.end, before);  // neighbours that go share a comma
    text_.replace(at.begin, end - at.begin, by);
    before = at.begin;
  }
}

}  // namespace

bool has_listed_words(std::string_view text) { return !lists_in(text).empty(); }

std::string edited_words(std::string_view text, const std::vector<JobEdit>& edits) {
  std::string changed(text);
  auto lists = lists_in(text);
  std::ranges::sort(lists, [](const Words& one, const Words& other) {
    return one.front().at.begin > other.front().at.begin;
  });
  for (const auto& words : lists) EditedList(changed, words).edit(edits);
  return changed;
}

std::optional<std::string> listed_value(std::string_view text, std::string_view name) {
  const auto lists = lists_in(text);
  const auto found = lists.empty() ? std::nullopt : last_argument(lists.front(), name);
  if (!found) return {};
  const auto& words = lists.front();
  const auto& word = words[found->name].text;
  if (const auto sign = word.find('='); sign != word.npos) return word.substr(sign + 1);
  std::string value;
  for (auto i = found->name + 1; i <= found->last(); ++i)
    value += (value.empty() ? "" : " ") + words[i].text;
  return value;
}

std::string left_in_container(std::string_view before, std::string_view after) {
  if (before.find("apiVersion:") == before.npos || has_listed_words(before)) return {};
  std::map<std::string_view, int> left;
  const auto count = [&](std::string_view text, int step) {
    for (std::size_t begin = 0; begin < text.size(); begin = line_end(text, begin) + 1)
      left[text.substr(begin, line_end(text, begin) - begin)] += step;
  };
  count(before, 1);
  count(after, -1);  // what is above zero was replaced
  std::int64_t number = 1;
  for (std::size_t begin = 0; begin < after.size(); begin = line_end(after, begin) + 1, ++number) {
    const auto line = after.substr(begin, line_end(after, begin) - begin);
    const auto found = left.find(line);
    if (found != left.end() && found->second > 0 && line.find("--") != line.npos)
      return fmt::format(
          "line {}: another container starts the same command, and has this line as "
          "it was; change it alike",
          number);
  }
  return {};
}

}  // namespace report
