// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/shell_script.hpp"

#include <algorithm>
#include <utility>

#include "scenarios/jobs/argument_list.hpp"
#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/script_assignments.hpp"
#include "scenarios/jobs/script_commands.hpp"
#include "scenarios/jobs/script_files.hpp"
#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/builtins.hpp"
#include "scenarios/shell/conditions.hpp"
#include "scenarios/shell/folder.hpp"
#include "scenarios/shell/functions.hpp"
#include "scenarios/shell/loops.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/subshell.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

// How far a script has run.
struct Progress {
  bool ended = false, exited = false;     // nothing more runs; of the whole script
  int loops = 0;                          // around the statement, whose turns are run
  int shells = 0;                         // of their own that ran
  int calls = 0;                          // of functions, around the statement that runs
  int evaluated = 0;                      // evals around the statement that runs
  std::int64_t steps = 0;                 // statements that ran
  std::vector<std::string_view> texts{};  // of files inside of each other
  std::optional<bool> returned{};         // whether the function that ran last succeeded
};

class Script {
 public:
  Script(std::string_view text, const ArgumentTable& table, std::span<const std::string> env,
         const JobFiles& files, bool any_program = false)
      : text_(text),
        files_(files, may_change_folder(text)),
        variables_(env),
        assignments_(table, variables_),
        commands_(table, any_program, batch_) {}

  bool starts() const { return !commands_.none(); }
  const WrittenFiles& written() const { return files_.written(); }
  const std::optional<ShellWord>& folder() const { return commands_.folder(); }
  std::span<const ShellWord> behind_program() const { return commands_.behind_program(); }

  FrameworkJob read() {
    FrameworkJob job;
    run_all(text_, 0);
    if (commands_.none()) run_uncalled();
    if (commands_.none()) commands_.take(assignments_.all_lists());
    job.launcher = commands_.batch_options();
    std::ranges::move(sourced_, std::back_inserter(job.launcher));
    std::ranges::move(endless_, std::back_inserter(job.arguments));
    commands_.write(job);
    if (variables_.exhausted() || now_.steps > most_steps)
      job.arguments.push_back({{}, {{{}, "the script is longer than any that was seen", {}}}, {}});
    return job;
  }

 private:
  static constexpr std::int64_t most_steps = 5'000, words_of_step = 32;
  static constexpr int deepest = 3;  // texts inside of each other whose commands are run

  // A file that a script sources: where, and whether it does.
  struct Sourced {
    Place at;
    Certainty runs;
  };

  // Runs the statements of a text that begins behind the first `lines` lines of the script.
  // Those of another file stand where the script names it, `sourced`.
  void run_all(std::string_view text, std::int64_t lines, int depth = 0,
               const Sourced* sourced = nullptr) {
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
    run_list(statements, sourced == nullptr ? Certainty{} : sourced->runs, depth);
    now_.texts.pop_back();
  }

  // Runs statements, of which `around` says whether they run, until one ends them.
  void run_list(std::span<const Statement> statements, const Certainty& around, int depth) {
    Conditions conditions;
    Subshell subshell;
    bool doubtful_end = false;  // a statement before may have ended them
    for (std::size_t i = 0; i < statements.size() && !now_.ended; ++i) {
      const auto& statement = statements[i];
      now_.steps += 1 + static_cast<std::int64_t>(statement.words.size()) / words_of_step;
      if (now_.steps > most_steps) return;
      if (!statement.defines.empty()) {
        conditions.enter(statement, variables_);
        const auto body = functions_.define(statements.subspan(i), conditions.runs() != false);
        i += body;
        now_.steps += static_cast<std::int64_t>(body);
        continue;
      }
      subshell.enter(statement, variables_);
      const auto runs = run_where(conditions, statement, around, depth);
      if (!runs) continue;
      if (statement.words.front().text == "for" && runs->sure)
        i += unroll(statements.subspan(i), *runs, depth);
      else
        run_documents(statement, *runs, depth);
      if (now_.returned) conditions.settle(*std::exchange(now_.returned, {}));
      if (!runs->sure || runs->doubtful || !ends(statement)) {
        doubtful_end = doubtful_end || ends(statement);
        continue;
      }
      if (!doubtful_end) now_.returned = returned_status(statement, variables_);
      now_.ended = true;
      now_.exited = now_.exited || statement.words.front().text != "return";
    }
    subshell.leave(variables_);
  }

  // Runs a loop over words that are known, turn by turn. Returns the number of statements of it up
  // to "done"; 0: only a shell can tell its turns.
  std::size_t unroll(std::span<const Statement> loop, const Certainty& runs, int depth) {
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

  // Runs the loop of "for ((i = 0; i < 8; i++))", as unroll() does. Its turns are counted before.
  std::size_t count_up(std::span<const Statement> loop, const Certainty& runs, int depth) {
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

  // Runs the commands that a statement has in another file or in its here-document.
  void run_documents(const Statement& statement, const Certainty& runs, int depth) {
    if (const auto* file = sourced_by(statement))
      run_file(statement, *file, runs, depth);
    else if (const auto started = files_.started_by(statement, variables_); started > 0)
      run_child(statement, started, runs, depth);
    if (depth >= deepest) return;
    files_.add_written(statement, variables_, runs);
    if (!reads_commands(statement)) return;
    const auto submitted = submitted_by(statement);
    for (const auto& one : variables_.value_of(statement.document.text, statement.document.at))
      run_apart([&] {
        batch_.add_words(submitted, variables_);
        variables_.keep_exported();
        run_all(one.text, statement.document.at.line - 1, depth + 1);
      });
  }

  // Runs commands in a shell of their own, which leaves no variable and no option of Slurm behind.
  template <class Run>
  void run_apart(const Run& run) {
    constexpr int most_shells = 64;
    if (++now_.shells > most_shells) {
      now_.steps = most_steps + 1;
      return;
    }
    auto kept = variables_.values();
    const auto functions = functions_;
    const auto batch = batch_;
    const auto loops = std::exchange(now_.loops, 0);
    run();
    batch_ = batch;
    variables_.restore(std::move(kept));
    functions_ = functions;
    now_.loops = loops;
    now_.ended = now_.exited = false;
  }

  // Runs a statement where the conditions before it say so; returns whether it runs, nothing where
  // it does not.
  std::optional<Certainty> run_where(Conditions& conditions, const Statement& statement,
                                     const Certainty& around, int depth) {
    conditions.enter(statement, variables_);
    if (statement.branch) return {};
    const auto runs = conditions.runs();
    if (runs == false) {
      assignments_.leave_empty(statement, conditions.argument());
      return {};
    }
    const Certainty certainty{around.sure && statement.loops == now_.loops && runs,
                              around.doubtful || !runs, runs ? around.why : conditions.why()};
    run(statement, certainty, depth);
    return certainty;
  }

  // Runs a function with the words behind its name as its arguments.
  void call(const std::string& name, const Statement& statement, std::size_t first,
            const Certainty& certainty, int depth) {
    constexpr int deepest_call = 8;
    if (now_.calls >= deepest_call) {
      now_.steps = most_steps + 1;
      return;
    }
    ++now_.calls;
    const auto body = functions_.body(name);  // stays, even if it defines itself anew
    auto kept = variables_.exchange_arguments(assignments_.words_of(statement, first));
    const auto loops = std::exchange(now_.loops, body->empty() ? 0 : body->front().loops);
    run_list(*body, certainty, depth);
    now_.loops = loops;
    variables_.restore_arguments(std::move(kept));
    if (!now_.ended) now_.returned = {};
    now_.ended = now_.ended && now_.exited;
    --now_.calls;
  }

  // Runs functions that no command calls that is read here, if nothing else trains.
  void run_uncalled() {
    for (const auto& name : functions_.uncalled()) {
      now_.ended = false;
      run_list(*functions_.body(name), {.sure = false}, 0);
    }
  }

  // Runs a file beside the script; of another one, remembers that its variables are not known.
  void run_file(const Statement& statement, const RawWord& file, const Certainty& runs, int depth) {
    const auto name = variables_.expanded(file.text, file.at);
    const bool named = name.size() == 1 && name.front().trouble.empty();
    const auto text = named ? files_.text_of(name.front().text, variables_) : std::nullopt;
    const bool endless = text && depth >= deepest && runs.sure && !runs.doubtful &&
                         std::ranges::find(now_.texts, *text) != now_.texts.end();
    if (endless)
      endless_.push_back({{}, {{{}, "the script sources itself without end", file.at}}, file.at});
    if (!text || depth >= deepest) {
      sourced_.push_back({"source", name, file.at, "source " + file.text});
      if (!text)
        variables_.note_unread(file.text + ", sourced in line " + std::to_string(file.at.line) +
                               ",");
      return;
    }
    const Sourced sourced{file.at, runs};
    if (statement.words.size() == 2) {
      run_all(*text, 0, depth + 1, &sourced);
    } else {
      auto kept = variables_.exchange_arguments(assignments_.words_of(statement, 2));
      run_all(*text, 0, depth + 1, &sourced);
      variables_.restore_arguments(std::move(kept));
    }
    now_.ended = now_.ended && now_.exited;
  }

  // Runs a script in a shell of its own, with the words behind its name as its arguments.
  void run_child(const Statement& statement, std::size_t started, const Certainty& runs,
                 int depth) {
    if (depth >= deepest) return;
    const auto& file = statement.words[started - 1];
    const auto text =
        files_.text_of(variables_.expanded(file.text, file.at).front().text, variables_);
    if (!text) return;
    auto before = statement;
    before.words.resize(started - 1);
    auto launched = launched_command(assignments_.words_of(before, 0)).options;
    const auto submitted = submitted_by(statement);
    auto kept = variables_.exchange_arguments(assignments_.words_of(statement, started));
    run_apart([&] {
      batch_.add_words(submitted, variables_);
      if (submitted.empty()) batch_.add(std::move(launched));
      functions_ = {};
      variables_.keep_exported();
      assignments_.assign_for_child(statement, started - 1, runs);
      batch_.add_lines(*text, 0, variables_);
      const Sourced sourced{file.at, runs};
      run_all(*text, 0, depth + 1, &sourced);
    });
    variables_.restore_arguments(std::move(kept));
  }

  // Returns the words behind "sbatch", with its options; nothing for another command.
  std::vector<ShellWord> submitted_by(const Statement& statement) const {
    const bool submits = statement.words.front().text.ends_with("sbatch");
    return submits ? assignments_.words_of(statement, 1) : std::vector<ShellWord>();
  }

  // Runs the commands in a text that a command such as bash -c or ssh is given. Their places are
  // those of the whole text. Words behind the text belong to its last command: "… ${ARGS[@]}" in
  // quotes.
  void run_inside(const Statement& statement, const Certainty& certainty) {
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
    variables_.restore(std::move(kept));
  }

  // Runs a statement.
  void run(const Statement& given, const Certainty& certainty, int depth) {
    assignments_.doubt_counted(given);
    const bool declares = is_declaration(given);
    const auto statement = declares && !given.array ? with_known_names(given, variables_) : given;
    const auto& words = statement.words;
    std::size_t first = 0;
    std::string options;  // declare -r
    if (!statement.array && declares)
      for (++first; first < words.size() && words[first].text.starts_with('-'); ++first)
        options += words[first].text;
    if (words[0].text == ":") assignments_.assign_defaults(statement);
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
    if (!assigns && called == words.size()) return run_command(statement, certainty, depth);
    if (!assigns) {  // "NAME=value function"
      functions_.enter();
      functions_.add_locals(statement, first, end, variables_);
    }
    for (auto i = first; i < end; ++i)
      if (!is_name(i))
        assignments_.assign(statement, i, certainty);
      else if (local && functions_.runs())
        variables_.assign(words[i].text, {});
    if (declares) {
      if (words[0].text == "export") options += 'x';
      for (auto i = first; i < end; ++i) assignments_.add_attributes(words[i], options, certainty);
    }
    if (assigns) return;
    call(words[called].text, statement, called + 1, certainty, depth);
    functions_.leave(variables_);
  }

  // Runs a statement that is no assignment and no call.
  void run_command(const Statement& statement, const Certainty& certainty, int depth) {
    const auto& words = statement.words;
    std::ranges::move(unread_in(statement, variables_), std::back_inserter(sourced_));
    assignments_.doubt_elements(statement);
    assignments_.read(statement, certainty);
    if (words[0].text == "eval" && now_.evaluated < deepest)
      return evaluate(statement, certainty, depth);
    if (run_builtin(statement, certainty)) return;
    if (depth < deepest && files_.started_by(statement, variables_) > 0) return;  // run_child
    run_inside(statement, certainty);
    commands_.consider(assignments_.words_of(statement, 0), {}, certainty, variables_);
  }

  // Runs a command of the shell itself that changes variables or arguments; returns whether it is
  // one.
  bool run_builtin(const Statement& statement, const Certainty& certainty) {
    const auto& words = statement.words;
    const std::string_view name = words.front().text;
    if (name == "set") {
      assignments_.set_arguments(statement, certainty);
    } else if (name == "shift") {
      assignments_.shift(statement, certainty);
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
      for (std::size_t i = name == "let" ? 1 : 0; i < words.size(); ++i)
        assignments_.calculate(words[i], certainty);
    } else {
      return false;
    }
    return true;
  }

  // Runs the commands that an eval makes of its words, whose redirections go.
  void evaluate(const Statement& statement, const Certainty& certainty, int depth) {
    std::string line;
    for (const auto& value : assignments_.words_of(statement, 1, true)) line += value.text + ' ';
    ++now_.evaluated;
    Conditions conditions;
    for (auto& inner : statements_of(line)) {
      for (auto& word : inner.words) word.at = statement.words.front().at;
      run_where(conditions, inner, certainty, depth);
    }
    --now_.evaluated;
  }

  std::string_view text_;
  ScriptFiles files_;
  ShellVariables variables_;
  ScriptAssignments assignments_;
  std::vector<JobArgument> sourced_;  // files that are not beside the script
  BatchOptions batch_;
  std::vector<JobArgument> endless_;  // scripts that source themselves
  ScriptCommands commands_;
  ShellFunctions functions_;
  Progress now_;
};

const ArgumentTable& no_arguments() {
  static const ArgumentTable none("");
  return none;
}

}  // namespace

FrameworkJob read_shell_script(std::string_view text, const ArgumentTable& table,
                               std::span<const std::string> env, const JobFiles& files) {
  return is_list(text) ? read_list(text, table, env) : Script(text, table, env, files).read();
}

JobFiles files_of_script(std::string_view text, const std::string& file,
                         std::span<const std::string> env, const JobFiles& files) {
  if (text.find("<<") == text.npos && !may_change_folder(text)) return files;
  Script script(text, no_arguments(), env, files, true);
  script.read();
  return with_written(script.written(), script.folder(), file, files);
}

std::optional<LaunchScript> read_launch(std::string_view text, std::span<const std::string> env,
                                        const JobFiles& files) {
  Script script(text, no_arguments(), env, files, true);
  LaunchScript launch{script.read(), {}};
  const auto behind = script.behind_program();
  launch.words.assign(behind.begin(), behind.end());
  if (!script.starts()) return {};
  return launch;
}

}  // namespace scenarios
