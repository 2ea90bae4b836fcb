// SPDX-License-Identifier: Apache-2.0
// Values in braces: "${NAME:-default}" and its like.
#include <algorithm>
#include <utility>

#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/changed_text.hpp"
#include "scenarios/shell/word_expansion.hpp"
#include "scenarios/shell/word_parts.hpp"

namespace scenarios {

void WordExpansion::in_braces(std::string_view inside) {
  if (inside.starts_with('@') || inside.starts_with('*')) return arguments_from(inside);
  if (inside == "#") return add_argument("#", {});
  if (inside.size() > 1 && (inside[0] == '#' || inside[0] == '!')) return measured(inside);
  const auto end = name_end(inside, 0);
  const std::string name(inside.substr(0, end));
  auto rest = inside.substr(end);
  const bool numbered = !name.empty() && is_digit(name.front());
  if (name.empty() || (numbered && rest.empty()))
    return add_argument(numbered ? name : "", "${" + std::string(inside) + "}");
  const bool list = rest.starts_with("[@]") || rest.starts_with("[*]");
  if (!list && rest.starts_with('[') && rest.ends_with(']'))
    return element(name, rest.substr(1, rest.size() - 2));
  if (list) rest.remove_prefix(3);
  if (rest.empty()) return put(name, {}, false, list);
  const bool colon = rest.starts_with(':');
  const auto operation = rest.substr(colon ? 1 : 0);
  const char sign = operation.empty() ? '\0' : operation.front();
  const bool has_default = sign == '-' || sign == '=';
  if (numbered && has_default) return add_argument(name, {}, operation.substr(1));
  if (has_default) return put(name, operation.substr(1), true, list);
  if (sign == '?') return put(name, {}, false, list);
  if (sign == '+') return alternative(name, operation.substr(1), colon);
  change(name, inside, rest, list);
}

void WordExpansion::arguments_from(std::string_view inside) {
  std::size_t first = 0;
  if (inside.size() > 2 && inside[1] == ':' && std::ranges::all_of(inside.substr(2), is_digit))
    first = inside.size() > 4 ? most_arguments : std::stoul(std::string(inside.substr(2)));
  add_arguments(inside.front() == '@', first > 0 ? first - 1 : 0);
}

void WordExpansion::measured(std::string_view inside) {
  const auto end = name_end(inside, 1);
  const std::string name(inside.substr(1, end - 1));
  const auto rest = inside.substr(end);
  const bool list = rest == "[@]" || rest == "[*]";
  const auto found = variables_.values_.find(name);
  const bool plain = found != variables_.values_.end() &&
                     std::ranges::all_of(found->second, [](const ShellWord& word) {
                       return word.trouble.empty() && word.text.find(mark) == word.text.npos;
                     });
  const auto text = variables_.text_of(name);
  if (inside[0] == '#' && list && plain) return add(std::to_string(found->second.size()));
  if (inside[0] == '#' && rest.empty() && text) return add(std::to_string(text->size()));
  if (inside[0] == '!' && rest.empty() && text && name_end(*text, 0) == text->size() &&
      depth_ < deepest_default)
    return put(*text, {}, false, false);
  trouble("${" + std::string(inside) + "} needs a shell" + (text ? "" : advice(name)));
}

void WordExpansion::element(const std::string& name, std::string_view index) {
  const auto found = variables_.values_.find(name);
  const auto key = single(index);
  if (found == variables_.values_.end() || !key)
    return trouble("${" + name + "[" + std::string(index) + "]} needs a shell");
  const auto& words = found->second;
  for (const auto& word : words) {
    const auto begin = "[" + *key + "]=";
    if (word.text.starts_with(begin)) return add_value(word.text.substr(begin.size()), name);
  }
  const auto number =
      calculated(*key, [&](const std::string& variable) { return variables_.text_of(variable); });
  const bool keyed =
      std::ranges::any_of(words, [](const ShellWord& word) { return word.text.starts_with('['); });
  if (keyed || !number || *number < 0)
    return trouble("${" + name + "[" + std::string(index) + "]} needs a shell");
  if (*number < static_cast<std::int64_t>(words.size()))
    add_words({words[static_cast<std::size_t>(*number)]}, name, false);
}

void WordExpansion::alternative(const std::string& name, std::string_view word, bool colon) {
  const bool digits = is_digit(name.front());
  const auto text = variables_.text_of(name);
  const auto found = variables_.values_.find(name);
  const bool unknown = found != variables_.values_.end() && !text && !found->second.empty();
  if (digits || unknown) return put(name, {}, false, false);  // its trouble
  if (!text || (colon && text->empty())) return;
  add_default(word, {}, false);
}

void WordExpansion::change(const std::string& name, std::string_view inside,
                           std::string_view operation, bool list) {
  const auto text = list ? std::nullopt : variables_.text_of(name);
  if (!text && !list && !variables_.knows(name)) return put(name, {}, false, false);
  const auto operand = single(operation);
  const auto changed = text && operand ? changed_text(*text, *operand) : std::nullopt;
  if (changed) return add_value(*changed, {});
  trouble("${" + std::string(inside) + "} needs a shell");
}

std::optional<std::string> WordExpansion::single(std::string_view raw) const {
  if (depth_ >= deepest_default) return {};
  const auto words =
      WordExpansion(variables_, at_, depth_ + 1, false).of('"' + std::string(raw) + '"');
  const bool one = words.size() == 1 && words.front().trouble.empty();
  return one ? std::optional(words.front().text) : std::nullopt;
}

void WordExpansion::add_default(std::string_view fallback, const std::string& name, bool list) {
  if (depth_ >= deepest_default) return trouble("too many defaults inside of each other");
  add_words(WordExpansion(variables_, at_, depth_ + 1, marks_).of(fallback), name, list);
}

void WordExpansion::put(const std::string& name, std::string_view fallback, bool has_fallback,
                        bool list) {
  if (const auto given = variables_.given_.find(name); given != variables_.given_.end())
    return add_value(given->second, name);
  const auto found = variables_.values_.find(name);
  const bool known = found != variables_.values_.end();
  const bool empty = known && std::ranges::all_of(found->second, [](const ShellWord& word) {
                       return word.text.empty() && word.trouble.empty();
                     });
  if (has_fallback && (!known || empty)) return add_default(fallback, name, list);
  if (known) return add_words(found->second, name, list);
  trouble(name + " has no value in this file" + advice(name));
}

}  // namespace scenarios
