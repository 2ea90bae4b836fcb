// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/recipe_word.hpp"

#include <algorithm>
#include <array>

namespace scenarios {
namespace {

bool is_named(const ShellWord& word) { return word.trouble.empty() && names_settings(word.text); }

bool waits_for_value(std::string_view word) {
  return word.starts_with('-') && word.find('=') == word.npos;
}

}  // namespace

bool names_settings(std::string_view word) {
  constexpr std::array<std::string_view, 4> endings{".yaml", ".yml", ".json", ".toml"};
  return std::ranges::any_of(endings, [&](auto ending) { return word.ends_with(ending); });
}

std::string path_in(std::string_view word) { return std::string(word.substr(word.rfind('=') + 1)); }

bool takes_recipe(std::string_view word) {
  constexpr std::array<std::string_view, 6> options{
      "--config", "--config-file", "--config_file", "--config-path", "--config_path", "-c"};
  return std::ranges::find(options, word.substr(0, word.find('='))) != options.end();
}

const ShellWord* recipe_word(std::span<const ShellWord> words) {
  const ShellWord* alone = nullptr;
  bool behind_long = false, behind_short = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].text;
    const bool option = text.starts_with('-');
    if (is_named(words[i])) {
      const bool asked = option ? takes_recipe(text) : i > 0 && takes_recipe(words[i - 1].text);
      if (asked) return &words[i];
      if (alone == nullptr && !option && !behind_long && !behind_short) alone = &words[i];
    }
    behind_short = waits_for_value(text);
    behind_long = behind_long || (behind_short && text.starts_with("--"));
  }
  return alone;
}

}  // namespace scenarios
