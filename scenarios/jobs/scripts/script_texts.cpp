// SPDX-License-Identifier: Apache-2.0
// Commands that stand in another text than the script's lines: functions, files, here-documents,
// texts that a command is given.
#include <algorithm>
#include <iterator>
#include <utility>

#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/scripts/script_run.hpp"

namespace scenarios {
namespace {

// Returns what is certain of the commands of a shell that is started: only they choose its end.
Certainty of_child(Certainty runs) {
  runs.chosen = runs.apart = false;
  return runs;
}

}  // namespace

void ScriptRun::run_documents(const Statement& statement, const Certainty& runs, int depth) {
  if (const auto* file = sourced_by(statement))
    run_file(statement, *file, runs, depth);
  else if (const auto started = files_.started_by(statement, variables_); started > 0)
    run_child(statement, started, runs, depth);
  if (depth >= deepest) return;
  files_.add_written(statement, variables_, runs);
  run_processes(statement, runs, depth);
  if (!reads_commands(statement)) return;
  const auto submitted = submitted_by(statement);
  for (const auto& one : variables_.value_of(statement.document.text, statement.document.at))
    run_apart([&] {
      batch_.add_words(submitted, variables_);
      variables_.keep_exported();
      run_all(one.text, statement.document.at.line - 1, depth + 1);
    });
}

void ScriptRun::run_processes(const Statement& statement, const Certainty& runs, int depth) {
  constexpr int most_shells = 32;
  const auto outcome = now_.outcome;
  const Sourced sourced{statement.words.front().at, of_child(runs)};
  for (const auto& text : statement.processes)
    if (!now_.ended && now_.shells < most_shells)
      run_apart([&] { run_all(text, 0, depth + 1, &sourced); });
  now_.outcome = outcome;
}

void ScriptRun::run_apart(const std::function<void()>& run) {
  constexpr int most_shells = 64;
  if (++now_.shells > most_shells) {
    now_.steps = most_steps + 1;
    return;
  }
  auto kept = variables_.values();
  const auto functions = functions_;
  const auto batch = batch_;
  const auto loops = std::exchange(now_.loops, 0);
  const auto around = std::exchange(now_.shells_around, 0);
  const auto stopped = now_.stopped;
  const auto returning = std::exchange(now_.returning, 0);
  const bool may_exit = now_.may_exit;
  run();
  now_.may_exit = may_exit;
  now_.returning = returning;
  now_.stopped = stopped;
  if (now_.exited) now_.outcome = now_.returned;
  now_.returned = {};
  now_.shells_around = around;
  batch_ = batch;
  variables_.state() = std::move(kept);
  functions_ = functions;
  now_.loops = loops;
  now_.ended = now_.exited = false;
}

void ScriptRun::call(const std::string& name, const Statement& statement, std::size_t first,
                     const Certainty& certainty, int depth) {
  constexpr int deepest_call = 8;
  if (now_.calls >= deepest_call) {
    now_.steps = most_steps + 1;
    return;
  }
  ++now_.calls;
  ++now_.returning;
  const auto body = functions_.body(name);  // stays, even if it defines itself anew
  auto kept = variables_.exchange_arguments(assignments_.words_of(statement, first));
  const auto loops = std::exchange(now_.loops, body->empty() ? 0 : body->front().loops);
  const auto around = std::exchange(now_.shells_around, 0);
  const auto status = run_list(*body, certainty, depth).status;
  now_.shells_around = around;
  now_.loops = loops;
  variables_.restore_arguments(std::move(kept));
  now_.outcome = now_.ended ? now_.returned : status;
  if (!now_.exited) now_.returned = {};
  now_.ended = now_.ended && now_.exited;
  now_.leaving = 0;
  --now_.returning;
  --now_.calls;
}

void ScriptRun::note_unnamed(const Statement& statement) {
  const auto& words = statement.words;
  const std::size_t first = words.front().text == "eval" ? 1 : 0;
  if (now_.unnamed || words.size() != first + 1) return;
  const auto& [text, at] = words[first];
  auto name = text;
  std::erase_if(name, [](char c) { return c == '"' || c == '{' || c == '}'; });
  if (!name.starts_with('$') || assigned_at(name.substr(1) + "=") != name.size()) return;
  const auto value = variables_.expanded(text, at);
  if (value.size() == 1 && value.front().text.empty() && !value.front().trouble.empty())
    now_.unnamed = {text, value.front().trouble, at};
}

Statement ScriptRun::with_function(Statement statement) {
  if (statement.array || functions_.none()) return statement;
  const auto is_value = [](const RawWord& word) {
    return assigned_at(word.text) != std::string_view::npos;
  };
  const auto name = std::ranges::find_if_not(statement.words, is_value);
  if (name == statement.words.end() || name->text.find('$') == std::string::npos) return statement;
  const auto at = name->at;
  const auto words = variables_.expanded(name->text, at);
  if (words.empty()) return statement;
  const auto& first = words.front();
  if (!first.trouble.empty() || first.text == "$@" || first.text == "$*") {
    if (!now_.unnamed) now_.unnamed = {name->text, first.trouble, at};
    return statement;
  }
  const bool known =
      std::ranges::all_of(words, [](const auto& one) { return one.trouble.empty(); });
  if (!known || !functions_.has(first.text)) return statement;
  const auto behind = statement.words.erase(name);
  std::vector<RawWord> raw;
  for (const auto& word : words) raw.push_back({quoted_lines(word.text, true), at});
  raw.front().text = first.text;
  statement.words.insert(behind, raw.begin(), raw.end());
  return statement;
}

void ScriptRun::run_uncalled(std::vector<JobArgument>& arguments) {
  now_.returning = 1;
  for (const auto& name : functions_.uncalled()) {
    now_.ended = false;
    run_list(*functions_.body(name), {.sure = false}, 0);
  }
  if (!now_.unnamed || !commands_.has_others()) return;
  const auto& [text, why, at] = *now_.unnamed;
  arguments.push_back({{},
                       {{{},
                         "several functions start a training, and " + text + " calls one of them" +
                             (why.empty() ? "; add --env 1=NAME" : ": " + why),
                         at}},
                       at});
}

void ScriptRun::run_file(const Statement& statement, const RawWord& file, const Certainty& runs,
                         int depth) {
  const auto name = variables_.expanded(file.text, file.at);
  const bool named = name.size() == 1 && name.front().trouble.empty();
  const auto known = named ? files_.text_of(name.front().text, variables_) : std::nullopt;
  const bool there = known && (known->trouble.empty() || !known->text.empty());
  const auto text = there ? std::optional(known->text) : std::nullopt;
  // Where the statement may not run, what it sets is in doubt anyway.
  if (there && !known->trouble.empty() && runs.sure)
    refused_.push_back({{}, {{{}, known->trouble, file.at}}, file.at});
  const bool endless = text && depth >= deepest && runs.sure && !runs.doubtful &&
                       std::ranges::find(now_.texts, *text) != now_.texts.end();
  if (endless)
    refused_.push_back({{}, {{{}, "the script sources itself without end", file.at}}, file.at});
  if (!text || depth >= deepest) {
    sourced_.push_back({"source", name, file.at, "source " + file.text});
    if (!text)
      variables_.note_unread(file.text + ", sourced in line " + std::to_string(file.at.line) + ",");
    return;
  }
  const Sourced sourced{file.at, runs};
  ++now_.returning;
  const auto run = [&] { run_all(*text, 0, depth + 1, &sourced); };
  if (statement.words.size() == 2) {
    run_inside_loops(run);
  } else {
    auto kept = variables_.exchange_arguments(assignments_.words_of(statement, 2));
    run_inside_loops(run);
    variables_.restore_arguments(std::move(kept));
  }
  --now_.returning;
  if (now_.ended && !now_.exited) now_.outcome = std::exchange(now_.returned, {});
  now_.ended = now_.ended && now_.exited;
}

void ScriptRun::run_child(const Statement& statement, std::size_t started, const Certainty& runs,
                          int depth) {
  if (depth >= deepest) return;
  const auto& file = statement.words[started - 1];
  const auto text =
      files_.text_of(variables_.expanded(file.text, file.at).front().text, variables_);
  if (!text) return;
  const bool none = commands_.none();
  auto before = statement;
  before.words.resize(started - 1);
  auto launched = launched_command(assignments_.words_of(before, 0)).options;
  const auto submitted = submitted_by(statement);
  auto kept = variables_.exchange_arguments(assignments_.words_of(statement, started));
  run_apart([&] {
    batch_.add_words(submitted, variables_);
    if (submitted.empty()) batch_.add(std::move(launched));
    functions_.keep_exported();
    variables_.keep_exported();
    assignments_.assign_for_child(statement, started - 1, runs);
    batch_.add_lines(text->text, 0, variables_);
    const Sourced sourced{file.at, of_child(runs)};
    run_all(text->text, 0, depth + 1, &sourced);
  });
  variables_.restore_arguments(std::move(kept));
  const bool trains = none && !commands_.none();
  if (trains && !text->trouble.empty() && runs.sure)
    refused_.push_back({{}, {{{}, text->trouble, file.at}}, file.at});
}

std::vector<ShellWord> ScriptRun::submitted_by(const Statement& statement) const {
  const bool submits = statement.words.front().text.ends_with("sbatch");
  return submits ? assignments_.words_of(statement, 1) : std::vector<ShellWord>();
}

bool ScriptRun::run_exported(const Statement& statement, const Certainty& certainty, int depth) {
  auto words = assignments_.words_of(statement, 0, true);
  const auto option = std::ranges::find(words, "-c", &ShellWord::text);
  const auto at = static_cast<std::size_t>(option - words.begin());
  if (at == 0 || at + 1 >= words.size()) return false;
  const auto& shell = words[at - 1].text;
  if (!shell.ends_with("bash") && !shell.ends_with("sh")) return false;
  const auto text = words[at + 1];
  if (std::ranges::none_of(statements_of(text.text), [&](const Statement& inner) {
        return functions_.is_exported(inner.words.front().text);
      }))
    return false;
  auto launched = launched_command(std::span(words).first(at - 1)).options;
  const auto behind = std::min(at + 3, words.size());  // the text and the name of the shell
  auto kept = variables_.exchange_arguments(
      {std::make_move_iterator(words.begin()) + static_cast<std::ptrdiff_t>(behind),
       std::make_move_iterator(words.end())});
  run_apart([&] {
    batch_.add(std::move(launched));
    functions_.keep_exported();
    variables_.keep_exported();
    assignments_.assign_for_child(statement, statement.words.size(), certainty);
    const Sourced sourced{text.at, of_child(certainty)};
    run_all(text.text, 0, depth + 1, &sourced);
  });
  variables_.restore_arguments(std::move(kept));
  return true;
}

void ScriptRun::run_inside(const Statement& statement, const Certainty& certainty) {
  const auto holds_several = [](const ShellWord& word) {
    return word.text.find(" -") != word.text.npos || word.text.find('\n') != word.text.npos;
  };
  const auto values = assignments_.words_of(statement, 0, true);
  if (std::ranges::none_of(values, holds_several)) return;
  const auto words = assignments_.words_of(statement, 0);
  std::vector<ShellWord> command, before;
  auto kept = variables_.values();
  variables_.keep_exported();
  assignments_.assign_for_child(statement, statement.words.size(), certainty);
  for (std::size_t i = 0; i < std::min(values.size(), words.size()); ++i) {
    if (!holds_several(values[i])) {
      (command.empty() ? before : command).push_back(words[i]);
      continue;
    }
    bool next = false;
    for (auto& inner : statements_of(values[i].text)) {
      if (next) commands_.consider(std::exchange(command, {}), before, certainty, variables_);
      next = true;
      for (auto& word : inner.words) word.at = values[i].at;
      for (auto& one : assignments_.words_of(inner, 0)) command.push_back(std::move(one));
    }
  }
  commands_.consider(std::move(command), before, certainty, variables_);
  variables_.state() = std::move(kept);
}

}  // namespace scenarios
