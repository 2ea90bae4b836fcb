// SPDX-License-Identifier: Apache-2.0
// Values in braces: "${NAME:-default}" and its like.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "scenarios/shell/absent.hpp"
#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/changed_text.hpp"
#include "scenarios/shell/word_expansion.hpp"
#include "scenarios/shell/word_parts.hpp"

namespace scenarios {
namespace {

// The values of an array with keys, "[key]=value".
std::vector<ShellWord> without_keys(std::vector<ShellWord> words) {
  for (auto& word : words)
    if (const auto end = word.text.find("]="); word.text.starts_with('[') && end != word.text.npos)
      word.text.erase(0, end + 2);
  return words;
}

// Whether a variable or argument has a value, which may be empty. `given`: by --env.
bool is_set(const ShellState& state, const ShellArguments& all,
            const std::map<std::string, std::string, std::less<>>& given, const std::string& name) {
  if (!is_digit(name.front())) {
    const auto found = state.values.find(name);
    return found != state.values.end() && !found->second.empty();
  }
  if (name.size() > 3) return false;
  const auto number = std::stoll(name) + (all.own ? all.shifted : 0);
  const auto at = given.find(std::to_string(number));
  return all.own ? at != given.end() && !at->second.empty()
                 : number <= static_cast<std::int64_t>(all.words.size());
}

// The words of a variable: of an array those of its first element, unless all are asked for.
std::vector<ShellWord> words_of(const std::string& name, const ShellVariables& variables,
                                bool list) {
  const auto& all = variables.values().values.find(name)->second;
  const bool first =
      !list && variables.kind_of(name) == 'a' && all.size() > 1 &&
      std::ranges::none_of(all, [](const ShellWord& word) {
        return word.text.starts_with('[') || word.text == "$@" || !word.trouble.empty();
      });
  return first ? std::vector{all.front()} : all;
}

// Returns `count` letters of the text from `first` on; both are counted from the end below zero.
// Nothing: a shell complains.
std::optional<std::string> cut_out(const std::string& text, std::int64_t first,
                                   std::int64_t count) {
  const auto size = static_cast<std::int64_t>(text.size());
  if (first < 0) first += size;
  if (first < 0 || first > size) return "";
  const auto end = count < 0 ? size + count : first + std::min(count, size - first);
  if (end < first) return {};
  return text.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
}

}  // namespace

std::optional<std::string> WordExpansion::single(std::string_view raw) const {
  if (depth_ >= deepest_default) return {};
  const auto words = inner().of('"' + std::string(raw) + '"');
  const bool one = words.size() == 1 && words.front().trouble.empty();
  return one ? std::optional(words.front().text) : std::nullopt;
}

void WordExpansion::in_braces(std::string_view inside) {
  if (inside.starts_with('@') || inside.starts_with('*')) return arguments_from(inside);
  if (inside == "#" || inside == "#@" || inside == "#*") return add_argument("#", {});
  if (inside.size() > 1 && (inside[0] == '#' || inside[0] == '!')) return measured(inside);
  const auto end = name_end(inside, 0);
  std::string name(inside.substr(0, end));
  auto rest = inside.substr(end);
  if (name == "BASH_SOURCE") {
    constexpr std::string_view first = "[0]";
    if (rest.starts_with(first)) rest.remove_prefix(first.size());
    name = "0";
  }
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
  if (has_default && !colon &&
      is_set(variables_.values(), variables_.arguments_, variables_.given_, name))
    return numbered ? add_argument(name, {}) : put(name, {}, false, list);
  if (numbered && has_default) return add_argument(name, {}, operation.substr(1));
  if (numbered && sign == '?') return add_argument(name, "${" + std::string(inside) + "}");
  if (has_default) return put(name, operation.substr(1), true, list);
  if (sign == '?') return put(name, {}, false, list);
  if (sign == '+') return alternative(name, operation.substr(1), colon);
  change(name, inside, rest, list);
}

void WordExpansion::arguments_from(std::string_view inside) {
  const bool apart = inside.front() == '@';
  if (inside.size() == 1) return add_arguments(apart, 0);
  const auto trouble_here = "${" + std::string(inside) + "} needs a shell";
  if (inside[1] != ':') return trouble(trouble_here);
  const auto part = part_of(inside.substr(2));
  if (!part || part->first == 0 || part->count < 0) return trouble(trouble_here);  // $0
  const auto count = variables_.argument_count();
  if (part->first < -count) return trouble(trouble_here);
  // The script may be given others, which --env has not.
  if (part->first < 0 && variables_.lacks_arguments()) return trouble(trouble_here);
  const auto first = part->first < 0 ? count + part->first : part->first - 1;
  add_arguments(apart, static_cast<std::size_t>(first), part->count);
}

std::optional<WordExpansion::Part> WordExpansion::part_of(std::string_view bounds) const {
  const auto colon = std::min(bounds.find(':'), bounds.size());
  const auto number = [&](std::string_view text) -> std::optional<std::int64_t> {
    if (text.empty()) return 0;  // "${NAME::8}"
    const auto plain = single(text);
    return plain
               ? calculated(*plain, [&](const std::string& one) { return variables_.text_of(one); })
               : std::nullopt;
  };
  const auto first = number(bounds.substr(0, colon));
  const auto count =
      colon < bounds.size() ? number(bounds.substr(colon + 1)) : std::optional(Part::all);
  return first && count ? std::optional(Part{*first, *count}) : std::nullopt;
}

void WordExpansion::measured(std::string_view inside) {
  const auto end = name_end(inside, 1);
  const std::string name(inside.substr(1, end - 1));
  const auto rest = inside.substr(end);
  const bool list = rest == "[@]" || rest == "[*]";
  const auto found = variables_.state_.values.find(name);
  const bool plain = found != variables_.state_.values.end() &&
                     std::ranges::all_of(found->second, [](const ShellWord& word) {
                       return word.trouble.empty() && word.text.find(mark) == word.text.npos;
                     });
  const auto text = variables_.text_of(name);
  if (inside[0] == '#' && list && plain)
    return add(std::to_string(found->second.size() - static_cast<std::size_t>(std::ranges::count(
                                                         found->second, "$@", &ShellWord::text))));
  if (inside[0] == '#' && rest.empty() && text) return add(std::to_string(text->size()));
  if (inside[0] == '!' && rest.empty() && text && name_end(*text, 0) == text->size() &&
      depth_ < deepest_default)
    return put(*text, {}, false, false);
  trouble("${" + std::string(inside) + "} needs a shell" + (text ? "" : advice(name)));
}

void WordExpansion::element(const std::string& name, std::string_view index) {
  const auto found = variables_.state_.values.find(name);
  const bool quoted = index.find_first_of("'\"") != index.npos;
  const auto words_of_key =
      quoted && depth_ < deepest_default ? inner().of(index) : std::vector<ShellWord>();
  const bool one = words_of_key.size() == 1 && words_of_key.front().trouble.empty();
  const auto key = one ? std::optional(words_of_key.front().text) : single(index);
  if (found == variables_.state_.values.end() || !key)
    return trouble("${" + name + "[" + std::string(index) + "]} needs a shell");
  const auto& words = found->second;
  const auto begin = "[" + *key + "]=";
  for (auto word = words.rbegin(); word != words.rend(); ++word)
    if (word->text.starts_with(begin)) return add_value(word->text.substr(begin.size()), name);
  auto number =
      calculated(*key, [&](const std::string& variable) { return variables_.text_of(variable); });
  if (number && *number < 0) *number += static_cast<std::int64_t>(words.size());  // from the end
  for (const auto& word : words)
    if (!word.trouble.empty()) return trouble(reason_of(name, word.trouble));
  const bool unknown = std::ranges::any_of(
      words, [](const ShellWord& word) { return word.text.starts_with('[') || word.text == "$@"; });
  if (unknown || !number || *number < 0)
    return trouble("${" + name + "[" + std::string(index) + "]} needs a shell");
  // An element that only a shell can tell may stand for several.
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool asked = std::cmp_equal(i, *number);
    if (asked || words[i].text.find(mark) != std::string::npos)
      return add_words({words[i]}, name, false);
  }
}

// The text of a variable or argument, if it is one word that is known. Arguments that a function is
// not given are empty.
std::optional<std::string> WordExpansion::text_of(const std::string& name) const {
  if (!is_digit(name.front())) return variables_.text_of(name);
  if (name == "0") return std::string(script_path);
  const auto& all = variables_.arguments_;
  if (!all.doubt.empty() || name.size() > 3) return {};
  const auto number = std::stoll(name) + all.shifted;
  if (all.own) {
    const auto given = variables_.given_.find(std::to_string(number));
    return given == variables_.given_.end() ? std::nullopt : std::optional(given->second);
  }
  if (number < 1 || number > static_cast<std::int64_t>(all.words.size())) return "";
  const auto& word = all.words[static_cast<std::size_t>(number) - 1];
  return word.trouble.empty() ? std::optional(word.text) : std::nullopt;
}

void WordExpansion::alternative(const std::string& name, std::string_view word, bool colon) {
  const bool numbered = is_digit(name.front());
  if (numbered && !variables_.arguments_.doubt.empty()) return add_argument(name, {});
  const auto text = text_of(name);
  if (const auto found = variables_.state_.values.find(name);
      !text && !numbered && found != variables_.state_.values.end() && !found->second.empty()) {
    if (std::ranges::all_of(found->second, is_blank_word))
      return colon ? void() : add_default(word, {}, false);
    const bool known = std::ranges::all_of(found->second, [](const ShellWord& one) {
      return one.trouble.empty() && one.text.find(mark) == one.text.npos;
    });
    return known ? add_default(word, {}, false) : put(name, {}, false, false);  // its trouble
  }
  if (!text || (colon && text->empty())) return;
  add_default(word, {}, false);
}

void WordExpansion::change(const std::string& name, std::string_view inside,
                           std::string_view operation, bool list) {
  if (list && operation.starts_with(':')) return slice(name, inside, operation.substr(1));
  const auto text = list ? std::nullopt : text_of(name);
  if (!text && is_digit(name.front())) return add_argument(name, "${" + std::string(inside) + "}");
  if (!text && !list && !variables_.knows(name)) return put(name, {}, false, false);
  if (text && operation.starts_with(':')) {
    const auto cut = part_of(operation.substr(1));
    const auto part = cut ? cut_out(*text, cut->first, cut->count) : std::nullopt;
    return part ? add_value(*part, {}) : trouble("${" + std::string(inside) + "} needs a shell");
  }
  const auto operand = single(operation);
  // Between quotes a sign of patterns is itself.
  const bool quotes_sign = operation.find('"') != operation.npos && operand &&
                           operand->find_first_of("*?[\\") != operand->npos;
  const auto changed =
      text && operand && !quotes_sign ? changed_text(*text, *operand) : std::nullopt;
  if (changed) return add_value(*changed, {});
  trouble("${" + std::string(inside) + "} needs a shell");
}

void WordExpansion::slice(const std::string& name, std::string_view inside,
                          std::string_view bounds) {
  const auto found = variables_.state_.values.find(name);
  const auto part = part_of(bounds);
  if (found == variables_.state_.values.end() || !part || part->first < 0 || part->count < 0)
    return trouble("${" + std::string(inside) + "} needs a shell");
  const auto& words = found->second;
  const bool plain = std::ranges::all_of(words, [](const ShellWord& word) {
    return word.trouble.empty() && word.text != "$@" && !word.text.starts_with('[') &&
           word.text.find(mark) == word.text.npos;
  });
  if (!plain) return trouble("${" + std::string(inside) + "} needs a shell");
  const auto size = static_cast<std::int64_t>(words.size());
  const auto begin = std::min(size, part->first), end = begin + std::min(size - begin, part->count);
  add_words({words.begin() + begin, words.begin() + end}, name, true);
}

namespace {

// Whether the text ends with a blank that no backslash quotes.
bool ends_with_blank(std::string_view text) {
  return !text.empty() && is_blank(text.back()) &&
         (text.size() == 1 || text[text.size() - 2] != '\\');
}

}  // namespace

void WordExpansion::add_default(std::string_view fallback, const std::string& name, bool list) {
  if (depth_ >= deepest_default) return trouble("too many defaults inside of each other");
  auto within = inner(unknown_);
  within.quoted_ = within.enclosed_ = quoted_;
  within.splits_ = !quoted_;
  const auto words = within.of(fallback);
  const bool apart = list || (!quoted_ && !words.empty());
  // Blanks at its edges part it from the text beside it.
  if (!quoted_ && !fallback.empty() && is_blank(fallback.front())) end_word();
  const bool quoted = std::exchange(quoted_, true);  // they are split already
  add_words(words, name, apart);
  quoted_ = quoted;
  if (!quoted_ && ends_with_blank(fallback)) end_word();
}

void WordExpansion::put(const std::string& name, std::string_view fallback, bool has_fallback,
                        bool list) {
  if (const auto given = variables_.given_.find(name); given != variables_.given_.end())
    return add_value(given->second, name);
  const bool known = variables_.knows(name);
  const auto words = known ? words_of(name, variables_, list) : std::vector<ShellWord>();
  const bool empty = known && std::ranges::all_of(words, is_blank_word);
  if (has_fallback && (!known || empty)) return add_default(fallback, name, list);
  if (known && list && !words.empty() && words.front().text.starts_with('['))
    return add_words(without_keys(words), name, list);
  const char kind = variables_.kind_of(name);
  const bool of_keys = (kind == 'a' || kind == 'A') && !words.empty();
  if (of_keys && words.front().text.starts_with('[') &&
      words.front().text.find("]=") != std::string::npos)
    return element(name, "0");
  if (known) return add_words(words, name, list);
  if (name == "BASH_SOURCE") return add(script_path);
  if (name == "PWD") return add(script_folder);
  if ((name == "SLURM_JOB_ID" || name == "SLURM_JOBID") && unknown_ != Unknown::none)
    return add("1");  // a number as good as any other
  const auto& unread = variables_.unread_;
  trouble(name + " has no value in this file" +
          (unread.empty() ? "" : ", and " + unread + " is not beside it") + advice(name));
}

}  // namespace scenarios
