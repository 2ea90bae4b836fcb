// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/argument_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "scenarios/jobs/keys_as_flags.hpp"

namespace scenarios {
namespace {

std::string_view name_in(std::string_view word) { return word.substr(0, word.find('=')); }

// Returns where the value begins in "section.key=value", as Hydra writes it, for a key of the
// table; npos for other words.
std::size_t override_at(std::string_view word, const ArgumentTable& table) {
  const auto equals = word.find('=');
  const auto dot = word.find('.');
  if (equals == word.npos || dot > equals || begins_argument(word)) return word.npos;
  const auto begin = std::min(word.find_first_not_of("+~"), equals);
  return table.find(word.substr(begin, equals - begin)) != nullptr ? equals + 1 : word.npos;
}

// Returns where the value begins in "key=value" or "section.key=value" of any key, which is not
// all in capitals as variables of the environment are; npos for other words.
std::size_t any_override_at(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == word.npos || begins_argument(word)) return word.npos;
  const auto key = word.substr(0, equals).substr(std::min(word.find_first_not_of("+~"), equals));
  const auto is_of_key = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  const auto is_small = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  return std::ranges::all_of(key, is_of_key) && std::ranges::any_of(key, is_small) ? equals + 1
                                                                                   : word.npos;
}

// Returns "section.key" for "~section.key" and "~section.key=value", by which Hydra takes a key
// away; empty for other words.
std::string deleted_in(std::string_view word) {
  if (!word.starts_with('~')) return {};
  const auto key = word.substr(1, word.find('=') - 1);
  return any_override_at(std::string(key) + "=") == word.npos ? std::string() : std::string(key);
}

// Whether the word is an option of one letter, "-f".
bool is_letter_option(std::string_view word) {
  return word.size() == 2 && word[0] == '-' &&
         std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

// Whether the word is meant as an option, but begins as none does: with another dash, or with one
// hyphen and a name.
bool is_misspelt_option(std::string_view word) {
  const bool hyphen =
      word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
  return foreign_dash(word) > 0 || (hyphen && word.find(' ') == word.npos);
}

// Adds a word that begins no argument and is the value of none. One that only a shell can tell may
// hold arguments.
void add_lone_word(const ShellWord& word, std::vector<JobArgument>& arguments) {
  if (!word.trouble.empty()) {
    arguments.push_back({{}, {word}, word.at});
  } else if (!arguments.empty()) {
    const auto shown = word.text.empty() ? "\"\"" : word.text;
    arguments.push_back({shown, {}, word.at, shown});
    arguments.back().stray = true;
  }
}

}  // namespace

std::size_t foreign_dash(std::string_view word) {
  constexpr std::array<std::string_view, 5> dashes{"\u2010", "\u2011", "\u2013", "\u2014",
                                                   "\u2212"};
  std::size_t length = 0;
  for (bool longer = true; longer;) {
    longer = false;
    for (const auto dash : dashes)
      if (word.substr(length).starts_with(dash)) {
        length += dash.size();
        longer = true;
      }
  }
  return length;
}

bool begins_argument(std::string_view word) {
  return word.size() > 2 && word.starts_with("--") &&
         std::isalpha(static_cast<unsigned char>(word[2])) != 0;
}

std::size_t known_among(std::span<const ShellWord> words, const ArgumentTable& table) {
  return static_cast<std::size_t>(std::ranges::count_if(words, [&](const ShellWord& word) {
    return (begins_argument(word.text) && table.find(name_in(word.text)) != nullptr) ||
           override_at(word.text, table) != std::string_view::npos;
  }));
}

std::vector<JobArgument> arguments_from(std::span<const ShellWord> words,
                                        const ArgumentTable& table) {
  std::vector<JobArgument> arguments;
  // Where one word is an override of the framework, or names the recipe that they override, all of
  // that form are meant to be.
  const auto begins = [&](std::string_view word) {
    return begins_argument(word) || is_misspelt_option(word);
  };
  const bool overrides = std::ranges::any_of(words, [&](const ShellWord& word) {
    return word.text == "--factory" || word.text == "--recipe" ||
           (is_letter_option(word.text) && table.find(word.text) != nullptr) ||
           override_at(word.text, table) != std::string_view::npos ||
           table.find(deleted_in(word.text)) != nullptr;
  });
  const auto value_at = [&](std::string_view word) {
    return overrides ? any_override_at(word) : word.npos;
  };
  for (std::size_t i = 0; i < words.size();) {
    const auto& word = words[i++];
    if (auto deleted = overrides ? deleted_in(word.text) : std::string(); !deleted.empty()) {
      arguments.push_back({std::move(deleted), {}, word.at, word.text});
      arguments.back().off = true;
      continue;
    }
    if (const auto value = value_at(word.text); value != std::string_view::npos) {
      const auto name = word.text.substr(0, value - 1);
      arguments.push_back({name.substr(std::min(name.find_first_not_of("+~"), name.size())),
                           {{word.text.substr(value), word.trouble, word.at}},
                           word.at});
      continue;
    }
    if (word.text == "$@" || word.text == "$*") {
      arguments.push_back({word.text, {}, word.at});
      continue;
    }
    if (!begins(word.text)) {
      add_lone_word(word, arguments);
      continue;
    }
    JobArgument argument{std::string(name_in(word.text)), {}, word.at};
    const auto* known = table.find(argument.name);
    const char takes = known == nullptr ? '?' : known->takes;
    std::size_t most = takes == '0' ? 0 : takes == '1' ? 1 : takes == '3' ? 3 : words.size();
    if (argument.name.size() < word.text.size()) {
      argument.values.push_back(
          {word.text.substr(argument.name.size() + 1), word.trouble, word.at});
      most = 0;
    }
    // Over another framework's table a switch may have a word of its own: --finetune true.
    if (takes == '0' && most == 0 && table.below() != nullptr && argument.values.empty() &&
        i < words.size() && yes_or_no(words[i].text))
      argument.values.push_back(words[i++]);
    for (; most > 0 && i < words.size() && !begins(words[i].text) &&
           value_at(words[i].text) == std::string_view::npos;
         --most)
      argument.values.push_back(words[i++]);
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

bool has_word(std::string_view text, std::string_view word, std::string_view joins) {
  const auto is_part = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           joins.find(c) != joins.npos;
  };
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end])))
      return true;
  }
  return false;
}

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  std::int64_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    lines.push_back({line, {number, 1, 0}});
    begin = end + 1;
  }
  return lines;
}

std::size_t arguments_in(std::string_view text, const ArgumentTable& table, std::string_view part) {
  std::size_t known = 0;
  for (const auto& line : lines_of(text)) {
    const auto code = line.text.substr(0, line.text.find('#'));
    for (auto begin = code.find("--"); begin != code.npos; begin = code.find("--", begin + 2)) {
      const auto rest = code.substr(begin);
      const auto name = rest.substr(0, rest.find_first_of(" =\t\\\"')"));
      if (name.find(part, 2) != name.npos && table.find(name) != nullptr) ++known;
    }
  }
  return known;
}

std::size_t overrides_in(std::string_view text, const ArgumentTable& table) {
  std::size_t known = 0;
  for (const auto& line : lines_of(text)) {
    const auto code = line.text.substr(0, line.text.find('#'));
    for (auto rest = code; !rest.empty();) {
      const auto end = std::min(rest.find_first_of(" \t\"'()"), rest.size());
      if (override_at(rest.substr(0, end), table) != rest.npos) ++known;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return known;
}

}  // namespace scenarios
