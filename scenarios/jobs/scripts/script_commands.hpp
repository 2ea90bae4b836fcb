// SPDX-License-Identifier: Apache-2.0
// Private to the room: the commands that a script runs, and the one of them that trains.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/jobs/job.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

// Whether statements run exactly once, and the reason if a condition that is not known decides.
// `chosen`: a condition, a list or a loop decides, known or not. `apart`: they run in a copy of the
// shell, which alone ends with them.
struct Certainty {
  bool sure = true, doubtful = false;
  std::string why{};
  bool chosen = false, apart = false;
};

// Options of Slurm that stand before a script's commands.
class BatchOptions {
 public:
  void add(std::vector<JobArgument> options);
  // Adds the words, and the variables that Slurm sets for them.
  void add_words(const std::vector<ShellWord>& words, ShellVariables& variables);
  // Adds the options of #SBATCH in a text that begins behind the first `lines` lines of the script.
  void add_lines(std::string_view text, std::int64_t lines, ShellVariables& variables);
  const std::vector<JobArgument>& all() const { return options_; }

 private:
  std::vector<JobArgument> options_;
};

class ScriptCommands {
 public:
  // The table's arguments tell the training command: it has most of them. `any_program`: it is the
  // first that is launched, or the last program. `batch`: Slurm's options of the commands that are
  // considered next.
  ScriptCommands(const ArgumentTable& table, bool any_program, const BatchOptions& batch)
      : table_(table), any_program_(any_program), batch_(batch) {}

  // Takes a command into account. `before`: the words of the command that is given it as a text.
  // `variables`: those that it may read.
  void consider(std::vector<ShellWord> words, const std::vector<ShellWord>& before,
                const Certainty& certainty, const ShellVariables& variables);
  bool none() const { return best_.empty(); }
  // Whether others may be the training command, too.
  bool has_others() const { return !others_.empty(); }
  void take(std::vector<ShellWord> words) { best_ = std::move(words); }

  // Sets the job's program, launcher and arguments.
  void write(FrameworkJob& job);
  std::span<const ShellWord> behind_program() const;
  // Slurm's options of the training command; without one those of the script's end.
  const std::vector<JobArgument>& batch_options() const {
    return best_batch_ ? best_batch_->all() : batch_.get().all();
  }
  // The folder that the training command runs in; nothing: the script's own.
  const std::optional<ShellWord>& folder() const { return folder_; }

 private:
  // Another command that trains.
  struct Other {
    std::vector<ShellWord> words;
    Certainty certainty;
  };

  std::size_t known(std::span<const ShellWord> words) const;
  std::optional<bool> is_launched_alone(const std::vector<ShellWord>& words) const;
  bool is_better(const std::vector<ShellWord>& words, bool printed) const;
  bool trains(const std::vector<ShellWord>& words) const;
  std::vector<ShellWord> words_before_program(std::string& name);
  std::vector<ShellWord> exported(std::span<const ShellWord> before) const;
  std::vector<ShellWord> for_launcher(FrameworkJob& job);
  void add_others(FrameworkJob& job) const;
  void add_fallen(FrameworkJob& job) const;
  void add_torchrun_variables(std::span<const ShellWord> launching, FrameworkJob& job) const;
  void add_engine_variables(std::span<const ShellWord> before, FrameworkJob& job) const;

  std::reference_wrapper<const ArgumentTable> table_;
  bool any_program_;
  std::reference_wrapper<const BatchOptions> batch_;
  std::optional<BatchOptions> best_batch_;
  std::vector<ShellWord> best_, before_;
  std::size_t best_known_ = 0;  // arguments of the best
  bool best_printed_ = false;   // it is only shown
  // Variables that a program reads which starts its processes itself, when the best is run; without
  // a text: only a shell can tell.
  std::map<std::string, std::optional<std::string>, std::less<>> read_;
  std::vector<ShellWord> engine_;  // variables of Transformer Engine that the best sees
  Certainty best_runs_;
  std::optional<ShellWord> folder_;
  std::vector<Other> others_;
  std::vector<std::vector<ShellWord>> fallen_;  // statements that begin with an argument
  std::size_t arguments_at_ = 0;                // of the best
};

}  // namespace scenarios
