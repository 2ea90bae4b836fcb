// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/shell_script.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/argument_list.hpp"
#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/launched_program.hpp"
#include "scenarios/shell/conditions.hpp"
#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

class Script {
 public:
  Script(std::string_view text, const ArgumentTable& table, std::span<const std::string> env,
         const JobFiles& files, bool any_program = false)
      : text_(text), table_(table), files_(files), variables_(env), any_program_(any_program) {}

  bool starts() const { return !best_.empty(); }
  std::span<const ShellWord> behind_program() const {
    return std::span<const ShellWord>(best_).subspan(std::min(arguments_at_, best_.size()));
  }

  FrameworkJob read() {
    FrameworkJob job;
    run_all(text_, 0);
    job.launcher = std::move(batch_);
    std::ranges::move(sourced_, std::back_inserter(job.launcher));
    job.written = std::move(written_);
    if (best_.empty()) best_ = all_lists();
    const auto launching = words_before_program(job.program);
    for (const auto& part : {before_, exported(launching), launching, for_launcher(job)})
      for (auto& option : launched_command(part).options) job.launcher.push_back(std::move(option));
    job.arguments = arguments_from(std::span(best_).subspan(arguments_at_), table_);
    if (variables_.exhausted()) job.arguments.push_back({{}, variables_.expanded("", {}), {}});
    return job;
  }

 private:
  static constexpr int deepest = 3;  // texts inside of each other whose commands are run

  // Whether statements run exactly once, and the reason if a condition that is not known decides.
  struct Certainty {
    bool sure = true, doubtful = false;
    std::string why{};
  };
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
    const Certainty around = sourced == nullptr ? Certainty{} : sourced->runs;
    Conditions conditions;
    for (auto& statement : statements_of(text)) {
      for (auto& word : statement.words) {
        word.at.line += lines;
        if (sourced != nullptr) word.at = sourced->at;
      }
      statement.document.at.line += lines;
      variables_.count_arguments(own_arguments_ && statement.sure);
      if (!run_where(conditions, statement, around.sure, around.doubtful, around.why)) continue;
      if (statement.words.front().text == "set" && statement.words.size() > 1 &&
          statement.words[1].text.starts_with("--"))
        own_arguments_ = false;
      if (sourced_by(statement) != nullptr) {
        const bool runs = conditions.runs().value_or(false);
        run_sourced(statement,
                    {around.sure && statement.sure && runs, around.doubtful || !runs,
                     runs ? around.why : conditions.why()},
                    depth);
      }
      if (depth >= deepest) continue;
      add_written(statement);
      if (!reads_commands(statement)) continue;
      add_batch_command(statement);
      for (const auto& one : variables_.value_of(statement.document.text, statement.document.at))
        run_all(one.text, statement.document.at.line - 1, depth + 1);
    }
  }

  // Runs a statement where the conditions before it say so; returns whether it may run. `sure`,
  // `doubtful` and `why` say whether all of them run, as for run().
  bool run_where(Conditions& conditions, const Statement& statement, bool sure, bool doubtful,
                 const std::string& why) {
    conditions.enter(statement, variables_);
    if (statement.branch) return false;
    const auto runs = conditions.runs();
    if (runs == false) {
      leave_empty(statement);
      return false;
    }
    run(statement, sure && statement.sure && runs, doubtful || !runs,
        runs ? why : conditions.why());
    return true;
  }

  // Returns the word that names the file in "source FILE" or ". FILE"; null: another command.
  static const RawWord* sourced_by(const Statement& statement) {
    const auto& words = statement.words;
    const bool sources = words.size() > 1 && (words[0].text == "source" || words[0].text == ".");
    return sources ? &words[1] : nullptr;
  }

  // Runs a file beside the script; of another one, remembers that its variables are not known.
  void run_sourced(const Statement& statement, Certainty runs, int depth) {
    const auto& file = *sourced_by(statement);
    const auto name = variables_.expanded(file.text, file.at);
    const bool named = name.size() == 1 && name.front().trouble.empty();
    const bool reads = named && files_ && depth < deepest;
    const auto text = reads ? files_(name.front().text) : std::nullopt;
    if (!text) {
      sourced_.push_back({"source", name, file.at, "source " + file.text});
      return;
    }
    const Sourced sourced{file.at, std::move(runs)};
    const bool own = std::exchange(own_arguments_, own_arguments_ && statement.words.size() == 2);
    run_all(*text, 0, depth + 1, &sourced);
    own_arguments_ = own;
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

  // Returns the words before the program, and sets its name.
  std::vector<ShellWord> words_before_program(std::string& name) {
    auto program = std::min(own_program_in(best_), program_in(best_));
    const bool module = program > 0 && program < best_.size() && best_[program - 1].text == "-m";
    if (program == best_.size()) {
      const auto command = launched_command(best_);
      program = command.launched && command.rest < best_.size() &&
                        !begins_argument(best_[command.rest].text)
                    ? command.rest
                    : best_.size();
    }
    if (program == best_.size()) return {};
    arguments_at_ = program + 1;
    const auto& path = best_[program].text;
    name = path.substr(path.rfind('/') + 1);
    const auto before = std::span(best_).first(program - (module ? 1 : 0));
    return {before.begin(), before.end()};
  }

  // Returns the script's variables that a program reads which starts its processes itself, unless
  // they are set in front of it.
  std::vector<ShellWord> exported(std::span<const ShellWord> before) const {
    std::vector<ShellWord> words;
    if (own_program_in(best_) == best_.size()) return words;
    const auto in_front = [&](const std::string& name) {
      const auto found = std::ranges::find_if(
          before, [&](const ShellWord& word) { return word.text.starts_with(name + "="); });
      return found == before.end() ? std::nullopt
                                   : std::optional(found->text.substr(name.size() + 1));
    };
    const auto& place = best_.front().at;
    for (const std::string name : {"NPROC_PER_NODE", "NNODES"}) {
      const auto value = variables_.text_of(name);
      if (value && !in_front(name)) words.push_back({name + "=" + *value, {}, place});
    }
    // LLaMA-Factory starts a process for each GPU that it sees.
    const auto& program = best_[own_program_in(best_)].text;
    const std::string counted = "NPROC_PER_NODE", seen = "CUDA_VISIBLE_DEVICES";
    const auto ids = in_front(seen) ? in_front(seen) : variables_.text_of(seen);
    if (program.ends_with("llamafactory-cli") && ids && !ids->empty() && !in_front(counted) &&
        !variables_.knows(counted)) {
      const auto gpus = 1 + std::ranges::count(*ids, ',');
      words.push_back({counted + "=" + std::to_string(gpus), {}, place});
    }
    return words;
  }

  // Takes the launcher out of the arguments of "axolotl train a.yaml --launcher torchrun --
  // --nproc_per_node 8": its name and, behind the hyphens, its options. Without a name it is
  // accelerate.
  std::vector<ShellWord> for_launcher(FrameworkJob& job) {
    if (std::string_view(job.program) != "axolotl") return {};
    constexpr std::string_view option = "--launcher";
    const auto begin = best_.begin() + static_cast<std::ptrdiff_t>(arguments_at_);
    const auto end = std::ranges::find(begin, best_.end(), "--", &ShellWord::text);
    std::vector<ShellWord> words(end, best_.end());
    best_.erase(end, best_.end());
    if (!words.empty()) words.front().text = "accelerate";
    const auto named = std::find_if(best_.begin() + static_cast<std::ptrdiff_t>(arguments_at_),
                                    best_.end(), [&](const ShellWord& word) {
                                      return word.text == option ||
                                             word.text.starts_with(std::string(option) + "=");
                                    });
    if (named == best_.end()) return words;
    const auto equals = named->text.find('=');
    const auto behind = named + (equals == std::string::npos && named + 1 != best_.end() ? 2 : 1);
    const auto name =
        equals == std::string::npos ? (behind - 1)->text : named->text.substr(equals + 1);
    if (!words.empty()) words.front().text = name;
    job.launcher.push_back({"axolotl.launcher", {}, named->at, std::string(option) + " " + name});
    best_.erase(named, behind);
    return words;
  }

  // Whether the words are a launcher with a program, Python with a script, or values of variables
  // before a program.
  static bool starts_program(std::span<const ShellWord> words) {
    if (words.empty()) return false;
    const bool sets = assigned_at(words.front().text) != std::string_view::npos;
    return sets || program_in(words) < words.size() || own_program_in(words) < words.size() ||
           launched_command(words).launched;
  }

  static bool prints(std::span<const ShellWord> words) {
    return !words.empty() && (words.front().text == "echo" || words.front().text == "printf");
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
  void run_inside(const Statement& statement) {
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
        if (next) consider(std::exchange(command, {}), before);
        next = true;
        for (auto& word : inner.words) word.at = values[i].at;
        for (auto& one : words_of_statement(inner, 0)) command.push_back(std::move(one));
      }
    }
    consider(std::move(command), before);
  }

  void consider(std::vector<ShellWord> words, const std::vector<ShellWord>& before = {}) {
    const bool printed = prints(best_) && !prints(words);  // a script may show what it will run
    const bool launched =
        any_program_ && !printed && !best_.empty() && launched_command(best_).launched;
    const auto known = [&](std::span<const ShellWord> of) {
      return known_among(of, table_) + (own_program_in(of) < of.size() ? 1 : 0);
    };
    const bool better = any_program_ ? starts_program(words) && !launched
                                     : known(words) + (printed ? 1 : 0) > known(best_);
    if (!better) return;
    best_ = std::move(words);
    before_ = before;
  }

  // Runs a statement. `sure`: it runs exactly once. `doubtful`: a condition that is not known, with
  // the reason `why`, decides whether it runs.
  void run(const Statement& statement, bool sure, bool doubtful, const std::string& why) {
    const auto& words = statement.words;
    std::size_t first = 0;
    constexpr std::array<std::string_view, 5> declare{"export", "local", "readonly", "declare",
                                                      "typeset"};
    if (!statement.array && std::ranges::find(declare, words[0].text) != declare.end()) {
      ++first;
      while (first < words.size() && words[first].text.starts_with('-')) ++first;  // declare -r
    }
    if (words[0].text == ":") assign_defaults(statement);
    bool assigns = first < words.size();
    for (auto i = first; i < words.size() && !statement.array; ++i)
      assigns = assigns && assigned_at(words[i].text) != std::string_view::npos;
    if (statement.array || assigns) {
      for (auto i = first; i < (statement.array ? 1 : words.size()); ++i)
        assign(statement, i, statement.array ? !doubtful : sure, why);
      return;
    }
    if (words[0].text == "eval" && evaluated_ < deepest)
      return evaluate(statement, sure, doubtful, why);
    run_inside(statement);
    consider(words_of_statement(statement, 0));
  }

  // Runs the commands that an eval makes of its words, whose redirections go.
  void evaluate(const Statement& statement, bool sure, bool doubtful, const std::string& why) {
    std::string line;
    for (const auto& value : words_of_statement(statement, 1, true)) line += value.text + ' ';
    ++evaluated_;
    Conditions conditions;
    for (auto& inner : statements_of(line)) {
      for (auto& word : inner.words) word.at = statement.words.front().at;
      run_where(conditions, inner, sure, doubtful, why);
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
  std::vector<ShellWord> best_;     // of the command with most known arguments
  std::vector<ShellWord> before_;   // of the command that is given this one as a text
  std::size_t arguments_at_ = 0;    // of the best
  bool own_arguments_ = true;       // "$1" is the script's
  bool any_program_;                // the best is the first that is launched, or the last program
  int evaluated_ = 0;               // evals around the statement that runs
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
