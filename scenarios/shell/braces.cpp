// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/braces.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/open_quotes.hpp"
#include "scenarios/shell/word_parts.hpp"

namespace scenarios {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t most_braced = 1'000, longest_braced = 4'096;
constexpr int deepest_braces = 8;

// Braces of a word: the index behind the last, and the raw texts between their commas.
struct Braces {
  std::size_t end = 0;
  Words parts{};
};

// Returns the braces that open at `at`; nothing if they do not close.
std::optional<Braces> braces_at(std::string_view raw, std::size_t at) {
  Braces braces;
  OpenQuotes quotes;
  int depth = 0;
  std::string part;
  for (auto i = at; i < raw.size();) {
    const auto length = quotes.step(raw, i);
    if (length > 0 || quotes.any()) {
      part += raw.substr(i, std::max<std::size_t>(1, length));
      i += std::max<std::size_t>(1, length);
      continue;
    }
    const char c = raw[i++];
    if (c == '{' && ++depth == 1) continue;
    if (c == '}' && --depth == 0) {
      braces.parts.push_back(std::move(part));
      braces.end = i;
      return braces;
    }
    if (c == ',' && depth == 1)
      braces.parts.push_back(std::exchange(part, {}));
    else
      part += c;
  }
  return {};
}

// Returns the words of "1..3", "8..2..2" and "a..c"; nothing for other texts, numbers with zeros in
// front among them.
Words range_of(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == text.npos) return {};
  const auto first = text.substr(0, dots);
  auto last = text.substr(dots + 2), step = std::string_view("1");
  if (const auto more = last.find(".."); more != last.npos) {
    step = last.substr(more + 2);
    last = last.substr(0, more);
  }
  const auto filled = [](std::string_view number) {
    number.remove_prefix(number.starts_with('-') ? 1 : 0);
    return number.size() > 1 && number.starts_with('0');
  };
  const bool letters = first.size() == 1 && last.size() == 1 && is_letter(first[0]) &&
                       is_letter(last[0]) && first[0] != '_' && last[0] != '_';
  const auto from = letters ? first[0] : whole_number(first),
             to = letters ? last[0] : whole_number(last), by = whole_number(step);
  if (!from || !to || !by || (!letters && (filled(first) || filled(last)))) return {};
  const auto stride = std::max<std::int64_t>(1, *by < 0 ? -*by : *by);
  Words words;
  for (auto at = *from; *from <= *to ? at <= *to : at >= *to;
       at += *from <= *to ? stride : -stride) {
    words.push_back(letters ? std::string(1, static_cast<char>(at)) : std::to_string(at));
    if (words.size() > most_braced) break;
  }
  return words;
}

Words expanded_braces(std::string_view raw, int depth);

// Returns the words of the first braces that stand for several, with the texts around; empty: there
// are none.
Words words_at(std::string_view raw, std::size_t at, int depth) {
  const auto braces = braces_at(raw, at);
  if (!braces) return {};
  Words between;
  if (braces->parts.size() > 1)
    for (const auto& part : braces->parts)
      for (auto& word : expanded_braces(part, depth + 1)) between.push_back(std::move(word));
  else
    between = range_of(braces->parts.front());
  if (between.empty()) return {};
  Words all;
  const auto behind = expanded_braces(raw.substr(braces->end), depth + 1);
  for (const auto& word : between)
    for (const auto& rest : behind) {
      all.push_back(std::string(raw.substr(0, at)) + word + rest);
      if (all.size() > most_braced) return all;
    }
  return all;
}

Words expanded_braces(std::string_view raw, int depth) {
  OpenQuotes quotes;
  for (std::size_t i = 0; i < raw.size() && depth < deepest_braces;) {
    const auto length = quotes.step(raw, i);
    if (length == 0 && !quotes.any() && raw[i] == '{')
      if (auto words = words_at(raw, i, depth); !words.empty()) return words;
    i += std::max<std::size_t>(1, length);
  }
  return {std::string(raw)};
}

}  // namespace

std::vector<std::string> braced(std::string_view raw) {
  if (raw.find('{') == raw.npos || raw.size() > longest_braced) return {std::string(raw)};
  auto words = expanded_braces(raw, 0);
  return words.size() > most_braced ? Words{std::string(raw)} : words;
}

}  // namespace scenarios
