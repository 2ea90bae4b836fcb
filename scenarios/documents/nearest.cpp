// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/nearest.hpp"

#include <algorithm>

#include "units/spelling.hpp"

namespace scenarios {

std::string nearest(std::string_view wanted, std::span<const std::string_view> names) {
  constexpr std::size_t longest = 64, shortest = 3;  // nobody means a name with a novel or a letter
  if (wanted.size() > longest) return {};
  // A part is a name too: "h100" for "h100-80gb-sxm", "a100" for "dgx-a100-80gb".
  const auto begins = [&](std::string_view name) { return name.starts_with(wanted); };
  const auto holds = [&](std::string_view name) { return name.find(wanted) != name.npos; };
  const bool part = wanted.size() >= shortest;
  if (const auto name = std::ranges::find_if(names, begins); part && name != names.end())
    return std::string(*name);
  if (const auto word = units::nearest_word(wanted, names); !word.empty()) return std::string(word);
  if (const auto name = std::ranges::find_if(names, holds); part && name != names.end())
    return std::string(*name);
  return {};
}

std::string suggestion(std::string_view wanted, std::span<const std::string_view> names) {
  const auto name = nearest(wanted, names);
  return name.empty() ? std::string() : "; did you mean '" + name + "'?";
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (const auto name : names) (text += text.empty() ? "" : ", ") += name;
  return text;
}

}  // namespace scenarios
