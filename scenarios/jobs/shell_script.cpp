// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/shell_script.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/argument_list.hpp"
#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/script_commands.hpp"
#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/conditions.hpp"
#include "scenarios/shell/functions.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

class Script {
 public:
  Script(std::string_view text, const ArgumentTable& table, std::span<const std::string> env,
         const JobFiles& files, bool any_program = false)
      : text_(text), table_(table), files_(files), variables_(env), commands_(table, any_program) {}

  bool starts() const { return !commands_.none(); }
  std::span<const ShellWord> behind_program() const { return commands_.behind_program(); }

  FrameworkJob read() {
    FrameworkJob job;
    run_all(text_, 0);
    job.launcher = std::move(batch_);
    std::ranges::move(sourced_, std::back_inserter(job.launcher));
    job.written = std::move(written_);
    if (commands_.none()) run_uncalled();
    if (commands_.none()) commands_.take(all_lists());
    commands_.write(job, variables_);
    if (variables_.exhausted()) job.arguments.push_back({{}, variables_.expanded("", {}), {}});
    return job;
  }

 private:
  static constexpr std::int64_t most_steps = 20'000;
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
    if (sourced == nullptr) add_batch(text, lines);
    auto statements = statements_of(text);
    for (auto& statement : statements) {
      for (auto& word : statement.words) {
        word.at.line += lines;
        if (sourced != nullptr) word.at = sourced->at;
      }
      statement.document.at.line += lines;
    }
    run_list(statements, sourced == nullptr ? Certainty{} : sourced->runs, depth);
  }

  // Runs statements, of which `around` says whether they run, until one ends them.
  void run_list(std::span<const Statement> statements, const Certainty& around, int depth) {
    Conditions conditions;
    for (std::size_t i = 0; i < statements.size() && !ended_; ++i) {
      const auto& statement = statements[i];
      if (++steps_ > most_steps) return;
      if (!statement.defines.empty()) {
        i += functions_.define(statements.subspan(i));
        continue;
      }
      const auto runs = run_where(conditions, statement, around, depth);
      if (!runs) continue;
      if (statement.words.front().text == "for" && runs->sure)
        i += unroll(statements.subspan(i), *runs, depth);
      else
        run_documents(statement, *runs, depth);
      if (!runs->sure || runs->doubtful || !ends(statement)) continue;
      ended_ = true;
      exited_ = exited_ || statement.words.front().text != "return";
    }
  }

  // Runs a loop over words that are known, turn by turn. Returns the number of statements of it up
  // to "done"; 0: only a shell can tell its turns.
  std::size_t unroll(std::span<const Statement> loop, const Certainty& runs, int depth) {
    constexpr std::size_t most_turns = 64;
    const auto& words = loop.front().words;
    if (words.size() < 3 || words[2].text != "in") return 0;
    const auto turns = words_of_statement(loop.front(), 3);
    const bool known = std::ranges::all_of(
        turns, [](const ShellWord& word) { return word.trouble.empty() && word.text != "$@"; });
    const auto end = std::ranges::find_if(loop.subspan(1), [&](const Statement& one) {
      return one.loops == loop.front().loops && one.words.front().text == "done";
    });
    if (!known || turns.size() > most_turns || end == loop.subspan(1).end()) return 0;
    const auto count = static_cast<std::size_t>(end - loop.subspan(1).begin());
    ++loops_;
    for (const auto& turn : turns) {
      if (ended_) break;
      variables_.assign(words[1].text, {turn});
      run_list(loop.subspan(1, count), runs, depth);
    }
    --loops_;
    return count;
  }

  // Runs the commands that a statement has in another file or in its here-document.
  void run_documents(const Statement& statement, const Certainty& runs, int depth) {
    if (const auto* file = sourced_by(statement))
      run_file(statement, *file, runs, depth);
    else if (const auto started = started_by(statement); started > 0)
      run_child(statement, started, runs, depth);
    if (depth >= deepest) return;
    add_written(statement);
    if (!reads_commands(statement)) return;
    add_batch_command(statement);
    for (const auto& one : variables_.value_of(statement.document.text, statement.document.at)) {
      run_all(one.text, statement.document.at.line - 1, depth + 1);
      ended_ = exited_ = false;  // a shell of its own
    }
  }

  // Whether nothing of the script is run behind the statement. An exit that tells of a mistake is
  // not taken: the job is one that runs.
  static bool ends(const Statement& statement) {
    const auto& words = statement.words;
    if (words.front().text == "exec") return words.size() > 1;
    const bool leaves = words.front().text == "exit" || words.front().text == "return";
    return leaves && (words.size() == 1 || words[1].text == "0" || words[1].text == "$?");
  }

  // Runs a statement where the conditions before it say so; returns whether it runs, nothing where
  // it does not.
  std::optional<Certainty> run_where(Conditions& conditions, const Statement& statement,
                                     const Certainty& around, int depth) {
    conditions.enter(statement, variables_);
    if (statement.branch) return {};
    const auto runs = conditions.runs();
    if (runs == false) {
      leave_empty(statement);
      return {};
    }
    const Certainty certainty{around.sure && statement.loops == loops_ && runs,
                              around.doubtful || !runs, runs ? around.why : conditions.why()};
    run(statement, certainty, depth);
    return certainty;
  }

  // Runs a function with the words behind its name as its arguments.
  void call(const std::string& name, const Statement& statement, std::size_t first,
            const Certainty& certainty, int depth) {
    constexpr int deepest_call = 8;
    if (calls_ >= deepest_call) return;
    ++calls_;
    const auto body = functions_.body(name);  // stays, even if it defines itself anew
    const auto kept = variables_.arguments();
    variables_.set_arguments(words_of_statement(statement, first));
    functions_.enter();
    const auto loops = std::exchange(loops_, body->empty() ? 0 : body->front().loops);
    run_list(*body, certainty, depth);
    loops_ = loops;
    functions_.leave(variables_);
    variables_.restore_arguments(kept);
    ended_ = ended_ && exited_;
    --calls_;
  }

  // Runs functions that no command calls that is read here, if nothing else trains.
  void run_uncalled() {
    for (const auto& name : functions_.uncalled()) {
      ended_ = false;
      run_list(*functions_.body(name), {.sure = false}, 0);
    }
  }

  // Returns the word that names the file in "source FILE" or ". FILE"; null: another command.
  static const RawWord* sourced_by(const Statement& statement) {
    const auto& words = statement.words;
    const bool sources = words.size() > 1 && (words[0].text == "source" || words[0].text == ".");
    return sources ? &words[1] : nullptr;
  }

  // Runs a file beside the script; of another one, remembers that its variables are not known.
  void run_file(const Statement& statement, const RawWord& file, const Certainty& runs, int depth) {
    const auto name = variables_.expanded(file.text, file.at);
    const bool named = name.size() == 1 && name.front().trouble.empty();
    const auto text = named && depth < deepest ? text_of(name.front().text) : std::nullopt;
    if (!text) {
      sourced_.push_back({"source", name, file.at, "source " + file.text});
      return;
    }
    const auto kept = variables_.arguments();
    if (statement.words.size() > 2) variables_.set_arguments(words_of_statement(statement, 2));
    const Sourced sourced{file.at, runs};
    run_all(*text, 0, depth + 1, &sourced);
    if (statement.words.size() > 2) variables_.restore_arguments(kept);
    ended_ = ended_ && exited_;
  }

  // The text of a file that the script writes, or that lies beside it.
  std::optional<std::string> text_of(const std::string& path) const {
    const auto found = written_.find(path.substr(path.starts_with("./") ? 2 : 0));
    if (found != written_.end()) return found->second;
    return files_ ? files_(path) : std::nullopt;
  }

  // Returns the number of words up to the script in "bash FILE", "sbatch --nodes 2 FILE" and
  // "./FILE"; 0: another command.
  std::size_t started_by(const Statement& statement) const {
    constexpr std::array<std::string_view, 4> shells{"bash", "sh", "zsh", "sbatch"};
    constexpr std::array<std::string_view, 5> ends{".sh", ".bash", ".sbatch", ".slurm", ".job"};
    const auto& words = statement.words;
    const auto is_shell = [&](std::string_view word) {
      word.remove_prefix(word.rfind('/') + 1);
      return std::ranges::find(shells, word) != shells.end();
    };
    const bool shell = is_shell(words.front().text);
    for (std::size_t i = shell ? 1 : 0; i < (shell ? words.size() : 1); ++i) {
      const auto name = variables_.expanded(words[i].text, words[i].at);
      if (name.size() != 1 || !name.front().trouble.empty()) return 0;
      const auto& path = name.front().text;
      const bool script =
          std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
      if (path == "-c" || (!script && !written_.contains(path))) continue;
      return text_of(path) ? i + 1 : 0;
    }
    return 0;
  }

  // Runs a script in a shell of its own, with the words behind its name as its arguments.
  void run_child(const Statement& statement, std::size_t started, const Certainty& runs,
                 int depth) {
    if (depth >= deepest) return;
    const auto& file = statement.words[started - 1];
    const auto text = text_of(variables_.expanded(file.text, file.at).front().text);
    if (statement.words.front().text.ends_with("sbatch")) add_batch_command(statement);
    if (!text) return;
    add_batch(*text, 0);
    const auto kept = variables_.arguments();
    variables_.set_arguments(words_of_statement(statement, started));
    const Sourced sourced{file.at, runs};
    run_all(*text, 0, depth + 1, &sourced);
    variables_.restore_arguments(kept);
    ended_ = exited_ = false;
  }

  // Keeps the text of "cat <<EOF > FILE".
  void add_written(const Statement& statement) {
    if (statement.output.empty() || statement.document.text.empty() ||
        statement.words.front().text != "cat")
      return;
    const auto name = variables_.expanded(statement.output, statement.document.at);
    const auto text = variables_.expanded(statement.document.text, statement.document.at);
    if (name.size() == 1 && text.size() == 1 && name.front().trouble.empty() &&
        text.front().trouble.empty())
      written_[name.front().text] = text.front().text;
  }

  // Adds the options of "sbatch --nodes=4 <<EOF".
  void add_batch_command(const Statement& statement) {
    if (!statement.words.front().text.ends_with("sbatch")) return;
    add_batch_words(words_of_statement(statement, 1));
  }

  // Adds the options of #SBATCH.
  void add_batch(std::string_view text, std::int64_t lines) {
    std::vector<ShellWord> words;
    for (auto word : batch_options(text)) {
      word.at.line += lines;
      for (auto& one : variables_.expanded(word.text, word.at)) words.push_back(std::move(one));
    }
    add_batch_words(words);
  }

  // Adds Slurm's options, and the variables that it sets for them.
  void add_batch_words(const std::vector<ShellWord>& words) {
    std::ranges::move(launched_command(words, "slurm").options, std::back_inserter(batch_));
    for (const auto& one : slurm_variables(batch_)) {
      const auto equals = one.find('=');
      variables_.assign(one.substr(0, equals), {{one.substr(equals + 1), {}, {}}});
    }
  }

  std::vector<ShellWord> words_of_statement(const Statement& statement, std::size_t first,
                                            bool value = false) const {
    std::vector<ShellWord> words;
    for (std::size_t i = first; i < statement.words.size(); ++i) {
      const auto& [raw, at] = statement.words[i];
      for (auto& one : value ? variables_.value_of(raw, at) : variables_.expanded(raw, at))
        words.push_back(std::move(one));
    }
    return words;
  }

  // Runs the commands in a text that a command such as bash -c or ssh is given. Their places are
  // those of the whole text. Words behind the text belong to its last command: "… ${ARGS[@]}" in
  // quotes.
  void run_inside(const Statement& statement, const Certainty& certainty) {
    const auto holds_several = [](const ShellWord& word) {
      return word.text.find(" -") != word.text.npos || word.text.find('\n') != word.text.npos;
    };
    const auto values = words_of_statement(statement, 0, true);
    if (std::ranges::none_of(values, holds_several)) return;
    const auto words = words_of_statement(statement, 0);
    std::vector<ShellWord> command, before;
    for (std::size_t i = 0; i < std::min(values.size(), words.size()); ++i) {
      if (!holds_several(values[i])) {
        (command.empty() ? before : command).push_back(words[i]);
        continue;
      }
      bool next = false;
      for (auto& inner : statements_of(values[i].text)) {
        if (next) commands_.consider(std::exchange(command, {}), before, certainty);
        next = true;
        for (auto& word : inner.words) word.at = values[i].at;
        for (auto& one : words_of_statement(inner, 0)) command.push_back(std::move(one));
      }
    }
    commands_.consider(std::move(command), before, certainty);
  }

  // Runs a statement.
  void run(const Statement& statement, const Certainty& certainty, int depth) {
    const auto& words = statement.words;
    std::size_t first = 0;
    constexpr std::array<std::string_view, 5> declare{"export", "local", "readonly", "declare",
                                                      "typeset"};
    const bool declares = std::ranges::find(declare, words[0].text) != declare.end();
    if (!statement.array && declares) {
      ++first;
      while (first < words.size() && words[first].text.starts_with('-')) ++first;  // declare -r
    }
    if (words[0].text == ":") assign_defaults(statement);
    if (statement.local || (declares && words[0].text != "export"))
      functions_.add_locals(statement, first, variables_);
    const auto is_name = [&](std::size_t at) {
      return declares && assigned_at(words[at].text + "=") == words[at].text.size() + 1;
    };
    std::size_t assigned = statement.array ? words.size() : first;
    while (assigned < words.size() &&
           (is_name(assigned) || assigned_at(words[assigned].text) != std::string_view::npos))
      ++assigned;
    const bool assigns = assigned == words.size() && assigned > first;
    const bool calls = !declares && assigned < words.size() && functions_.has(words[assigned].text);
    if (assigns || calls) {
      for (auto i = first; i < (statement.array ? 1 : assigned); ++i)
        if (!is_name(i))
          assign(statement, i, statement.array ? !certainty.doubtful : certainty.sure,
                 certainty.why);
      if (calls) call(words[assigned].text, statement, assigned + 1, certainty, depth);
      return;
    }
    if (words[0].text == "eval" && evaluated_ < deepest)
      return evaluate(statement, certainty, depth);
    if (run_builtin(statement, certainty)) return;
    run_inside(statement, certainty);
    commands_.consider(words_of_statement(statement, 0), {}, certainty);
  }

  // Runs a command of the shell itself that changes variables or arguments; returns whether it is
  // one.
  bool run_builtin(const Statement& statement, const Certainty& certainty) {
    const auto& words = statement.words;
    const std::string_view name = words.front().text;
    const bool sure = certainty.sure && !certainty.doubtful;
    if (name == "set") {
      set_arguments(statement, certainty);
    } else if (name == "shift") {
      const auto many = words_of_statement(statement, 1);
      variables_.shift(!sure ? "" : many.empty() ? "1" : many.front().text);
    } else if (name == "unset") {
      for (std::size_t i = 1; i < words.size(); ++i)
        if (assigned_at(words[i].text + "=") != std::string_view::npos) {
          if (sure)
            variables_.assign(words[i].text, {});
          else
            variables_.doubt(words[i].text, doubt_of(words[i].text, words[i].at, certainty.why));
        }
    } else if (name == "for" && words.size() > 1) {
      if (assigned_at(words[1].text + "=") != std::string_view::npos)
        variables_.doubt(words[1].text, words[1].text + " changes in the loop in line " +
                                            std::to_string(words[1].at.line) +
                                            ", of which one turn is a job");
    } else if (name == "let" || name.starts_with("((")) {
      for (std::size_t i = name == "let" ? 1 : 0; i < words.size(); ++i)
        calculate(words[i], certainty);
    } else {
      return false;
    }
    return true;
  }

  // "set -- A B" and "set A B" give the script or function other arguments.
  void set_arguments(const Statement& statement, const Certainty& certainty) {
    const auto& words = statement.words;
    std::size_t first = 1;
    while (first < words.size() && words[first].text != "--" &&
           (words[first].text.starts_with('-') || words[first].text.starts_with('+') ||
            words[first - 1].text.ends_with('o')))  // set -o pipefail
      ++first;
    if (first == words.size()) return;
    if (words[first].text == "--") ++first;
    if (certainty.sure && !certainty.doubtful)
      variables_.set_arguments(words_of_statement(statement, first));
    else
      variables_.doubt_arguments(doubt_of("$@", words.front().at, certainty.why));
  }

  // Assigns what "let X=2*Y" and "((X += 2))" do.
  void calculate(const RawWord& word, const Certainty& certainty) {
    const auto one = arithmetic_assignment(word.text);
    if (one.name.empty()) return;
    if (!certainty.sure || certainty.doubtful)
      return variables_.doubt(one.name, doubt_of(one.name, word.at, certainty.why));
    variables_.assign(one.name, variables_.value_of("\"$((" + one.value + "))\"", word.at));
  }

  // Runs the commands that an eval makes of its words, whose redirections go.
  void evaluate(const Statement& statement, const Certainty& certainty, int depth) {
    std::string line;
    for (const auto& value : words_of_statement(statement, 1, true)) line += value.text + ' ';
    ++evaluated_;
    Conditions conditions;
    for (auto& inner : statements_of(line)) {
      for (auto& word : inner.words) word.at = statement.words.front().at;
      run_where(conditions, inner, certainty, depth);
    }
    --evaluated_;
  }

  void assign(const Statement& statement, std::size_t i, bool sure, const std::string& why) {
    const auto& word = statement.words[i];
    const auto value_at = assigned_at(word.text);
    const bool adds = word.text[value_at - 2] == '+';
    const auto name = word.text.substr(0, value_at - (adds ? 2 : 1));
    auto value = statement.array ? words_of_statement(statement, 1, true)
                                 : whole_value(word.text.substr(value_at), word.at);
    const bool alone = adds || !variables_.knows(name) || variables_.text_of(name) == "";
    if (!sure && !(alone && is_harmless(split(name, value)))) {
      variables_.doubt(name, doubt_of(name, word.at, why));
      return;
    }
    if (adds)
      variables_.append(name, value);
    else
      variables_.assign(name, value);
    if (auto words = split(name, value); known_among(words, table_) > 0)
      lists_.push_back(std::move(words));
  }

  // Returns the doubt about a variable that is set under a condition. `why`: the reason why the
  // condition is not known, with advice; empty: the reason is no variable's value.
  static std::string doubt_of(const std::string& name, const Place& at, const std::string& why) {
    const auto line = std::to_string(at.line);
    if (why.empty())
      return name + " is set under a condition in line " + line + ", which needs a shell";
    const auto advice_at = std::min(why.find("; add --env"), why.size());
    return name + " is set in line " + line + " under a condition that is not known (" +
           why.substr(0, advice_at) + ")" + why.substr(advice_at);
  }

  // Makes variables empty that get a value only in a branch that is not run.
  void leave_empty(const Statement& statement) {
    for (const auto& word : statement.words) {
      const auto value_at = assigned_at(word.text);
      if (value_at == std::string_view::npos) return;
      auto name = word.text.substr(0, value_at - 1);
      if (name.ends_with('+')) name.pop_back();
      if (!variables_.knows(name)) variables_.assign(name, {});
      if (statement.array) return;
    }
  }

  // Assigns the values of ": ${NAME:=value}" to names that have none.
  void assign_defaults(const Statement& statement) {
    for (const auto& [raw, at] : statement.words)
      if (const auto name = defaulted_variable(raw); !name.empty())
        variables_.assign(name, variables_.value_of(raw, at));
  }

  // Whether the words are only arguments without effect, so that it does not matter whether they
  // are given.
  bool is_harmless(std::span<const ShellWord> words) const {
    const auto arguments = arguments_from(words, table_);
    return !arguments.empty() && begins_argument(words.front().text) &&
           std::ranges::all_of(arguments, [&](const JobArgument& one) {
             const auto* known = table_.find(one.name);
             return known != nullptr && known->effect == Effect::none;
           });
  }

  // Returns the value of an assignment, which is not split into words.
  std::vector<ShellWord> whole_value(const std::string& raw, const Place& at) const {
    std::string quoted = raw;
    if (raw.find('"') == raw.npos && raw.find('\'') == raw.npos) quoted = '"' + raw + '"';
    auto words = variables_.value_of(quoted, at);
    if (words.empty()) words.push_back({{}, {}, at});
    return words;
  }

  static std::vector<ShellWord> split(const std::string& name,
                                      const std::vector<ShellWord>& words) {
    ShellVariables variables({});
    variables.assign(name, words);
    return variables.expanded("$" + name, words.empty() ? Place{} : words.front().at);
  }

  std::vector<ShellWord> all_lists() const {
    std::vector<ShellWord> all;
    for (const auto& list : lists_) all.insert(all.end(), list.begin(), list.end());
    return all;
  }

  std::string_view text_;
  const ArgumentTable& table_;
  const JobFiles& files_;
  ShellVariables variables_;
  std::vector<JobArgument> sourced_;  // files that are not beside the script
  std::map<std::string, std::string, std::less<>> written_;
  std::vector<JobArgument> batch_;  // options of #SBATCH
  ScriptCommands commands_;
  ShellFunctions functions_;
  bool ended_ = false, exited_ = false;        // nothing more runs; of the whole script
  int loops_ = 0;                              // around the statement, whose turns are run
  int calls_ = 0;                              // of functions, around the statement that runs
  std::int64_t steps_ = 0;                     // statements that ran
  int evaluated_ = 0;                          // evals around the statement that runs
  std::vector<std::vector<ShellWord>> lists_;  // of variables that hold arguments
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
