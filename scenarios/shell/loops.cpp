// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/loops.hpp"

#include <algorithm>
#include <string_view>

namespace scenarios {

namespace {

// Whether a statement may leave the loop or a turn of it, also as "eval break" or "\\break".
bool may_break(const Statement& statement) {
  return std::ranges::any_of(statement.words, [](const RawWord& word) {
    const auto name = word.text.substr(word.text.starts_with('\\') ? 1 : 0);
    return name == "break" || name == "continue";
  });
}

}  // namespace

std::size_t length_of_loop(std::span<const Statement> loop) {
  for (std::size_t i = 1; i < loop.size(); ++i) {
    const auto& word = loop[i].words.front().text;
    if (may_break(loop[i])) return 0;
    if (loop[i].loops == loop.front().loops && word == "done") return i - 1;
  }
  return 0;
}

std::optional<CountingLoop> counting_loop(const std::string& word) {
  std::string_view inside = word;
  constexpr std::string_view opens = "((", closes = "))";
  if (!inside.starts_with(opens) || !inside.ends_with(closes) || inside.size() < 4) return {};
  inside = inside.substr(opens.size(), inside.size() - 4);
  if (std::ranges::count(inside, ';') != 2) return {};
  const auto one = inside.find(';'), other = inside.rfind(';');
  CountingLoop loop{std::string(inside.substr(0, one)),
                    std::string(inside.substr(one + 1, other - one - 1)),
                    std::string(inside.substr(other + 1))};
  if (loop.condition.find_first_not_of(" \t") == std::string::npos) return {};
  return loop;
}

}  // namespace scenarios
