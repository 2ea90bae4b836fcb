// SPDX-License-Identifier: Apache-2.0
#include "report/launch/text_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace report {
namespace {

using Lines = std::vector<std::string_view>;

// Returns the lines of a text, each with its line feed if it has one.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Step {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

// Returns the steps of a diff by the longest common subsequence of lines, after the equal lines at
// both ends are set aside.
std::vector<Step> steps_between(const Lines& before, const Lines& after) {
  std::size_t first = 0;
  while (first < before.size() && first < after.size() && before[first] == after[first]) ++first;
  std::size_t tail = 0;
  while (tail < before.size() - first && tail < after.size() - first &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  const auto n = before.size() - first - tail, m = after.size() - first - tail;
  std::vector<std::vector<std::size_t>> common(n + 1, std::vector<std::size_t>(m + 1, 0));
  for (auto i = n; i-- > 0;)
    for (auto j = m; j-- > 0;)
      common[i][j] = before[first + i] == after[first + j]
                         ? common[i + 1][j + 1] + 1
                         : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<Step> steps;
  for (std::size_t i = 0; i < first; ++i) steps.push_back({' ', before[i]});
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && before[first + i] == after[first + j]) {
      steps.push_back({' ', before[first + i]});
      ++i, ++j;
    } else if (i < n && (j == m || common[i + 1][j] >= common[i][j + 1])) {
      steps.push_back({'-', before[first + i++]});
    } else {
      steps.push_back({'+', after[first + j++]});
    }
  }
  for (auto k = before.size() - tail; k < before.size(); ++k) steps.push_back({' ', before[k]});
  return steps;
}

struct Hunk {
  std::size_t begin, end;  // of the steps
};

std::vector<Hunk> hunks_of(const std::vector<Step>& steps) {
  constexpr std::size_t context = 3;
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].sign == ' ') continue;
    const auto begin = i > context ? i - context : 0, end = std::min(i + context + 1, steps.size());
    if (!hunks.empty() && begin <= hunks.back().end)
      hunks.back().end = end;
    else
      hunks.push_back({begin, end});
  }
  return hunks;
}

std::size_t count(const std::vector<Step>& steps, std::size_t begin, std::size_t end, char not_of) {
  std::size_t lines = 0;
  for (auto i = begin; i < end; ++i) lines += steps[i].sign != not_of;
  return lines;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view name) {
  if (before == after) return {};
  const auto steps = steps_between(lines_of(before), lines_of(after));
  auto text = fmt::format("--- a/{0}\n+++ b/{0}\n", name);
  for (const auto& [begin, end] : hunks_of(steps)) {
    const auto old_lines = count(steps, begin, end, '+'), new_lines = count(steps, begin, end, '-');
    const auto old_first = count(steps, 0, begin, '+') + (old_lines > 0 ? 1 : 0),
               new_first = count(steps, 0, begin, '-') + (new_lines > 0 ? 1 : 0);
    text += fmt::format("@@ -{},{} +{},{} @@\n", old_first, old_lines, new_first, new_lines);
    for (auto i = begin; i < end; ++i) {
      text += steps[i].sign;
      text += steps[i].line;
      if (!steps[i].line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
    }
  }
  return text;
}

}  // namespace report
