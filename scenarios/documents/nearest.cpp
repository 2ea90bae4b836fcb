// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/nearest.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
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

using Names = std::vector<std::string_view>;

// Returns the names for which frameworks have this word, in the order of the table.
Names of_same_meaning(const std::string& word, std::span<const std::string_view> names) {
  Names found;
  for (const auto& [theirs, ours] : meanings)
    if (theirs == word && std::ranges::find(names, ours) != names.end()) found.push_back(ours);
  return found;
}

template <class Fits>
Names names_that(std::span<const std::string_view> names, Fits fits) {
  Names found;
  std::ranges::copy_if(names, std::back_inserter(found),
                       [&](auto name) { return fits(plain_word(name)); });
  return found;
}

// Returns the longest name with which the word begins: "tensor" for "tensor_model_parallel_size".
Names beginning_of(const std::string& word, std::span<const std::string_view> names) {
  auto found = names_that(names, [&](const auto& name) { return word.starts_with(name + '_'); });
  std::ranges::stable_sort(found, std::greater(), &std::string_view::size);
  if (found.size() > 1) found.resize(1);
  return found;
}

// Returns the words between '_', without empty ones.
Names words_in(std::string_view name) {
  Names words;
  while (!name.empty()) {
    const auto end = std::min(name.find('_'), name.size());
    if (end > 0) words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

// Returns the shortest name that has all words of the wanted one in their order, and others between
// them: "tensor_model_parallel_size" for "tensor_parallel_size", "h100-80gb-sxm" for "h100-sxm".
Names with_words_of(const std::string& word, std::span<const std::string_view> names) {
  const auto wanted = words_in(word);
  // Two words are in many names, but not with a number.
  const bool numbered = word.find_first_of("0123456789") != std::string::npos;
  const std::size_t least = numbered ? 2 : 3;
  auto found = names_that(names, [&](const auto& name) {
    std::size_t seen = 0;
    for (const auto one : words_in(name))
      if (seen < wanted.size() && one == wanted[seen]) ++seen;
    return wanted.size() >= least && seen == wanted.size();
  });
  std::ranges::stable_sort(found, {}, &std::string_view::size);
  if (found.size() > 1) found.resize(1);
  return found;
}

// Returns the names that are equally near to the wanted one, in the order of `names`; none: no
// name is near.
Names nearest_names(std::string_view wanted, std::span<const std::string_view> names) {
  constexpr std::size_t longest = 64, shortest = 3;  // nobody means a name with a novel or a letter
  if (wanted.size() > longest) return {};
  const auto word = plain_word(wanted);
  // A part is a name too: "h100" for "h100-80gb-sxm", "a100" for "dgx-a100-80gb".
  const bool part = wanted.size() >= shortest;
  if (auto same = of_same_meaning(word, names); !same.empty()) return same;
  const auto begins = [&](const auto& name) { return part && name.starts_with(word); };
  if (auto begun = names_that(names, begins); !begun.empty()) return begun;
  if (auto begin = beginning_of(word, names); !begin.empty()) return begin;
  if (auto with = with_words_of(word, names); !with.empty()) return with;
  if (const auto one = units::nearest_word(wanted, names); !one.empty()) return {one};
  return names_that(names,
                    [&](const auto& name) { return part && name.find(word) != std::string::npos; });
}

// Returns "; did you mean 'X', 'Y' or 'Z'?", or nothing.
std::string question_of(const Names& near) {
  if (near.empty()) return {};
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) text += i + 1 < near.size() ? ", " : " or ";
    text += "'" + std::string(near[i]) + "'";
  }
  return text + "?";
}

}  // namespace

std::string nearest(std::string_view wanted, std::span<const std::string_view> names) {
  const auto near = nearest_names(wanted, names);
  return near.empty() ? std::string() : std::string(near.front());
}

std::string equal_suggestions(std::string_view wanted, std::span<const std::string_view> names) {
  constexpr std::size_t most = 3;
  auto near = nearest_names(wanted, names);
  if (near.size() > most) near.resize(most);
  return question_of(near);
}

std::string suggestion(std::string_view wanted, std::span<const std::string_view> names) {
  return suggestion(wanted, names, 1);
}

std::string suggestion(std::string_view wanted, std::span<const std::string_view> names,
                       std::size_t most) {
  Names left(names.begin(), names.end());
  Names near;
  while (near.size() < most) {
    const auto next = nearest_names(wanted, left);
    if (next.empty()) break;
    near.push_back(next.front());
    std::erase(left, near.back());
  }
  return question_of(near);
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (const auto name : names) (text += text.empty() ? "" : ", ") += name;
  return text;
}

}  // namespace scenarios
