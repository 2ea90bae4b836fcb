// SPDX-License-Identifier: Apache-2.0
// Elements of arrays that statements set one by one.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "scenarios/jobs/scripts/script_assignments.hpp"
#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/word_parts.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

struct ElementOf {
  std::string name, key, value;  // as they are written
  bool adds = false;
};

// Returns the parts of "NAME[KEY]=VALUE" and "NAME[KEY]+=VALUE"; nothing: another word.
std::optional<ElementOf> element_in(std::string_view text) {
  const auto bracket = text.find('[');
  if (bracket == text.npos) return {};
  const auto name = std::string(text.substr(0, bracket));
  if (assigned_at(name + "=") != bracket + 1) return {};
  auto close = text.find("]=", bracket), added = text.find("]+=", bracket);
  const bool adds = added < close;
  close = std::min(close, added);
  if (close == text.npos) return {};
  const std::size_t sign = adds ? 3 : 2;
  return ElementOf{name, std::string(text.substr(bracket + 1, close - bracket - 1)),
                   std::string(text.substr(close + sign)), adds};
}

bool is_named(const ShellWord& word) { return word.text.starts_with('['); }

// Whether it is known which elements an array has. "[KEY]=VALUE" is one, even if only a shell can
// tell its value; another word that only a shell can tell may be several.
bool is_known(const std::vector<ShellWord>& words) {
  return std::ranges::all_of(words, [](const ShellWord& word) {
    const bool told = is_named(word) || word.text.find(mark) == word.text.npos;
    return told && word.trouble.empty() && word.text != "$@";
  });
}

// Puts an element into a known array with keys, whose elements are "[KEY]=VALUE"; returns whether
// it is one.
bool put_named(std::vector<ShellWord>& words, const std::string& key, ShellWord value) {
  if (!std::ranges::all_of(words, is_named)) return false;
  const auto begin = "[" + key + "]=";
  std::erase_if(words, [&](const ShellWord& word) { return word.text.starts_with(begin); });
  value.text.insert(0, begin);
  words.push_back(std::move(value));
  return true;
}

// Puts an element into a known list; returns whether that can be told. Elements stand at their
// numbers, or, where one is left out, as "[NUMBER]=VALUE" in their order.
bool put_numbered(std::vector<ShellWord>& words, std::size_t index, ShellWord value) {
  const auto named = std::ranges::count_if(words, is_named);
  if (named == 0 && !words.empty() && index > words.size()) return false;
  if (named > 0 && static_cast<std::size_t>(named) != words.size()) return false;
  std::map<std::size_t, ShellWord> all;
  for (auto& word : words) {
    auto number = all.size();
    if (named > 0) {
      const auto* end = word.text.data() + word.text.size();
      const auto [stop, wrong] = std::from_chars(word.text.data() + 1, end, number);
      const std::string_view rest(stop, static_cast<std::size_t>(end - stop));
      if (wrong != std::errc() || !rest.starts_with("]=")) return false;
      word.text = std::string(rest.substr(2));
    }
    all[number] = std::move(word);
  }
  all[index] = std::move(value);
  const bool whole = all.rbegin()->first + 1 == all.size();
  words.clear();
  for (auto& [number, word] : all) {
    if (!whole) word.text.insert(0, "[" + std::to_string(number) + "]=");
    words.push_back(std::move(word));
  }
  return true;
}

}  // namespace

void ScriptAssignments::set_elements(const Statement& statement, const Certainty& certainty) {
  for (const auto& [text, at] : statement.words) {
    const auto element = element_in(text);
    if (!element) return;
    const auto key = variables_.expanded(whole_word(element->key), at);
    const auto value = whole_value(element->value, at);
    const auto kind = variables_.kind_of(element->name);
    const auto before = variables_.variable(element->name).value;
    auto words = before.value_or(std::vector<ShellWord>());
    const bool told = certainty.sure && !certainty.doubtful && !element->adds && key.size() == 1 &&
                      key.front().trouble.empty() && value.size() == 1 && kind != 'i' &&
                      (before || !variables_.has_unread()) && is_known(words);
    // Without "declare -A" a key is a sum.
    const bool keyed = kind == 'A';
    const auto number = told && !keyed
                            ? calculated(key.front().text,
                                         [&](const auto& name) { return variables_.text_of(name); })
                            : std::nullopt;
    const bool put =
        keyed ? told && put_named(words, key.front().text, value.front())
        : number
            ? *number >= 0 && put_numbered(words, static_cast<std::size_t>(*number), value.front())
            : false;
    if (put) {
      variables_.assign(element->name, std::move(words));
      if (!keyed) variables_.set_kind(element->name, 'a');
    } else if (words.size() == 1 && !words.front().trouble.empty()) {
      continue;  // it is in doubt already
    } else {
      variables_.doubt(element->name, element->name + " gets an element in line " +
                                          std::to_string(at.line) + ", which needs a shell");
    }
  }
}

}  // namespace scenarios
