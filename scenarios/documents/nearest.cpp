// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/nearest.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "scenarios/documents/meanings.hpp"
#include "units/spelling.hpp"

namespace scenarios {

namespace {

// Returns the word in small letters, with '_' for '-'.
std::string plain_word(std::string_view word) {
  std::string text(word);
  for (auto& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return text;
}

// Returns the name for which frameworks have the word `wanted`, or the longest name with which
// `wanted` begins: "tensor" for "tensor_model_parallel_size". Empty: none.
std::string_view of_same_meaning(std::string_view wanted, std::span<const std::string_view> names) {
  const auto word = plain_word(wanted);
  for (const auto& [theirs, ours] : meanings)
    if (theirs == word && std::ranges::find(names, ours) != names.end()) return ours;
  std::string_view longest;
  for (const auto name : names)
    if (name.size() > longest.size() && word.starts_with(plain_word(name) + '_')) longest = name;
  return longest;
}

}  // namespace

std::string nearest(std::string_view wanted, std::span<const std::string_view> names) {
  constexpr std::size_t longest = 64, shortest = 3;  // nobody means a name with a novel or a letter
  if (wanted.size() > longest) return {};
  // A part is a name too: "h100" for "h100-80gb-sxm", "a100" for "dgx-a100-80gb".
  const auto begins = [&](std::string_view name) { return name.starts_with(wanted); };
  const auto holds = [&](std::string_view name) { return name.find(wanted) != name.npos; };
  const bool part = wanted.size() >= shortest;
  if (const auto name = std::ranges::find_if(names, begins); part && name != names.end())
    return std::string(*name);
  if (const auto name = of_same_meaning(wanted, names); !name.empty()) return std::string(name);
  if (const auto word = units::nearest_word(wanted, names); !word.empty()) return std::string(word);
  if (const auto name = std::ranges::find_if(names, holds); part && name != names.end())
    return std::string(*name);
  return {};
}

std::string suggestion(std::string_view wanted, std::span<const std::string_view> names) {
  return suggestion(wanted, names, 1);
}

std::string suggestion(std::string_view wanted, std::span<const std::string_view> names,
                       std::size_t most) {
  std::vector<std::string_view> left(names.begin(), names.end());
  std::vector<std::string> near;
  while (near.size() < most) {
    auto name = nearest(wanted, left);
    if (name.empty()) break;
    std::erase(left, name);
    near.push_back(std::move(name));
  }
  if (near.empty()) return {};
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) text += i + 1 < near.size() ? ", " : " or ";
    text += "'" + near[i] + "'";
  }
  return text + "?";
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (const auto name : names) (text += text.empty() ? "" : ", ") += name;
  return text;
}

}  // namespace scenarios
