// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/launch_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;  // of a word, of the table

constexpr std::array<NamePair, 18> launchers{{{"torchrun", "torchrun"},
                                              {"torch.distributed.run", "torchrun"},
                                              {"torch.distributed.launch", "torchrun"},
                                              {"deepspeed", "deepspeed"},
                                              {"deepspeed.launcher.runner", "deepspeed"},
                                              {"accelerate", "accelerate"},
                                              {"accelerate-launch", "accelerate"},
                                              {"accelerate.commands.launch", "accelerate"},
                                              {"srun", "slurm"},
                                              {"sbatch", "slurm"},
                                              {"salloc", "slurm"},
                                              {"mpirun", "mpirun"},
                                              {"mpiexec", "mpirun"},
                                              {"mpiexec.hydra", "mpirun"},
                                              {"orterun", "mpirun"},
                                              {"prun", "mpirun"},
                                              {"horovodrun", "mpirun"},
                                              {"deepspeed.launcher", "deepspeed"}}};

// Programs that start the rest of their command.
constexpr std::array<std::string_view, 22> others{
    "bash",      "sh",     "env",    "exec", "eval",    "nohup", "time", "numactl",
    "taskset",   "docker", "nsys",   "ncu",  "podman",  "sudo",  "pixi", "singularity",
    "apptainer", "uv",     "poetry", "ssh",  "timeout", "enroot"};

std::string_view launcher_of(std::string_view word) {
  word.remove_prefix(word.rfind('/') + 1);
  const auto* found =
      std::ranges::find(launchers, word, [](const auto& names) { return names.first; });
  return found == launchers.end() ? std::string_view() : found->second;
}

bool starts_others(std::string_view word) {
  word.remove_prefix(word.rfind('/') + 1);
  return word.starts_with("python") || std::ranges::find(others, word) != others.end();
}

// Returns "ntasks_per_node" for "--ntasks-per-node".
std::string option_name(std::string_view word) {
  std::string name(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  std::ranges::replace(name, '-', '_');
  return name;
}

// Finds the option of a launcher by its name, or by a beginning of it that no other option has, as
// argparse and getopt_long do for long options. Null: unknown, or several begin so.
const KnownArgument* option_of(const JobArgument& option, std::string_view launcher, bool is_long) {
  const auto& table = arguments_of("launchers");
  const auto* known = table.find(option.name);
  constexpr std::array<std::string_view, 3> shorten{"torchrun", "deepspeed", "slurm"};
  if (known != nullptr || !is_long || std::ranges::find(shorten, launcher) == shorten.end())
    return known;
  const auto all = table.beginning(option.name);
  return all.size() == 1 ? all.front() : nullptr;
}

constexpr std::string_view hidden = ".?";  // the end of the name of an option that hides others

class LaunchWords {
 public:
  LaunchWords(std::span<const ShellWord> words, std::string_view within)
      : words_(words),
        within_(within.empty() ? "other" : within),
        primus_(std::ranges::any_of(
            words, [](const ShellWord& word) { return word.text.starts_with("EXP="); })) {}

  LaunchedCommand read() {
    for (std::size_t i = 0; i < words_.size();) {
      const auto& text = words_[i].text;
      if (text == "--" || is_variable(words_[i])) {
        ++i;
      } else if (text.starts_with('-') && text.size() > 1) {
        i = option(i);
      } else if (const auto launcher = launcher_of(text); !launcher.empty()) {
        within_ = launcher;
        last_ = launcher;
        command_.launched = true;
        ++i;
        if (launcher == "accelerate" && i < words_.size() && words_[i].text == "launch") ++i;
        command_.rest = i;
        hidden_ = false;
      } else if (text.empty() && !words_[i].trouble.empty() && within_ != "other" &&
                 within_ != "variables") {
        hide(i++);
      } else {
        if (within_ != "other" && !starts_others(text)) {  // the program of this launcher
          if (!hidden_) command_.rest = i;
          break;
        }
        within_ = "other";
        ++i;
      }
    }
    count_variables();
    return std::move(command_);
  }

 private:
  // Whether the word sets a variable of a launch: "NPROC_PER_NODE=8" before a program that starts
  // torchrun itself, "CONFIG=llama3_8b" before torchtitan's, "USE_MCA=1" before LLaMA-Factory's,
  // "GPUS_PER_NODE=8" before the script of Primus that is given EXP (from memory).
  bool is_variable(const ShellWord& word) {
    constexpr std::string_view of_primus = "GPUS_PER_NODE=";
    constexpr std::array<std::string_view, 10> variables{
        "NPROC_PER_NODE=", "NGPU=",   "NNODES=",      "PET_NPROC_PER_NODE=",
        "PET_NNODES=",     "MODULE=", "CONFIG_FILE=", "CONFIG=",
        "USE_MCA=",        of_primus};
    if (command_.launched && within_ != "variables") return false;
    for (const auto name : variables)
      if (word.text.starts_with(name) && (name != of_primus || primus_)) {
        within_ = "variables";
        command_.launched = true;
        command_.options.push_back({"variables." + std::string(name.substr(0, name.size() - 1)),
                                    {{word.text.substr(name.size()), word.trouble, word.at}},
                                    word.at,
                                    word.text});
        return true;
      }
    return within_ == "variables" && assigned_at(word.text) != std::string_view::npos;
  }

  // Takes a word that may hold options, or the program, of which only a shell can tell.
  void hide(std::size_t i) {
    if (!hidden_) command_.rest = i;
    hidden_ = true;
    const auto launcher = std::string(within_);
    command_.options.push_back(
        {launcher + std::string(hidden), {words_[i]}, words_[i].at, "options of " + launcher});
  }

  // Counts variables as options of torchrun: PyTorch's own if the command starts torchrun, the
  // others if it starts a program that starts torchrun.
  void count_variables() {
    constexpr std::array<std::array<std::string_view, 3>, 6> meanings{
        {{"variables.NPROC_PER_NODE", "torchrun.nproc_per_node", ""},
         {"variables.GPUS_PER_NODE", "torchrun.nproc_per_node", ""},
         {"variables.NGPU", "torchrun.nproc_per_node", ""},
         {"variables.NNODES", "torchrun.nnodes", ""},
         {"variables.PET_NPROC_PER_NODE", "torchrun.nproc_per_node", "torchrun"},
         {"variables.PET_NNODES", "torchrun.nnodes", "torchrun"}}};
    const bool is_started = last_ == "torchrun" || last_ == "deepspeed" || last_ == "accelerate";
    for (auto& option : command_.options)
      for (const auto& [variable, meaning, reader] : meanings)
        if (option.name == variable && reader == (is_started ? last_ : "")) option.name = meaning;
  }

  // Reads the option at `i`; returns the index behind it and its values.
  std::size_t option(std::size_t i) {
    const auto& word = words_[i];
    const auto equals = word.text.find('=');
    const auto prefix = std::string(within_) + ".";
    const auto& table = arguments_of("launchers");
    JobArgument argument{prefix + option_name(word.text.substr(0, equals)), {}, word.at};
    argument.text = word.text;
    std::size_t end = i + 1;
    const auto* known = option_of(argument, within_, word.text.starts_with("--"));
    const bool single = word.text.size() > 2 && word.text[1] != '-' && equals == word.text.npos;
    if (equals != word.text.npos) {
      argument.values.push_back({word.text.substr(equals + 1), word.trouble, word.at});
    } else if (known == nullptr && single &&
               std::isalpha(static_cast<unsigned char>(word.text[1])) != 0 &&
               table.find(prefix + word.text[1]) != nullptr) {  // -N4
      argument.name = prefix + word.text[1];
      argument.values.push_back({word.text.substr(2), word.trouble, word.at});
    } else {
      for (auto left = values_of(known, end); left > 0 && end < words_.size(); --left)
        take(argument, end++);
    }
    if (known == nullptr) known = table.find(argument.name);
    if (known != nullptr && !known->repeats) argument.name = known->name;
    if (within_ != "other") command_.options.push_back(std::move(argument));
    return end;
  }

  void take(JobArgument& argument, std::size_t i) const {
    const auto& value = words_[i];
    argument.text += ' ' + (value.trouble.empty() ? value.text : "…");
    argument.values.push_back(value);
  }

  // Returns the number of the option's values from `i` on.
  std::size_t values_of(const KnownArgument* known, std::size_t i) const {
    if (known != nullptr && known->takes != '?')
      return static_cast<std::size_t>(known->takes - '0');
    const bool none = i >= words_.size() || words_[i].text.starts_with('-') ||
                      !launcher_of(words_[i].text).empty() || starts_others(words_[i].text);
    return none ? 0 : 1;
  }

  std::span<const ShellWord> words_;
  std::string_view within_;  // the launcher whose options these are
  std::string_view last_;    // the launcher next to the program
  bool primus_;              // EXP names Primus's job
  bool hidden_ = false;      // a word behind the launcher may hold the program
  LaunchedCommand command_;
};

const JobArgument* last(std::span<const JobArgument> options, std::string_view name) {
  const JobArgument* found = nullptr;
  for (const auto& option : options)
    if (option.name == name) found = &option;
  return found;
}

}  // namespace

LaunchedCommand launched_command(std::span<const ShellWord> words, std::string_view within) {
  return LaunchWords(words, within).read();
}

bool hides_options(const JobArgument& option) {
  return std::string_view(option.name).ends_with(hidden);
}

std::vector<std::string> slurm_variables(std::span<const JobArgument> options) {
  std::vector<std::string> variables;
  const auto add = [&](const char* name, std::optional<std::int64_t> number) {
    if (number) variables.push_back(std::string(name) + "=" + std::to_string(*number));
  };
  const auto number = [&](const char* name) -> std::optional<std::int64_t> {
    const auto* option = last(options, name);
    return option == nullptr ? std::nullopt : launched_number(*option);
  };
  const auto nodes = number("slurm.nodes"), tasks = number("slurm.ntasks_per_node");
  auto all = number("slurm.ntasks");
  if (!all && nodes && tasks) all = *nodes * *tasks;
  auto gpus = number("slurm.gpus_per_node");
  if (!gpus) gpus = number("slurm.gres");
  add("SLURM_NNODES", nodes);
  add("SLURM_JOB_NUM_NODES", nodes);
  add("SLURM_NTASKS_PER_NODE", tasks);
  add("SLURM_NTASKS", all);
  add("SLURM_NPROCS", all);
  add("SLURM_GPUS_PER_NODE", gpus);
  add("SLURM_GPUS_ON_NODE", gpus);
  return variables;
}

}  // namespace scenarios
