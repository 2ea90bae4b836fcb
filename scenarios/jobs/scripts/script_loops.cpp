// SPDX-License-Identifier: Apache-2.0
// Loops of a script whose turns are run one by one.
#include <algorithm>

#include "scenarios/jobs/scripts/script_run.hpp"
#include "scenarios/shell/loops.hpp"

namespace scenarios {

std::size_t ScriptRun::unroll(std::span<const Statement> loop, const Certainty& runs, int depth) {
  constexpr std::size_t most_turns = 64;
  const auto& words = loop.front().words;
  if (words.size() == 2) return count_up(loop, runs, depth);
  if (words.size() < 3 || words[2].text != "in") return 0;
  auto turns = assignments_.words_of(loop.front(), 3);
  if (variables_.expanded("$#", {}).front().text == "0")
    std::erase_if(turns, [](const ShellWord& word) { return word.text == "$@"; });
  const bool known = std::ranges::all_of(turns, [](const ShellWord& word) {
    return word.trouble.empty() && word.text != "$@" &&
           word.text.find_first_of("{*?[") == word.text.npos;
  });
  const auto count = length_of_loop(loop);
  if (!known || turns.size() > most_turns || count == 0) return 0;
  ++now_.loops;
  for (const auto& turn : turns) {
    if (now_.ended) break;
    variables_.assign(words[1].text, {turn});
    run_list(loop.subspan(1, count), runs, depth);
  }
  --now_.loops;
  return count;
}

std::size_t ScriptRun::count_up(std::span<const Statement> loop, const Certainty& runs, int depth) {
  const auto& word = loop.front().words[1];
  const auto counted = counting_loop(word.text);
  const auto count = length_of_loop(loop);
  if (!counted || count == 0) return 0;
  const auto kept = variables_.values();
  const auto all = assignments_.take_turns(*counted, word.at, runs, [] { return true; });
  variables_.restore(kept);
  if (!all || *all * static_cast<std::int64_t>(count) > (most_steps - now_.steps) / 2) return 0;
  ++now_.loops;
  assignments_.take_turns(*counted, word.at, runs, [&] {
    run_list(loop.subspan(1, count), runs, depth);
    return !now_.ended;
  });
  --now_.loops;
  return count;
}

}  // namespace scenarios
