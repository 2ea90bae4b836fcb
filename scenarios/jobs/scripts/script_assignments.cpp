// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/scripts/script_assignments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>
#include <utility>

#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/shell/absent.hpp"
#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/braces.hpp"
#include "scenarios/shell/builtins.hpp"
#include "scenarios/shell/folder.hpp"
#include "scenarios/shell/options.hpp"

namespace scenarios {
namespace {

// Returns the doubt about a variable that is set where only a shell can tell whether, or how often.
std::string doubt_of(const std::string& name, const Place& at, const Certainty& certainty) {
  const auto line = std::to_string(at.line);
  const auto& why = certainty.why;
  if (why.empty() && !certainty.doubtful)
    return name + " is set in line " + line +
           " in a loop, or in a function that is not called, which needs a shell";
  if (why.empty())
    return name + " is set under a condition in line " + line + ", which needs a shell";
  const auto advice_at = std::min(why.find("; add --env"), why.size());
  return name + " is set in line " + line + " under a condition that is not known (" +
         why.substr(0, advice_at) + ")" + why.substr(advice_at);
}

// Returns the doubt about whether a variable is exported.
std::string export_doubt_of(const std::string& name, const Place& at, const Certainty& certainty) {
  auto doubt = doubt_of(name, at, certainty);
  const std::string set = " is set ";
  return doubt.replace(doubt.find(set, name.size()), set.size(), " is exported ");
}

std::vector<ShellWord> split(const std::string& name, const std::vector<ShellWord>& words) {
  ShellVariables variables({});
  variables.assign(name, words);
  return variables.expanded("$" + name, words.empty() ? Place{} : words.front().at);
}

// Returns the value of "((…))", or of a word of let, with what it assigns; nothing: only a shell
// can tell.
std::optional<Calculation> sum_of(const RawWord& word, const ShellVariables& variables) {
  auto raw = word.text;
  if (raw.starts_with("((") && raw.ends_with("))") && raw.size() > 3)
    raw = '"' + raw.substr(2, raw.size() - 4) + '"';
  const auto words = variables.expanded(raw, word.at);
  if (words.size() != 1 || !words.front().trouble.empty()) return {};
  return calculated_with_assignments(
      words.front().text, [&](const std::string& name) -> std::optional<std::string> {
        if (!name.ends_with(']')) return variables.text_of(name);
        const auto element = variables.expanded("\"${" + name + "}\"", word.at);
        const bool known = element.size() == 1 && element.front().trouble.empty();
        return known ? std::optional(element.front().text) : std::nullopt;
      });
}

// Gives words the letters that their variable is declared with, 'l' or 'u'.
void change_case(char kind, std::vector<ShellWord>& words) {
  if (kind != 'l' && kind != 'u') return;
  for (auto& word : words)
    if (std::ranges::all_of(split("one", {word}),
                            [](const ShellWord& part) { return part.trouble.empty(); }))
      for (auto& c : word.text) {
        const auto byte = static_cast<unsigned char>(c);
        c = static_cast<char>(kind == 'l' ? std::tolower(byte) : std::toupper(byte));
      }
}

}  // namespace

void ScriptAssignments::assign(const Statement& statement, std::size_t i,
                               const Certainty& certainty) {
  const auto& word = statement.words[i];
  const auto value_at = assigned_at(word.text);
  const bool adds = word.text[value_at - 2] == '+';
  const auto name = word.text.substr(0, value_at - (adds ? 2 : 1));
  if (!statement.array && certainty.sure) begin_empty(name, word.text.substr(value_at));
  if (!statement.array && variables_.kind_of(name) == 'i') return calculate_value(word, certainty);
  auto value = statement.array ? words_of(statement, 1, true)
                               : whole_value(word.text.substr(value_at), word.at);
  const bool alone = adds || !variables_.knows(name) || variables_.text_of(name) == "";
  const bool sure = statement.array ? !certainty.doubtful : certainty.sure;
  if (!sure && !(alone && is_harmless(split(name, value)))) {
    variables_.doubt(name, doubt_of(name, word.at, certainty));
    return;
  }
  if (!statement.array) change_case(variables_.kind_of(name), value);
  if (statement.array)
    variables_.set_kind(name, statement.keyed || variables_.kind_of(name) == 'A' ? 'A' : 'a');
  if (!statement.array && variables_.kind_of(name) == 'a' && set_first(name, value, adds)) return;
  const auto before = variables_.text_of(name);
  if (adds && !statement.array && before && !value.empty()) {
    auto both = value;
    both.front().text.insert(0, *before);
    variables_.assign(name, std::move(both));
  } else if (adds)
    variables_.append(name, value);
  else
    variables_.assign(name, value);
  constexpr std::size_t longest = 16'384;  // text of a list of arguments
  if (value.size() == 1 && value.front().text.size() > longest) return;
  if (auto words = split(name, value); known_among(words, table_) > 0)
    lists_.push_back(std::move(words));
}

// A variable without value whose value is added to, X="$X --flag", begins empty.
void ScriptAssignments::begin_empty(const std::string& name, std::string_view raw) {
  const auto names = [&](const std::string& text) {
    const auto at = raw.find(text);
    const auto end = at + text.size();
    constexpr std::string_view goes_on =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return at != raw.npos &&
           (text.ends_with('}') || end >= raw.size() || goes_on.find(raw[end]) == goes_on.npos);
  };
  const bool known = variables_.knows(name) || variables_.text_of(name);
  const bool more = raw.find(' ') != raw.npos;  // a list, and no single value
  if (!known && more && (names("$" + name) || names("${" + name + "}")))
    variables_.assign(name, {});
}

// Gives the first element of an array a value, as "ARRAY=value" does; returns whether there is one
// that is known.
bool ScriptAssignments::set_first(const std::string& name, const std::vector<ShellWord>& value,
                                  bool adds) {
  auto all = variables_.variable(name).value.value_or(std::vector<ShellWord>());
  const bool known =
      value.size() == 1 && std::ranges::none_of(all, [](const ShellWord& word) {
        return word.text.starts_with('[') || word.text == "$@" || !word.trouble.empty();
      });
  if (!known) {
    variables_.set_kind(name, '\0');
    return false;
  }
  if (all.empty()) all.push_back({});
  all.front() = {
      (adds ? all.front().text : std::string()) + value.front().text, {}, value.front().at};
  variables_.assign(name, std::move(all));
  return true;
}

void ScriptAssignments::assign_defaults(const Statement& statement, const Certainty& certainty) {
  for (const auto& [raw, at] : statement.words)
    for (const auto& [name, expansion] : assigning_expansions(raw)) {
      if (variables_.kind_of(name) == 'a') continue;
      if (certainty.sure)
        variables_.assign(name, whole_value(expansion, at));
      else if (!variables_.knows(name))
        variables_.doubt(name, doubt_of(name, at, certainty));
    }
}

std::optional<bool> ScriptAssignments::calculate(const RawWord& word, const Certainty& certainty) {
  if (certainty.sure && !certainty.doubtful)
    if (const auto sum = sum_of(word, variables_)) {
      for (const auto& [name, value] : sum->assigned)
        variables_.assign(name, {{std::to_string(value), {}, word.at}});
      return sum->value != 0;
    }
  const auto others = assigned_otherwise(word.text);
  for (const auto& name : others)
    variables_.doubt(name, name + " is calculated in line " + std::to_string(word.at.line) +
                               ", which needs a shell");
  const auto one = arithmetic_assignment(word.text);
  if (!others.empty() || one.name.empty()) return {};
  if (!certainty.sure || certainty.doubtful)
    variables_.doubt(one.name, doubt_of(one.name, word.at, certainty));
  else
    variables_.assign(one.name, variables_.value_of("\"$((" + one.value + "))\"", word.at));
  return {};
}

void ScriptAssignments::doubt_changed(const std::string& name, const Place& loop) {
  variables_.doubt(name, name + " changes in the loop in line " + std::to_string(loop.line) +
                             ", of which one turn is a job");
}

void ScriptAssignments::doubt_turns(const RawWord& word) {
  const auto& name = word.text;
  if (!name.starts_with("((")) {
    if (assigned_at(name + "=") != std::string_view::npos) doubt_changed(name, word.at);
    return;
  }
  const auto loop = counting_loop(name);
  if (!loop) {
    calculate(word, {.sure = false});
    return;
  }
  for (const auto& sum : {loop->first, loop->condition, loop->step})
    calculate({"((" + sum + "))", word.at}, {.sure = false});
}

std::optional<std::int64_t> ScriptAssignments::take_turns(const CountingLoop& loop, const Place& at,
                                                          const Certainty& certainty,
                                                          const std::function<bool()>& turn) {
  constexpr std::int64_t most = 1'000;
  if (!loop.first.empty()) calculate({"((" + loop.first + "))", at}, certainty);
  for (std::int64_t count = 0; count <= most; ++count) {
    const auto holds = calculate({"((" + loop.condition + "))", at}, certainty);
    if (!holds) return {};
    if (!*holds || !turn()) return count;
    if (!loop.step.empty()) calculate({"((" + loop.step + "))", at}, certainty);
  }
  return {};
}

// Assigns "NAME=sum" to a variable whose values are calculated.
void ScriptAssignments::calculate_value(const RawWord& word, const Certainty& certainty) {
  const auto at = assigned_at(word.text);
  const auto name = word.text.substr(0, word.text.find_first_of("+="));
  auto value = whole_value(word.text.substr(at), word.at);
  ShellVariables one({});
  one.assign(name, value);
  const auto plain = one.expanded("\"$" + name + '"', word.at);
  if (plain.size() > 1 || (!plain.empty() && !plain.front().trouble.empty()))
    return variables_.assign(name, std::move(value));
  const auto text = plain.empty() || plain.front().text.empty() ? "0" : plain.front().text;
  calculate({"((" + word.text.substr(0, at) + text + "))", word.at}, certainty);
}

void ScriptAssignments::doubt_counted(const Statement& statement) {
  constexpr std::string_view opens = "$((", closes = "))";
  for (const auto& [text, at] : statement.words)
    for (auto begin = text.find(opens); begin != text.npos; begin = text.find(opens, begin + 1)) {
      const auto end = std::min(text.find(closes, begin), text.size());
      const auto inside = text.substr(begin + opens.size(), end - begin - opens.size());
      auto names = assigned_otherwise(inside);
      if (const auto one = arithmetic_assignment(inside); !one.name.empty())
        names.push_back(one.name);
      for (const auto& name : names)
        variables_.doubt(name, name + " is changed in a sum in line " + std::to_string(at.line) +
                                   ", which needs a shell");
    }
}

void ScriptAssignments::add_attributes(const RawWord& word, std::string_view options,
                                       const Certainty& certainty) {
  const auto name = word.text.substr(0, word.text.find_first_of("+="));
  const auto has = [&](char option) { return options.find(option) != options.npos; };
  const auto doubt = certainty.doubtful ? export_doubt_of(name, word.at, certainty) : "";
  if (has('N') && doubt.empty()) variables_.state().forget_export(name);
  if (has('N') && !doubt.empty() && variables_.variable(name).exported) {
    variables_.state().forget_export(name);
    variables_.mark_exported(name, doubt);
  } else if (has('x') && !has('N') && !has('G')) {
    variables_.mark_exported(name, doubt);
  }
  const auto before = variables_.kind_of(name);
  const bool assigns = name.size() < word.text.size();
  for (const char kind : {'i', 'l', 'u'})
    if (has(kind)) variables_.set_kind(name, kind);
  if (has('A')) variables_.set_kind(name, 'A');
  if (has('K')) variables_.set_kind(name, '\0');
  if (assigns && has('i') && before != 'i') calculate_value(word, certainty);
  const bool cased = assigns && (has('l') || has('u')) && before == '\0';
  if (auto value = variables_.variable(name).value; cased && value) {
    change_case(has('l') ? 'l' : 'u', *value);
    variables_.assign(name, std::move(*value));
  }
  if (!has('n')) return;
  const auto why = name + " is another name of a variable from line " +
                   std::to_string(word.at.line) + " on, which needs a shell";
  if (const auto other = variables_.text_of(name); other && !other->empty())
    variables_.doubt(*other, why);
  variables_.doubt(name, why);
}

void ScriptAssignments::set_options(const Statement& statement, const Certainty& certainty) {
  const auto& words = statement.words;
  if (words.size() < 2) return;
  const std::string_view sets = words[1].text;
  const bool on = sets.find('s') != sets.npos, off = sets.find('u') != sets.npos;
  if (!sets.starts_with('-') || on == off) return;
  for (const auto& [option, at] : std::span(words).subspan(2)) {
    const auto name = option_name(option);
    if (std::ranges::find(options_read, option) == options_read.end()) continue;
    if (!certainty.sure || certainty.doubtful)
      variables_.doubt(name, doubt_of(name, at, certainty));
    else
      variables_.assign(name, {{on ? option : "", {}, at}});
  }
}

std::optional<bool> ScriptAssignments::read(const Statement& statement,
                                            const Certainty& certainty) {
  constexpr std::array<std::string_view, 4> readers{"read", "mapfile", "readarray", "getopts"};
  const auto& words = statement.words;
  std::size_t first = 0;
  while (first + 1 < words.size() && assigned_at(words[first].text) != std::string_view::npos)
    ++first;  // IFS=,
  const auto& command = words[first].text;
  const bool prints =
      command == "printf" && first + 2 < words.size() && words[first + 1].text == "-v";
  if (!prints && std::ranges::find(readers, command) == readers.end()) return {};
  const bool sure = certainty.sure && !certainty.doubtful;
  if (auto name = whole_text_name(statement, first); !name.empty()) {
    Statement assignment;
    assignment.words.push_back(
        {std::move(name) + "=" + statement.document.text, statement.document.at});
    assign(assignment, 0, certainty);
    return false;  // the text has no end that it looks for
  }
  if (sure && command == "getopts")
    if (const auto has = read_option(statement, first, variables_)) return has;
  if (sure && !prints && command != "getopts" && read_text(statement, first, variables_))
    return true;
  if (sure && prints && print_to(statement, first)) return true;
  const auto end = prints ? first + 3 : words.size();
  for (auto i = end; --i > first;) {
    const auto& [name, at] = words[i];
    if (assigned_at(name + "=") != name.size() + 1) break;
    variables_.doubt(name, name + " is set by " + command + " in line " + std::to_string(at.line) +
                               ", which needs a shell");
  }
  return command != "read" && !statement.processes.empty() ? std::optional(true) : std::nullopt;
}

// Assigns what "printf -v NAME FORMAT WORD…" prints; returns whether it is known.
bool ScriptAssignments::print_to(const Statement& statement, std::size_t command) {
  const auto& words = statement.words;
  const auto& name = words[command + 2].text;
  std::string shown = "\"$(printf";
  for (auto i = command + 3; i < words.size(); ++i) shown += " " + words[i].text;
  auto value = variables_.expanded(shown + ")\"", words[command].at);
  const bool known = value.size() == 1 && value.front().trouble.empty() &&
                     assigned_at(name + "=") == name.size() + 1;
  if (known) variables_.assign(name, std::move(value));
  return known;
}

void ScriptAssignments::assign_for_child(const Statement& statement, std::size_t words,
                                         const Certainty& certainty) {
  constexpr std::string_view option = "--export=";  // of Slurm: "ALL,NAME=value"
  const auto give = [&](const std::string& name) {
    variables_.state().take_hidden(name);
    variables_.mark_exported(name);
  };
  const auto take_away = [&](const std::string& name) {
    variables_.assign(name, {});
    variables_.state().forget_export(name);
  };
  bool of_env = false;  // the words are those of env
  for (std::size_t i = 0; i < std::min(words, statement.words.size()); ++i) {
    const auto& [raw, at] = statement.words[i];
    if (of_env && (raw == "-u" || raw == "--unset") && i + 1 < statement.words.size()) {
      take_away(statement.words[++i].text);
      continue;
    }
    if (of_env && raw.starts_with("-u")) take_away(raw.substr(2));
    if (of_env && raw.starts_with("--unset=")) take_away(raw.substr(raw.find('=') + 1));
    of_env = of_env ? raw.starts_with('-') || assigned_at(raw) != std::string_view::npos
                    : raw == "env" || raw.ends_with("/env");
    if (of_env && (raw == "-" || raw == "-i" || raw == "--ignore-environment"))
      variables_.keep_none();
    variables_.state()
        .exchange_hidden();  // the shell's own variables, by which the values are made
    std::vector<std::string> names;
    if (assigned_at(raw) != std::string_view::npos) {
      assign(statement, i, certainty);
      names.push_back(raw.substr(0, raw.find_first_of("+=")));
    }
    for (const auto& word : variables_.value_of(raw, at))
      for (auto rest = std::string_view(word.text).substr(
               word.text.starts_with(option) ? option.size() : word.text.size());
           !rest.empty();) {
        const auto end = std::min(rest.find(','), rest.size());
        const auto value_at = assigned_at(rest.substr(0, end));
        if (value_at != std::string_view::npos) {
          names.emplace_back(rest.substr(0, value_at - 1));
          variables_.assign(names.back(),
                            {{std::string(rest.substr(value_at, end - value_at)), {}, at}});
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    variables_.state().exchange_hidden();
    std::ranges::for_each(names, give);
  }
  variables_.state().hidden.clear();
}

void ScriptAssignments::leave_empty(const Statement& statement, const std::string& argument) {
  for (const auto& word : statement.words) {
    const auto value_at = assigned_at(word.text);
    if (value_at == std::string_view::npos) return;
    auto name = word.text.substr(0, value_at - 1);
    if (name.ends_with('+')) name.pop_back();
    std::vector<ShellWord> empty;
    if (!argument.empty() && !statement.array)
      empty.push_back({{}, left_empty_by(name, word.at, argument), word.at});
    if (!variables_.knows(name)) variables_.assign(name, std::move(empty));
    if (statement.array) return;
  }
}

void ScriptAssignments::unset(const RawWord& word, const Certainty& certainty) {
  auto name = word.text;
  std::erase_if(name, [](char c) { return c == '"' || c == '\''; });
  if (const auto bracket = name.find('['); bracket != std::string::npos) {  // an element
    name.erase(bracket);
    return variables_.doubt(name, name + " loses an element in line " +
                                      std::to_string(word.at.line) + ", which needs a shell");
  }
  if (assigned_at(name + "=") == std::string_view::npos) return;  // an option
  if (!certainty.sure || certainty.doubtful)
    return variables_.doubt(name, doubt_of(name, word.at, certainty));
  variables_.assign(name, {});
  variables_.state().forget_export(name);
  variables_.set_kind(name, '\0');
}

std::optional<bool> ScriptAssignments::shift(const Statement& statement,
                                             const Certainty& certainty) {
  const bool sure = certainty.sure && !certainty.doubtful;
  const auto many = words_of(statement, 1);
  return variables_.shift(!sure ? "" : many.empty() ? "1" : many.front().text);
}

void ScriptAssignments::change_to(const Statement& statement, const Certainty& certainty) {
  const bool sure = certainty.sure && !certainty.doubtful;
  const auto doubt = sure ? "" : doubt_of("the folder", statement.words.front().at, certainty);
  change_folder(statement, doubt, variables_);
}

void ScriptAssignments::set_arguments(const Statement& statement, const Certainty& certainty) {
  const auto& words = statement.words;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    const bool flags = word.starts_with('-') && !word.starts_with("--");
    const bool off = word.starts_with('+');
    const bool named = word == "allexport" && words[i - 1].text.ends_with('o');
    if (named || ((flags || off) && word.find('a') != word.npos))
      variables_.export_all(!(named ? words[i - 1].text.starts_with('+') : off),
                            certainty.sure && !certainty.doubtful
                                ? std::string()
                                : doubt_of("every variable", words[i].at, certainty));
    if (word == "--") break;
  }
  std::size_t first = 1;
  while (first < words.size() && words[first].text != "--" &&
         (words[first].text.starts_with('-') || words[first].text.starts_with('+') ||
          words[first - 1].text.ends_with('o')))  // set -o pipefail
    ++first;
  if (first == words.size()) return;
  if (words[first].text == "--") ++first;
  if (certainty.sure && !certainty.doubtful)
    variables_.exchange_arguments(words_of(statement, first));
  else
    variables_.doubt_arguments(doubt_of("$@", words.front().at, certainty));
}

std::vector<ShellWord> ScriptAssignments::words_of(const Statement& statement, std::size_t first,
                                                   bool value) const {
  std::vector<ShellWord> words;
  bool assigns = !statement.array;  // in front of a command, where braces stay as they are
  for (std::size_t i = first; i < statement.words.size(); ++i) {
    const auto& [text, at] = statement.words[i];
    assigns = assigns && assigned_at(text) != std::string_view::npos;
    for (const auto& raw : assigns ? std::vector{text} : braced(text))
      for (auto& one : value ? variables_.value_of(raw, at) : variables_.expanded(raw, at))
        words.push_back(std::move(one));
  }
  return words;
}

// Whether the words are only arguments without effect, so that it does not matter whether they
// are given.
bool ScriptAssignments::is_harmless(const std::vector<ShellWord>& words) const {
  const auto arguments = arguments_from(words, table_);
  return !arguments.empty() && begins_argument(words.front().text) &&
         std::ranges::all_of(arguments, [&](const JobArgument& one) {
           const auto* known = table_.find(one.name);
           return known != nullptr && known->effect == Effect::none;
         });
}

// Returns the value of an assignment, which is not split into words.
std::vector<ShellWord> ScriptAssignments::whole_value(const std::string& raw,
                                                      const Place& at) const {
  auto words = variables_.value_of(whole_word(raw), at);
  if (words.empty()) words.push_back({{}, {}, at});
  return words;
}

std::vector<ShellWord> ScriptAssignments::all_lists() const {
  std::vector<ShellWord> all;
  for (const auto& list : lists_) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace scenarios
