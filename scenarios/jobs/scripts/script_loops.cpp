// SPDX-License-Identifier: Apache-2.0
// Loops of a script whose turns are run one by one.
#include <algorithm>
#include <utility>

#include "scenarios/jobs/scripts/script_run.hpp"
#include "scenarios/shell/builtins.hpp"
#include "scenarios/shell/loops.hpp"
#include "scenarios/shell/subshell.hpp"

namespace scenarios {

std::size_t ScriptRun::unroll(std::span<const Statement> loop, const Certainty& runs, int depth) {
  const auto end = body_of_loop(loop).size() + 1;
  const auto* done = end < loop.size() ? &loop[end] : nullptr;
  const bool file = loop.front().reads || (done != nullptr && done->input);
  if (done == nullptr || (done->document.text.empty() && !file))
    return unroll_fed(loop, runs, depth);
  const auto text = variables_.expanded(done->document.text, done->document.at);
  const bool known = !file && text.size() == 1 && text.front().trouble.empty();
  auto input = known ? std::optional(text.front().text) : std::nullopt;
  if (input && !input->ends_with('\n')) *input += '\n';  // of "<<< TEXT"
  auto outer = std::exchange(now_.input, std::move(input));
  const auto count = unroll_fed(loop, runs, depth);
  now_.input = std::move(outer);
  return count;
}

std::size_t ScriptRun::unroll_fed(std::span<const Statement> loop, const Certainty& runs,
                                  int depth) {
  const auto& words = loop.front().words;
  const bool counts = words.size() == 2 && words[1].text.starts_with("((");
  const auto around = std::exchange(now_.shells_around, loop.front().shells.size());
  now_.turned = true;
  const auto count = words.front().text != "for" ? run_while(loop, runs, depth)
                     : counts                    ? count_up(loop, runs, depth)
                                                 : run_over(loop, runs, depth);
  now_.shells_around = around;
  return count;
}

std::size_t ScriptRun::run_over(std::span<const Statement> loop, const Certainty& runs, int depth) {
  constexpr std::size_t most_turns = 64;
  const auto& words = loop.front().words;
  const bool of_arguments = words.size() == 2;  // "for NAME; do"
  if (!of_arguments && (words.size() < 3 || words[2].text != "in")) return 0;
  auto turns = of_arguments ? variables_.expanded("\"$@\"", words[1].at)
                            : assignments_.words_of(loop.front(), 3);
  if (variables_.expanded("$#", {}).front().text == "0")
    std::erase_if(turns, [](const ShellWord& word) { return word.text == "$@"; });
  const bool known = std::ranges::all_of(turns, [](const ShellWord& word) {
    return word.trouble.empty() && word.text != "$@" &&
           word.text.find_first_of("{*?[") == word.text.npos;
  });
  const auto count = length_of_loop(loop);
  if (!known || turns.size() > most_turns || count == 0) return 0;
  const auto run_turns = [&] {
    for (const auto& turn : turns) {
      if (now_.ended) break;
      variables_.assign(words[1].text, {turn});
      if (!take_turn(loop.subspan(2, count - 1), runs, depth)) break;
    }
    return true;
  };
  if (leaves_early(loop.first(count + 1))) return try_turns(run_turns) ? count : 0;
  ++now_.loops;
  run_turns();
  --now_.loops;
  return count;
}

std::size_t ScriptRun::count_up(std::span<const Statement> loop, const Certainty& runs, int depth) {
  const auto& word = loop.front().words[1];
  const auto counted = counting_loop(word.text);
  const auto count = length_of_loop(loop);
  if (!counted || count == 0) return 0;
  const auto body = loop.subspan(2, count - 1);
  const auto take_turns = [&] {
    return assignments_.take_turns(*counted, word.at, runs,
                                   [&] { return take_turn(body, runs, depth); });
  };
  if (leaves_early(loop.first(count + 1))) {
    const auto most = now_.steps + (most_steps - now_.steps) / 2;
    return try_turns([&] { return take_turns() && now_.steps <= most; }) ? count : 0;
  }
  const auto kept = variables_.values();
  const auto all = assignments_.take_turns(*counted, word.at, runs, [] { return true; });
  variables_.state() = kept;
  if (!all || *all * static_cast<std::int64_t>(count) > (most_steps - now_.steps) / 2) return 0;
  ++now_.loops;
  take_turns();
  --now_.loops;
  return count;
}

std::size_t ScriptRun::run_while(std::span<const Statement> loop, const Certainty& runs,
                                 int depth) {
  constexpr int most_turns = 256;
  const auto count = length_of_loop(loop);
  const auto head = head_of_loop(loop);
  if (count <= head || head < 2) return 0;
  if (only_tests(loop) && !takes_turn(loop, variables_)) return 0;
  const auto test = loop.subspan(1, head - 1), body = loop.subspan(head + 1, count - head);
  const bool until = loop.front().words.front().text == "until";
  const auto most = now_.steps + (most_steps - now_.steps) / 2;
  int turn = 0;
  std::string argument;
  const bool known = try_turns([&] {
    for (; turn < most_turns; ++turn) {
      const auto [status, why] = run_list(test, runs, depth);
      if (now_.ended) return true;
      if (!status || now_.leaving > 0 || now_.torn || now_.steps > most || variables_.exhausted())
        return false;
      argument = why;
      if (*status == until || !take_turn(body, runs, depth)) return true;
    }
    return false;
  });
  if (!known) return 0;
  if (turn == 0 && !now_.ended)
    for (const auto& statement : body) assignments_.leave_empty(statement, argument);
  return count;
}

bool ScriptRun::try_turns(const std::function<bool()>& turns) {
  constexpr int most_tried = 64;
  if (++tried_ > most_tried) return false;
  const auto variables = variables_;
  const auto written = files_.written();
  const auto lists = assignments_.lists(), sourced = sourced_.size(), refused = refused_.size();
  const auto batch = batch_;
  const auto commands = commands_;
  const auto functions = functions_;
  const auto before = now_;
  now_.torn = false;
  ++now_.loops;
  const bool known = turns() && !now_.torn && !variables_.exhausted();
  --now_.loops;
  now_.torn = before.torn;
  if (known) return true;
  variables_ = variables;
  files_.restore(written);
  assignments_.keep_lists(lists);
  sourced_.resize(sourced);
  refused_.resize(refused);
  batch_ = batch;
  commands_ = commands;
  functions_ = functions;
  now_ = before;
  return false;
}

bool ScriptRun::take_turn(std::span<const Statement> body, const Certainty& runs, int depth) {
  const auto status = run_list(body, runs, depth).status;
  now_.turned = now_.leaving > 0 ? std::optional(true) : status;
  if (now_.leaving == 0) return !now_.ended;
  if (now_.leaving == 1 && std::exchange(now_.goes_on, false)) {
    now_.leaving = 0;
    return !now_.ended;
  }
  if (--now_.leaving > 0 && now_.loops == 1) now_.leaving = 0;  // there is none around
  return false;
}

void ScriptRun::read_input(const Statement& statement, const Certainty& certainty) {
  auto fed = statement;
  bool more = true;
  if (now_.input && reads_line(statement)) {
    const auto end = now_.input->find('\n');
    more = end != std::string::npos;
    fed.document = {quoted_lines(std::string_view(*now_.input).substr(0, end), true),
                    statement.words.front().at};
    now_.input->erase(0, more ? end + 1 : end);
  }
  const auto success = assignments_.read(fed, certainty);
  if (success) now_.outcome = *success && more;
  if (!success && reads_line(statement)) now_.input.reset();  // nobody knows what is left
}

void ScriptRun::leave_loops(const Statement& statement, const Certainty& certainty) {
  const auto& words = statement.words;
  const bool counted = words.size() == 2 && words[1].text.size() == 1 && words[1].text[0] > '0' &&
                       words[1].text[0] <= '9';
  const int loops = counted ? words[1].text[0] - '0' : 1;
  const int unread = statement.loops - now_.loops;  // loops inside, whose turns are not run
  if (now_.loops == 0 && now_.loops_outside > 0) now_.torn = true;
  if (now_.loops == 0 || (unread > 0 && loops <= unread && (counted || words.size() == 1))) return;
  const bool known = counted || words.size() == 1;
  if (!known || !certainty.sure || certainty.doubtful ||
      !copies_of(statement, now_.shells_around, variables_).empty()) {
    now_.torn = true;
    return;
  }
  now_.leaving = loops;
  now_.goes_on = words.front().text == "continue";
}

}  // namespace scenarios
