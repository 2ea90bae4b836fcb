// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/scripts/script_run.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "scenarios/shell/builtins.hpp"
#include "scenarios/shell/loops.hpp"
#include "scenarios/shell/options.hpp"
#include "scenarios/shell/patterns.hpp"
#include "scenarios/shell/subshell.hpp"

namespace scenarios {

namespace {

// Returns the command that the body of a function is, if it is a single one that prints; empty:
// another body, or it has arguments.
std::string printing_command(const std::vector<Statement>& body) {
  constexpr std::array<std::string_view, 3> printers{"echo", "printf", "cat"};
  const Statement* only = nullptr;
  for (const auto& statement : body) {
    if (is_syntax(statement)) continue;
    if (only != nullptr) return {};
    only = &statement;
  }
  const bool plain = only != nullptr && !only->words.empty() && only->document.text.empty() &&
                     only->output.empty() && only->processes.empty() && !only->input &&
                     !only->array && only->shells.empty();
  if (!plain || std::ranges::find(printers, only->words.front().text) == printers.end()) return {};
  std::string text;
  for (const auto& word : only->words) text += (text.empty() ? "" : " ") + word.text;
  for (auto at = text.find('$'); at != text.npos; at = text.find('$', at + 1)) {
    const auto name = text.substr(at + (text.compare(at, 2, "${") == 0 ? 2 : 1), 1);
    if (name.find_first_of("0123456789@*#") != name.npos) return {};
  }
  return text;
}

}  // namespace

ShellSurroundings ScriptRun::surroundings() {
  return {[this](const std::string& path) { return files_.text_of(path, variables_); },
          [this](const std::string& name) -> std::optional<std::string> {
            if (!functions_.has(name)) return {};
            auto command = printing_command(*functions_.body(name));
            return command.empty() ? std::nullopt : std::optional(std::move(command));
          }};
}

FrameworkJob ScriptRun::read() {
  FrameworkJob job;
  variables_.state().around = surroundings();
  run_all(text_, 0);
  if (now_.stopped) job.arguments.push_back(*now_.stopped);
  if (commands_.none() && !now_.stopped) run_uncalled(job.arguments);
  if (commands_.none()) {
    auto lists = assignments_.all_lists();
    if (lists.empty() && now_.passed && !now_.stopped) job.arguments.push_back(*now_.passed);
    if (const auto& unnamed = now_.unnamed; unnamed && !lists.empty() && !unnamed->trouble.empty())
      job.arguments.push_back({{}, {{{}, unnamed->trouble, unnamed->at}}, unnamed->at});
    commands_.take(std::move(lists));
  }
  job.launcher = commands_.batch_options();
  std::ranges::move(sourced_, std::back_inserter(job.launcher));
  std::ranges::move(refused_, std::back_inserter(job.arguments));
  commands_.write(job);
  if (variables_.exhausted() || now_.steps > most_steps)
    job.arguments.push_back({{}, {{{}, "the script is longer than any that was seen", {}}}, {}});
  return job;
}

void ScriptRun::run_all(std::string_view text, std::int64_t lines, int depth,
                        const Sourced* sourced) {
  if (sourced == nullptr) batch_.add_lines(text, lines, variables_);
  auto statements = statements_of(text);
  for (auto& statement : statements) {
    for (auto& word : statement.words) {
      word.at.line += lines;
      if (sourced != nullptr) word.at = sourced->at;
    }
    statement.document.at.line += lines;
  }
  now_.texts.push_back(text);
  now_.outcome =
      run_list(statements, sourced == nullptr ? Certainty{} : sourced->runs, depth).status;
  now_.texts.pop_back();
}

Outcome ScriptRun::run_list(std::span<const Statement> statements, const Certainty& around,
                            int depth) {
  Conditions conditions;
  Subshell subshell(now_.shells_around);
  EndedCopies ended;
  bool doubtful_end = false;  // a statement before may have ended them
  for (std::size_t i = 0; i < statements.size() && !now_.ended && now_.leaving == 0; ++i) {
    const auto& statement = statements[i];
    now_.steps += 1 + static_cast<std::int64_t>(statement.words.size()) / words_of_step;
    if (now_.steps > most_steps) return {};
    if (!statement.defines.empty()) {
      conditions.enter(statement, variables_);
      const auto body = functions_.define(statements.subspan(i), conditions.runs() != false);
      i += body;
      now_.steps += static_cast<std::int64_t>(body);
      continue;
    }
    subshell.enter(statement, variables_, functions_);
    ended.settle(statements, i, conditions);
    if (ended.skip(statement)) {
      conditions.enter(statement, variables_);
      continue;
    }
    const bool may_exit = std::exchange(now_.may_exit, false);
    const auto runs = run_where(conditions, statement, around, depth);
    if (!runs) {
      now_.may_exit = may_exit;
      continue;
    }
    if (begins_loop(statement)) {
      const auto unrolled = runs->sure ? unroll(statements.subspan(i), *runs, depth) : 0;
      if (unrolled == 0)
        doubt_turns(statements.subspan(i));
      else
        conditions.settle_loop(now_.turned);
      i += unrolled;
    }
    if (now_.outcome) conditions.settle(*std::exchange(now_.outcome, {}));
    const auto copies = copies_of(statement, now_.shells_around, variables_);
    const bool apart = !copies.empty(), end = is_end(statement, *runs);
    if (end && runs->sure && !runs->doubtful) {
      end_at(statement, conditions);
    } else if (end) {
      const bool returns = statement.words.front().text == "return";
      now_.may_exit = now_.may_exit || apart || (runs->apart && !returns);
      doubtful_end = doubtful_end || !apart;
    }
    if (doubtful_end) now_.returned = {};
    if (apart) end_copy(statement, copies, conditions, ended);
    now_.may_exit = now_.may_exit || may_exit;
  }
  subshell.leave(variables_, functions_);
  return {doubtful_end ? std::nullopt : conditions.status(), conditions.status_argument()};
}

// bash refuses a script at the first extended pattern of a case that it is not told to read.
void ScriptRun::check_patterns(const Statement& branch) {
  const auto first_line = text_.substr(0, text_.find('\n'));
  if (is_on(extended_option, variables_) != false || variables_.has_unread() || !commands_.none() ||
      first_line.ends_with("ksh") || first_line.ends_with("zsh"))
    return;
  for (const auto& [pattern, at] : branch.words) {
    if (!is_extended(pattern) || pattern.find_first_of("\"'") != pattern.npos) continue;
    now_.stopped = {{},
                    {{{},
                      "bash ends the script at the pattern " + pattern +
                          " of a case; add shopt -s extglob in a line before it",
                      at}},
                    at};
    now_.ended = now_.exited = true;
    return;
  }
}

namespace {

// Says that no training is started behind the statement.
JobArgument ended_by(const Statement& statement, const std::string& advice) {
  const auto& [name, at] = statement.words.front();
  auto shown = name;
  for (const auto& word : std::span(statement.words).subspan(1)) shown += " " + word.text;
  const auto why =
      "the script ends here (" + shown + "), before it starts a training; take the line out";
  return {{}, {{{}, why + advice, at}}, at};
}

}  // namespace

bool ScriptRun::is_end(const Statement& statement, const Certainty& runs) {
  if (!ends(statement)) return false;
  if (statement.words.front().text == "return") return now_.returning > 0;
  if (!runs.chosen || runs.apart || !commands_.none()) return true;
  if (runs.sure && !runs.doubtful && !now_.passed && statement.words.front().text == "exit")
    now_.passed = ended_by(statement, ", or set what leads to it by --env NAME=VALUE");
  return false;
}

void ScriptRun::end_at(const Statement& statement, const Conditions& conditions) {
  now_.ended = true;
  now_.returned = returned_status(statement, conditions.before(), variables_);
  const auto& name = statement.words.front().text;
  now_.exited = now_.exited || name != "return";
  if (name == "exit" && commands_.none()) now_.stopped = ended_by(statement, "");
}

void ScriptRun::end_copy(const Statement& statement, std::span<const int> copies,
                         Conditions& conditions, EndedCopies& ended) {
  const bool may_exit = std::exchange(now_.may_exit, false);
  if (!now_.ended) {
    if (may_exit) ended.add(copies.back(), {}, false);
    return;
  }
  const auto success = std::exchange(now_.returned, {});
  now_.ended = now_.exited = false;
  now_.stopped = {};
  if (begins_loop(statement))
    conditions.settle_loop(success);
  else
    conditions.settle(success);
  ended.add(copies.back(), success, true);
}

std::optional<Certainty> ScriptRun::run_where(Conditions& conditions, const Statement& statement,
                                              const Certainty& around, int depth) {
  conditions.enter(statement, variables_);
  if (statement.branch) {
    check_patterns(statement);
    return {};
  }
  const auto runs = conditions.runs();
  if (runs == false) {
    assignments_.leave_empty(statement, conditions.argument());
    return {};
  }
  const Certainty certainty{
      around.sure && statement.loops == now_.loops && runs, around.doubtful || !runs,
      runs ? around.why : conditions.why(),
      around.chosen || conditions.chosen() || statement.loops > 0,
      around.apart || !copies_of(statement, now_.shells_around, variables_).empty()};
  auto moved = statement;
  const auto folder = take_folder_of_env(moved);
  if (!folder) {
    run_whole(statement, certainty, depth);
    return certainty;
  }
  auto kept = variables_.values();
  Statement change;
  change.words = {{"cd", folder->at}, *folder};
  assignments_.change_to(change, certainty);
  run_whole(moved, certainty, depth);
  variables_.state() = std::move(kept);
  return certainty;
}

void ScriptRun::run_whole(const Statement& statement, const Certainty& certainty, int depth) {
  run(statement, certainty, depth);
  if (!begins_loop(statement)) run_documents(statement, certainty, depth);
}

void ScriptRun::run(const Statement& given, const Certainty& certainty, int depth) {
  if (is_syntax(given)) return;
  assignments_.doubt_counted(given);
  const bool declares = is_declaration(given);
  const auto statement =
      declares && !given.array ? with_known_names(given, variables_) : with_function(given);
  const auto& words = statement.words;
  std::size_t first = 0;
  std::string options;  // declare -r
  if (!statement.array && declares)
    for (++first; first < words.size() && words[first].text.starts_with('-'); ++first)
      options += words[first].text;
  assignments_.assign_defaults(statement, certainty);
  const auto is_name = [&](std::size_t at) {
    return declares && assigned_at(words[at].text + "=") == words[at].text.size() + 1;
  };
  std::size_t assigned = statement.array ? words.size() : first;
  while (assigned < words.size() &&
         (is_name(assigned) || assigned_at(words[assigned].text) != std::string_view::npos))
    ++assigned;
  const auto end = statement.array ? 1 : assigned;
  const bool local = statement.local || (declares && words[0].text != "export");
  if (local) functions_.add_locals(statement, first, end, variables_);
  const bool assigns = assigned == words.size() && assigned > first;
  const auto called =
      declares || assigns ? words.size() : functions_.called_by(statement, assigned);
  if (!assigns && called == words.size()) {
    // Beside a name that only a shell can tell, export A=1 "$NAME"=2, others are set.
    for (auto i = first; declares && !local && i < words.size(); ++i) {
      if (assigned_at(words[i].text) == std::string_view::npos) continue;
      assignments_.assign(statement, i, certainty);
      if (words[0].text == "export") assignments_.add_attributes(words[i], "x", certainty);
    }
    return run_command(statement, certainty, depth);
  }
  if (!assigns) {  // "NAME=value function"
    functions_.enter();
    functions_.add_locals(statement, first, end, variables_);
  }
  for (auto i = first; i < end; ++i)
    if (!is_name(i))
      assignments_.assign(statement, i, certainty);
    else if (local && functions_.runs())
      variables_.assign(words[i].text, {});
  if (declares && options.find('f') != options.npos) {
    for (auto i = first; i < end; ++i)
      if (words[0].text == "export" || options.find('x') != options.npos)
        functions_.mark_exported(words[i].text, options.find('N') == options.npos);
  } else if (declares) {
    if (words[0].text == "export") options += 'x';
    for (auto i = first; i < end; ++i) assignments_.add_attributes(words[i], options, certainty);
  }
  if (assigns) return;
  call(words[called].text, statement, called + 1, certainty, depth);
  functions_.leave(variables_);
}

void ScriptRun::run_command(const Statement& statement, const Certainty& certainty, int depth) {
  const auto& words = statement.words;
  std::ranges::move(unread_in(statement, variables_), std::back_inserter(sourced_));
  assignments_.set_elements(statement, certainty);
  read_input(statement, certainty);
  note_unnamed(statement);
  if (words[0].text == "eval" && now_.evaluated < deepest)
    return evaluate(statement, certainty, depth);
  if (run_builtin(statement, certainty)) return;
  if (depth < deepest && files_.started_by(statement, variables_) > 0) return;  // run_child
  if (depth < deepest && run_exported(statement, certainty, depth)) return;
  run_inside(statement, certainty);
  commands_.consider(assignments_.words_of(statement, 0), {}, certainty, variables_);
}

bool ScriptRun::run_builtin(const Statement& statement, const Certainty& certainty) {
  const auto& words = statement.words;
  const std::string_view name = words.front().text;
  if (name == "return" && now_.returning == 0) {
    now_.outcome = false;  // a mistake, with which the script goes on
  } else if (name == "break" || name == "continue") {
    leave_loops(statement, certainty);
  } else if (name == "set") {
    set_job_control(statement, certainty.sure && !certainty.doubtful, variables_);
    assignments_.set_arguments(statement, certainty);
  } else if (name == "shift") {
    now_.outcome = assignments_.shift(statement, certainty);
  } else if (name == "unset") {
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[1].text == "-f")
        functions_.forget(words[i].text);
      else
        assignments_.unset(words[i], certainty);
  } else if (changes_folder(statement)) {
    assignments_.change_to(statement, certainty);
  } else if (name == "shopt") {
    assignments_.set_options(statement, certainty);
  } else if ((name == "for" || name == "select") && words.size() > 1) {
    assignments_.doubt_turns(words[1]);
  } else if (name == "let" || name.starts_with("((")) {
    std::optional<bool> success;
    for (std::size_t i = name == "let" ? 1 : 0; i < words.size(); ++i)
      success = assignments_.calculate(words[i], certainty);
    if (success) now_.outcome = success;
  } else {
    return false;
  }
  return true;
}

void ScriptRun::doubt_turns(std::span<const Statement> loop) {
  if (loop.front().words.front().text != "for" && takes_turn(loop, variables_) == false) return;
  for (const auto& statement : body_of_loop(loop)) {
    if (statement.branch || !statement.defines.empty()) continue;
    const auto& first = statement.words.front();
    if (first.text == "shift") assignments_.shift(statement, {.sure = false});
    const auto is_value = [](const RawWord& word) {
      return assigned_at(word.text) != std::string_view::npos;
    };
    // "NAME=value COMMAND" sets nothing behind the command.
    const bool assigns = statement.array || is_declaration(statement) ||
                         std::ranges::all_of(statement.words, is_value);
    const auto end = statement.array ? std::size_t{1} : statement.words.size();
    for (std::size_t i = 0; assigns && i < end; ++i) {
      const auto& word = statement.words[i];
      const auto value = assigned_at(word.text);
      if (value == std::string_view::npos) continue;
      const auto name = word.text.substr(0, value - (word.text[value - 2] == '+' ? 2 : 1));
      if (variables_.knows(name) && variables_.text_of(name) != "")
        assignments_.doubt_changed(name, loop.front().words.front().at);
    }
  }
}

void ScriptRun::evaluate(const Statement& statement, const Certainty& certainty, int depth) {
  std::string line;
  for (const auto& value : assignments_.words_of(statement, 1, true)) line += value.text + ' ';
  auto statements = statements_of(line);
  for (auto& inner : statements)
    for (auto& word : inner.words) word.at = statement.words.front().at;
  ++now_.evaluated;
  run_inside_loops([&] { now_.outcome = run_list(statements, certainty, depth).status; });
  --now_.evaluated;
}

void ScriptRun::run_inside_loops(const std::function<void()>& run) {
  const auto loops = std::exchange(now_.loops, 0);
  const auto outside = std::exchange(now_.loops_outside, now_.loops_outside + loops);
  const auto around = std::exchange(now_.shells_around, 0);
  run();
  now_.shells_around = around;
  now_.loops_outside = outside;
  now_.loops = loops;
}

}  // namespace scenarios
