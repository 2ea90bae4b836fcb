// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/loops.hpp"

#include <algorithm>
#include <string_view>

#include "scenarios/shell/conditions.hpp"

namespace scenarios {

namespace {

bool is_leaving(std::string_view word) { return word == "break" || word == "continue"; }

// Whether a statement may leave the loop or a turn of it as "eval break" or "\\break" do.
bool may_leave_unread(const Statement& statement) {
  const auto& words = statement.words;
  if (words.front().text == "echo" || words.front().text == "printf") return false;
  const auto first = words.begin() + (is_leaving(words.front().text) ? 1 : 0);
  return std::any_of(first, words.end(), [](const RawWord& word) {
    return is_leaving(word.text.substr(word.text.starts_with('\\') ? 1 : 0));
  });
}

}  // namespace

std::span<const Statement> body_of_loop(std::span<const Statement> loop) {
  for (std::size_t i = 1; i < loop.size(); ++i)
    if (loop[i].loops == loop.front().loops && loop[i].words.front().text == "done")
      return loop.subspan(1, i - 1);
  return {};
}

std::size_t length_of_loop(std::span<const Statement> loop) {
  const auto body = body_of_loop(loop);
  return std::ranges::any_of(body, may_leave_unread) ? 0 : body.size();
}

bool begins_loop(const Statement& statement) {
  const auto& word = statement.words.front().text;
  return word == "for" || word == "while" || word == "until";
}

bool leaves_early(std::span<const Statement> loop) {
  return std::ranges::any_of(loop, [](const Statement& statement) {
    const auto& word = statement.words.front().text;
    return is_leaving(word) || word == "source" || word == "." || word == "eval";
  });
}

std::size_t head_of_loop(std::span<const Statement> loop) {
  std::size_t head = 0;
  while (head < loop.size() &&
         (loop[head].words.front().text != "do" || loop[head].loops != loop.front().loops + 1))
    ++head;
  return head;
}

std::optional<bool> takes_turn(std::span<const Statement> loop, const ShellVariables& variables) {
  const auto head = head_of_loop(loop);
  if (head == loop.size() || head < 2) return {};
  Conditions conditions;
  for (const auto& test : loop.subspan(1, head - 1)) conditions.enter(test, variables);
  const auto status = conditions.status();
  const bool until = loop.front().words.front().text == "until";
  return status ? std::optional(*status != until) : std::nullopt;
}

bool only_tests(std::span<const Statement> loop) {
  const auto& test = loop[1].words.front().text;
  return head_of_loop(loop) == 2 && (test == "[" || test == "[[" || test == "test");
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
