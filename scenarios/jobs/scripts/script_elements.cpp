// SPDX-License-Identifier: Apache-2.0
// Elements of arrays that statements set one by one.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/jobs/scripts/script_assignments.hpp"
#include "scenarios/shell/statements.hpp"
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

std::optional<std::size_t> index_in(std::string_view key) {
  std::size_t index = 0;
  const auto [stop, wrong] = std::from_chars(key.data(), key.data() + key.size(), index);
  return wrong == std::errc() && stop == key.data() + key.size() ? std::optional(index)
                                                                 : std::nullopt;
}

// Puts an element into an array of which every other one is known; returns whether that can be
// told. Elements of a list with numbers stand at their places, others as "[KEY]=VALUE".
bool put_element(std::vector<ShellWord>& words, const std::string& key, ShellWord value) {
  const auto is_named = [](const ShellWord& word) { return word.text.starts_with('['); };
  const bool known = std::ranges::all_of(words, [&](const ShellWord& word) {
    return is_named(word) || (word.trouble.empty() && word.text != "$@");
  });
  if (!known) return false;
  const bool named = std::ranges::any_of(words, is_named);
  const auto index = named ? std::nullopt : index_in(key);
  if (index && *index < words.size()) {
    words[*index] = std::move(value);
  } else if (index && *index == words.size()) {
    words.push_back(std::move(value));
  } else if (words.empty() || std::ranges::all_of(words, is_named)) {
    const auto begin = "[" + key + "]=";
    std::erase_if(words, [&](const ShellWord& word) { return word.text.starts_with(begin); });
    value.text.insert(0, begin);
    words.push_back(std::move(value));
  } else {
    return false;
  }
  return true;
}

}  // namespace

void ScriptAssignments::set_elements(const Statement& statement, const Certainty& certainty) {
  for (const auto& [text, at] : statement.words) {
    const auto element = element_in(text);
    if (!element) return;
    const auto key = variables_.expanded('"' + element->key + '"', at);
    const auto value = whole_value(element->value, at);
    const bool told = certainty.sure && !certainty.doubtful && !element->adds && key.size() == 1 &&
                      key.front().trouble.empty() && value.size() == 1 &&
                      variables_.kind_of(element->name) != 'i';
    auto words = variables_.variable(element->name).value.value_or(std::vector<ShellWord>());
    if (told && put_element(words, key.front().text, value.front())) {
      variables_.assign(element->name, std::move(words));
      variables_.set_kind(element->name, 'a');
    } else {
      variables_.doubt(element->name, element->name + " gets an element in line " +
                                          std::to_string(at.line) + ", which needs a shell");
    }
  }
}

}  // namespace scenarios
