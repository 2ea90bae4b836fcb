// SPDX-License-Identifier: Apache-2.0
// Private to the room: a script as it is run, statement by statement.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/job.hpp"
#include "scenarios/jobs/scripts/script_assignments.hpp"
#include "scenarios/jobs/scripts/script_commands.hpp"
#include "scenarios/jobs/scripts/script_files.hpp"
#include "scenarios/shell/conditions.hpp"
#include "scenarios/shell/ended_copies.hpp"
#include "scenarios/shell/folder.hpp"
#include "scenarios/shell/functions.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// How far a script has run.
struct Progress {
  bool ended = false, exited = false;     // nothing more runs; of the whole script
  int loops = 0;                          // around the statement, whose turns are run
  int shells = 0;                         // of their own that ran
  int calls = 0;                          // of functions, around the statement that runs
  int evaluated = 0;                      // evals around the statement that runs
  std::int64_t steps = 0;                 // statements that ran
  std::vector<std::string_view> texts{};  // of files inside of each other
  std::optional<bool> returned{};         // whether what a "return" or "exit" ends succeeded
  std::optional<std::string> input{};     // what the loops around read, as far as it is left
  std::optional<bool> turned{};           // whether the last turn of the loop before succeeded
  std::optional<std::optional<bool>> outcome{};  // of the command that ran, where running told it
  int leaving = 0;                               // loops that are left, the innermost first
  bool goes_on = false;                          // the last of them takes its next turn
  int loops_outside = 0;                         // around the text that runs, which it may leave
  std::size_t shells_around = 0;                 // copies that the loop runs in whose turn this is
  std::optional<JobArgument> stopped{};          // why the script starts no training
  std::optional<JobArgument> passed{};           // why it may start none: an end that is not taken
  int returning = 0;      // functions and sourced files around, from which a "return" is one
  bool may_exit = false;  // the copy of the shell may have ended
  bool torn = false;      // only a shell can tell whether a loop is left
  std::optional<ShellWord> unnamed{};  // why it is not known which function or program one starts
};

// Whether a list succeeds, and why the argument of the script is not known on which that rests.
struct Outcome {
  std::optional<bool> status{};
  std::string argument{};
};

class ScriptRun {
 public:
  ScriptRun(std::string_view text, const ArgumentTable& table, std::span<const std::string> env,
            const JobFiles& files, bool any_program = false)
      : text_(text),
        files_(files, may_change_folder(text)),
        variables_(env),
        assignments_(table, variables_),
        commands_(table, any_program, batch_) {}

  // Runs the whole script; returns the job of its training command.
  FrameworkJob read();

  // Results of a script that has run.
  bool starts() const { return !commands_.none(); }
  const WrittenFiles& written() const { return files_.written(); }
  const std::optional<ShellWord>& folder() const { return commands_.folder(); }
  std::span<const ShellWord> behind_program() const { return commands_.behind_program(); }

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
               const Sourced* sourced = nullptr);
  // Runs statements, of which `around` says whether they run, until one ends them.
  Outcome run_list(std::span<const Statement> statements, const Certainty& around, int depth);
  // Ends the script at an extended pattern of a case that it is not told to read.
  void check_patterns(const Statement& branch);
  // Whether a statement that a shell ends at is taken, and notes one that is not. An end of the
  // script that is chosen before anything trains is not: it guards against what is missing, and the
  // job is one that runs.
  bool is_end(const Statement& statement, const Certainty& runs);
  // Ends the script or function at a statement that is run for certain.
  void end_at(const Statement& statement, const Conditions& conditions);
  // The statement has run, in these copies of the shell: of those that it ends, or may end, it ends
  // the innermost alone.
  void end_copy(const Statement& statement, std::span<const int> copies, Conditions& conditions,
                EndedCopies& ended);
  // Runs a text inside of loops, whose commands may leave them.
  void run_inside_loops(const std::function<void()>& run);
  // Runs a statement where the conditions before it say so; returns whether it runs, nothing where
  // it does not.
  std::optional<Certainty> run_where(Conditions& conditions, const Statement& statement,
                                     const Certainty& around, int depth);
  // Runs a statement with the commands that it has in other texts.
  void run_whole(const Statement& statement, const Certainty& certainty, int depth);
  // Runs a statement.
  void run(const Statement& given, const Certainty& certainty, int depth);
  // Runs a statement that is no assignment and no call.
  void run_command(const Statement& statement, const Certainty& certainty, int depth);
  // Runs a command of the shell itself that changes variables or arguments; returns whether it is
  // one.
  bool run_builtin(const Statement& statement, const Certainty& certainty);
  // Runs the commands that an eval makes of its words, whose redirections go.
  void evaluate(const Statement& statement, const Certainty& certainty, int depth);

  // Runs a loop as unroll() does, which reads what a loop around it reads, or nothing that is
  // known.
  std::size_t unroll_fed(std::span<const Statement> loop, const Certainty& runs, int depth);
  // Runs a loop whose turns are known, one by one. Returns the number of statements of it up to
  // "done"; 0: only a shell can tell its turns, and none is run.
  std::size_t unroll(std::span<const Statement> loop, const Certainty& runs, int depth);
  // Does so with a loop over words.
  std::size_t run_over(std::span<const Statement> loop, const Certainty& runs, int depth);
  // Runs the loop of "for ((i = 0; i < 8; i++))", as unroll() does. Its turns are counted before.
  std::size_t count_up(std::span<const Statement> loop, const Certainty& runs, int depth);
  // Runs the loop of "while" and "until", as unroll() does.
  std::size_t run_while(std::span<const Statement> loop, const Certainty& runs, int depth);
  // Doubts what the turns of a loop that only a shell can tell may set, before its statements are
  // judged once for all turns.
  void doubt_turns(std::span<const Statement> loop);
  // Runs turns of a loop. If they return false, or it is not known which of them leaves the loop,
  // everything is again as it was before; returns whether they stay.
  bool try_turns(const std::function<bool()>& turns);
  // Runs the statements of one turn; returns whether the loop takes another.
  bool take_turn(std::span<const Statement> body, const Certainty& runs, int depth);
  // Lets "read" take a line of what the loop around reads, and runs other commands that set
  // variables to what they read.
  void read_input(const Statement& statement, const Certainty& certainty);
  // Runs "break 2" and "continue".
  void leave_loops(const Statement& statement, const Certainty& certainty);

  // Runs the commands that a statement has in another file or in its here-document.
  void run_documents(const Statement& statement, const Certainty& runs, int depth);
  // Runs the first commands that a statement has in "<(…)" and ">(…)"; nobody knows what they read
  // and write.
  void run_processes(const Statement& statement, const Certainty& runs, int depth);
  // Runs commands in a shell of their own, which leaves no variable and no option of Slurm behind.
  void run_apart(const std::function<void()>& run);
  // Runs a function with the words behind its name as its arguments.
  void call(const std::string& name, const Statement& statement, std::size_t first,
            const Certainty& certainty, int depth);
  // Returns the files and functions that words of the script may read; it must not outlive the run.
  ShellSurroundings surroundings();
  // Notes a command that is one variable, whose value is not known: $CMD, eval "$CMD".
  void note_unnamed(const Statement& statement);
  // Gives a command whose name is made of variables, run_$1, the words that they stand for, if the
  // first of them is a function.
  Statement with_function(Statement statement);
  // Runs functions that no command calls that is read here, if nothing else trains. If a command
  // calls one whose name is not known, and several train, adds that to the arguments.
  void run_uncalled(std::vector<JobArgument>& arguments);
  // Runs a file beside the script; of another one, remembers that its variables are not known.
  void run_file(const Statement& statement, const RawWord& file, const Certainty& runs, int depth);
  // Runs a script in a shell of its own, with the words behind its name as its arguments.
  void run_child(const Statement& statement, std::size_t started, const Certainty& runs, int depth);
  // Returns the words behind "sbatch", with its options; nothing for another command.
  std::vector<ShellWord> submitted_by(const Statement& statement) const;
  // Runs the commands in the text of "bash -c TEXT NAME ARGUMENT…" if one of them is a function
  // that is exported; returns whether there is one.
  bool run_exported(const Statement& statement, const Certainty& certainty, int depth);
  // Runs the commands in a text that a command such as bash -c or ssh is given. Their places are
  // those of the whole text. Words behind the text belong to its last command: "… ${ARGS[@]}" in
  // quotes.
  void run_inside(const Statement& statement, const Certainty& certainty);

  std::string_view text_;
  ScriptFiles files_;
  ShellVariables variables_;
  ScriptAssignments assignments_;
  std::vector<JobArgument> sourced_;  // files that are not beside the script
  BatchOptions batch_;
  std::vector<JobArgument> refused_;  // scripts that source themselves, or are changed before
  ScriptCommands commands_;
  ShellFunctions functions_;
  Progress now_;
  int tried_ = 0;  // loops whose turns could be taken back
};

}  // namespace scenarios
