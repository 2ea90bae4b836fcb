// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/builtins.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/options.hpp"

namespace scenarios {
namespace {

// Returns the value of IFS for a command, which may be set in front of it; nothing: unknown.
std::optional<std::string> splits_of(const Statement& statement, std::size_t command,
                                     const ShellVariables& variables) {
  constexpr std::string_view name = "IFS=";
  for (std::size_t i = 0; i < command; ++i) {
    const auto& [raw, at] = statement.words[i];
    if (!raw.starts_with(name)) continue;
    const auto value = variables.expanded(whole_word(raw.substr(name.size())), at);
    const bool known = value.size() == 1 && value.front().trouble.empty();
    return known ? std::optional(value.front().text) : std::nullopt;
  }
  return variables.text_of("IFS");
}

std::vector<ShellWord> lines_of(std::string_view text, const Place& at) {
  std::vector<ShellWord> lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (bool more = true; more;) {
    const auto end = text.find('\n');
    lines.push_back({std::string(text.substr(0, end)), {}, at});
    more = end != text.npos;
    if (more) text.remove_prefix(end + 1);
  }
  return lines;
}

// The part of a text that a command reads, and the variables that it sets.
struct Asked {
  std::vector<std::string> names;
  bool list = false;    // one array
  bool plain = false;   // backslashes are letters
  bool to_end = false;  // the whole text, not the first line
};

// Returns what "mapfile -t NAME" reads; nothing for other options.
std::optional<Asked> lines_asked(std::span<const RawWord> words, std::size_t command) {
  Asked asked{.list = true, .to_end = true};
  bool without_ends = false;
  for (const auto& [word, at] : words.subspan(command + 1))
    if (word == "-t")
      without_ends = true;
    else if (assigned_at(word + "=") == word.size() + 1)
      asked.names.push_back(word);
    else
      return {};
  return without_ends ? std::optional(asked) : std::nullopt;
}

// Returns what "read -r -a NAME" and "read -r -d '' NAME" read; nothing for other options.
std::optional<Asked> words_asked(std::span<const RawWord> words, std::size_t command) {
  constexpr std::array<std::string_view, 3> no_letter{"''", "\"\"", "$'\\0'"};
  Asked asked;
  for (auto i = command + 1; i < words.size(); ++i) {
    const auto& word = words[i].text;
    if (assigned_at(word + "=") == word.size() + 1) {
      asked.names.push_back(word);
      continue;
    }
    if (word.size() < 2 || word[0] != '-' || word.find_first_not_of("rad", 1) != word.npos)
      return {};
    asked.plain = asked.plain || word.find('r') != word.npos;
    asked.list = asked.list || word.find('a') != word.npos;
    if (word.find('d') == word.npos) continue;
    const bool whole = word.ends_with('d') && ++i < words.size() &&
                       std::ranges::find(no_letter, words[i].text) != no_letter.end();
    if (!whole) return {};
    asked.to_end = true;
  }
  return asked;
}

// Returns how a declaration begins, its name and its options, all of them in one word. A variable
// of no function alone is one that "export" declares, with the option G where it is not exported;
// N: it is exported no more; K: its value is as it is written.
std::vector<RawWord> beginning_of(std::span<const RawWord> words) {
  const auto& [command, at] = words.front();
  std::string options = "-";
  bool global = command == "export" || command == "readonly", exports = command == "export";
  for (const auto& word : words.subspan(1))
    for (const char option : word.text.substr(1)) {
      const bool off = word.text.starts_with('+');
      const bool hides = off ? option == 'x' : option == 'n' && command == "export";
      const bool plain = off && (option == 'i' || option == 'l' || option == 'u');
      global = global || (!off && option == 'g');
      exports = exports || (!off && option == 'x');
      options += hides ? 'N' : plain ? 'K' : off ? '+' : option;
    }
  if (global && !exports) options += 'G';
  std::vector<RawWord> begin{{global ? "export" : command, at}};
  if (options.size() > 1) begin.push_back({options, at});
  return begin;
}

// Whether a value may depend on one of the variables.
bool may_name(std::string_view value, const std::vector<std::string>& names) {
  return value.find('$') != value.npos && std::ranges::any_of(names, [&](const std::string& name) {
           return value.find(name) != value.npos;
         });
}

// Returns "NAME=" with the value that the word has now, as far as it is one text.
std::string with_value_of_now(const RawWord& word, const ShellVariables& variables) {
  const auto at = assigned_at(word.text);
  const auto values = variables.value_of(whole_word(word.text.substr(at)), word.at);
  if (values.size() != 1 || !values.front().trouble.empty()) return word.text;
  return word.text.substr(0, at) + quoted_lines(values.front().text, true);
}

}  // namespace

Statement with_known_names(const Statement& statement, const ShellVariables& variables) {
  const auto is_option = [](const RawWord& word) {
    return word.text.starts_with('-') || word.text.starts_with('+');
  };
  const auto first =
      std::find_if_not(statement.words.begin() + 1, statement.words.end(), is_option);
  auto known = statement;
  known.words = beginning_of({statement.words.begin(), first});
  std::vector<std::string> names;  // of the words before: they are expanded before one is assigned
  for (const auto& word : std::span(first, statement.words.end())) {
    const auto& raw = word.text;
    const auto name_at = assigned_at(raw);
    if (name_at != std::string_view::npos) {
      const bool again = may_name(std::string_view(raw).substr(name_at), names);
      known.words.push_back({again ? with_value_of_now(word, variables) : raw, word.at});
      names.push_back(raw.substr(0, raw.find_first_of("+=")));
      continue;
    }
    const bool plain = assigned_at(raw + "=") != std::string_view::npos;
    const auto values = plain ? std::vector<ShellWord>() : variables.value_of(raw, word.at);
    const bool named = !values.empty() && std::ranges::all_of(values, [](const ShellWord& value) {
      return assigned_at(value.text + "=") != std::string_view::npos;
    });
    if (!named) known.words.push_back(word);
    for (const auto& value : named ? values : std::vector<ShellWord>()) {
      const auto at = assigned_at(value.text);
      const bool assigns = at != std::string_view::npos;
      known.words.push_back({assigns
                                 ? value.text.substr(0, at) +
                                       quoted_lines(std::string_view(value.text).substr(at), true)
                                 : value.text,
                             word.at});
    }
  }
  return known;
}

bool is_declaration(const Statement& statement) {
  constexpr std::array<std::string_view, 5> declare{"export", "local", "readonly", "declare",
                                                    "typeset"};
  return std::ranges::find(declare, statement.words[0].text) != declare.end();
}

bool ends(const Statement& statement) {
  const auto& words = statement.words;
  if (words.front().text == "exec") return words.size() > 1;
  if (words.front().text == "return") return true;
  return words.front().text == "exit";
}

std::optional<bool> returned_status(const Statement& statement, std::optional<bool> before,
                                    const ShellVariables& variables) {
  const auto& words = statement.words;
  const auto& name = words.front().text;
  if ((name != "return" && name != "exit") || words.size() > 2) return {};
  if (words.size() == 1 || words[1].text == "$?") return before;
  const auto status = variables.expanded(words[1].text, words[1].at);
  const bool known = status.size() == 1 && status.front().trouble.empty();
  return known ? std::optional(status.front().text == "0") : std::nullopt;
}

namespace {

// The arguments that getopts reads; nothing: only a shell can tell.
std::optional<std::vector<std::string>> arguments_read(std::span<const RawWord> own,
                                                       const ShellVariables& variables) {
  std::vector<std::string> texts;
  const std::vector<RawWord> all{{"\"$@\"", {}}};
  if (own.empty() && variables.lacks_arguments()) return texts;
  for (const auto& [raw, at] : own.empty() ? std::span<const RawWord>(all) : own)
    for (auto& word : variables.expanded(raw, at)) {
      if (word.text == "$@" && variables.lacks_arguments()) continue;
      if (!word.trouble.empty() || word.text == "$@") return {};
      texts.push_back(std::move(word.text));
    }
  return texts;
}

// Where getopts goes on: the argument, from 0, and the letter in it.
struct OptionPlace {
  std::size_t argument = 0, letter = 1;
};
// The number of the next argument, and both, which a script that sets the number makes void.
constexpr const char *next_name = "OPTIND", *place_name = "getopts place";

std::optional<OptionPlace> option_place(const ShellVariables& variables) {
  const bool fresh = !variables.knows(next_name) || variables.variable(next_name).value->empty();
  const auto next = fresh ? std::optional<std::string>("1") : variables.text_of(next_name);
  const auto number = next ? whole_number(*next) : std::nullopt;
  if (!number || *number < 1) return {};
  OptionPlace place{static_cast<std::size_t>(*number) - 1};
  const auto kept = variables.text_of(place_name).value_or("");
  const auto colon = kept.find(':');
  if (colon != kept.npos && kept.substr(0, colon) == *next)
    place.letter = std::stoul(kept.substr(colon + 1));
  return place;
}

}  // namespace

std::optional<bool> read_option(const Statement& statement, std::size_t command,
                                ShellVariables& variables) {
  const auto words = std::span(statement.words).subspan(command);
  if (words.size() < 3 || assigned_at(words[2].text + "=") != words[2].text.size() + 1) return {};
  const auto letters = variables.expanded(words[1].text, words[1].at);
  const auto arguments = arguments_read(words.subspan(3), variables);
  auto place = option_place(variables);
  if (letters.size() != 1 || !letters.front().trouble.empty() || !arguments || !place) return {};
  const auto& all = letters.front().text;
  const bool silent = all.starts_with(':');
  const auto at = words.front().at;
  const auto finish = [&](std::string option, std::vector<ShellWord> value, OptionPlace next) {
    const bool found = option != "--";
    const auto number = std::to_string(next.argument + 1);
    variables.assign(words[2].text, {{found ? std::move(option) : "?", {}, at}});
    variables.assign("OPTARG", std::move(value));
    variables.assign(next_name, {{number, {}, at}});
    variables.assign(place_name, {{number + ":" + std::to_string(next.letter), {}, at}});
    return found;
  };
  const auto count = arguments->size();
  if (place->argument >= count) return finish("--", {}, {count});
  const auto& argument = (*arguments)[place->argument];
  if (place->letter == 1 && (argument.size() < 2 || argument[0] != '-'))
    return finish("--", {}, *place);
  if (argument == "--") return finish("--", {}, {place->argument + 1});
  if (place->letter >= argument.size()) return {};
  const std::string option(1, argument[place->letter]);
  const auto rest = argument.substr(place->letter + 1);
  const auto next = rest.empty() ? OptionPlace{place->argument + 1}
                                 : OptionPlace{place->argument, place->letter + 1};
  const auto known = option == ":" ? all.npos : all.find(option, silent ? 1 : 0);
  const std::vector<ShellWord> told{{option, {}, at}};
  if (known == all.npos) return finish("?", silent ? told : std::vector<ShellWord>(), next);
  if (all.substr(known + 1, 1) != ":") return finish(option, {}, next);
  if (!rest.empty()) return finish(option, {{rest, {}, at}}, {place->argument + 1});
  if (place->argument + 1 < count)
    return finish(option, {{(*arguments)[place->argument + 1], {}, at}}, {place->argument + 2});
  return finish(silent ? ":" : "?", silent ? told : std::vector<ShellWord>(),
                {place->argument + 1});
}

void set_job_control(const Statement& statement, bool sure, ShellVariables& variables) {
  const auto& words = statement.words;
  const auto is_option = [](std::string_view word) {
    return (word.starts_with('-') && !word.starts_with("--")) || word.starts_with('+');
  };
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto &word = words[i].text, &before = words[i - 1].text;
    const bool named = is_option(before) && before.ends_with('o');
    if (!named && !is_option(word)) break;
    if (named ? word != monitor_option : word.find('m') == word.npos) continue;
    const auto option = option_name(monitor_option);
    const bool on = (named ? before : word).starts_with('-');
    if (sure)
      variables.assign(option, {{on ? "1" : "", {}, words[i].at}});
    else
      variables.doubt(option, option + " is set under a condition, which needs a shell");
  }
}

bool reads_line(const Statement& statement) {
  const auto command = std::ranges::find_if(statement.words, [](const RawWord& word) {
    return assigned_at(word.text) == std::string_view::npos;
  });
  return command != statement.words.end() && command->text == "read" && !statement.input &&
         !statement.reads && statement.document.text.empty();
}

std::string whole_text_name(const Statement& statement, std::size_t command) {
  const auto& words = statement.words;
  if (words[command].text != "read" || statement.document.text.empty()) return {};
  const auto asked = words_asked(words, command);
  const bool whole = asked && asked->to_end && !asked->list && asked->names.size() == 1;
  return whole ? asked->names.front() : std::string();
}

bool read_text(const Statement& statement, std::size_t command, ShellVariables& variables) {
  const auto& words = statement.words;
  const auto text = variables.expanded(statement.document.text, statement.document.at);
  if (text.size() != 1 || !text.front().trouble.empty()) return false;
  const bool lines = words[command].text != "read";
  const auto asked = lines ? lines_asked(words, command) : words_asked(words, command);
  if (!asked) return false;
  const auto& names = asked->names;
  const bool list = asked->list;
  auto value = text.front().text;
  if (!asked->to_end) value.resize(std::min(value.find('\n'), value.size()));
  if (names.empty() || (list && names.size() > 1) ||
      (!lines && !asked->plain && value.find('\\') != value.npos))
    return false;
  if (lines) {  // those without text count, too
    variables.assign(names.front(), lines_of(value, words[command].at));
    return variables.set_kind(names.front(), 'a'), true;
  }
  ShellVariables inside({});  // in which the text is split
  const auto split_at = splits_of(statement, command, variables);
  if (!split_at) return false;
  inside.assign("IFS", {{*split_at, {}, {}}});
  inside.assign("text", {{value, {}, {}}});
  auto parts =
      inside.expanded(names.size() == 1 && !list ? "\"$text\"" : "$text", words[command].at);
  if (!list && parts.size() > names.size()) return false;
  if (list) {
    variables.assign(names.front(), std::move(parts));
    return variables.set_kind(names.front(), 'a'), true;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    variables.assign(names[i],
                     {i < parts.size() ? parts[i] : ShellWord{{}, {}, words[command].at}});
  return true;
}

}  // namespace scenarios
