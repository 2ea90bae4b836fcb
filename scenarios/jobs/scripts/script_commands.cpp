// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/scripts/script_commands.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/launched_program.hpp"
#include "scenarios/shell/absent.hpp"
#include "scenarios/shell/folder.hpp"
#include "scenarios/shell/statements.hpp"

namespace scenarios {
namespace {

// Whether the words are a launcher with a program, Python with a script, or values of variables
// before a program.
bool starts_program(std::span<const ShellWord> words) {
  if (words.empty()) return false;
  const bool sets = assigned_at(words.front().text) != std::string_view::npos;
  return sets || program_in(words) < words.size() || own_program_in(words) < words.size() ||
         launched_command(words).launched;
}

// Whether the words give variables their values that the script of a framework behind them reads.
bool sets_framework_script(std::span<const ShellWord> words) {
  return !words.empty() && assigned_at(words.front().text) != std::string_view::npos &&
         !variables_of_script(words).empty();
}

// The places of the program that the words start, and of its first argument.
struct StartedProgram {
  std::size_t at, arguments;
};

// Finds them; both are the number of words where there is no program. The last word behind a
// launcher, if only a shell can tell it, may hold the program and its arguments: it is both.
StartedProgram started_program(std::span<const ShellWord> words) {
  if (sets_framework_script(words)) return {words.size(), words.size()};
  const auto program = std::min(own_program_in(words), program_in(words));
  if (program < words.size()) return {program, program + 1};
  const auto command = launched_command(words);
  if (!command.launched || command.rest == 0 || command.rest >= words.size())
    return {program, program};
  const auto& [text, trouble, at] = words[command.rest];
  if (command.rest + 1 == words.size() && !trouble.empty()) return {command.rest, command.rest};
  return begins_argument(text) ? StartedProgram{program, program}
                               : StartedProgram{command.rest, command.rest + 1};
}

// Returns the words in front of a command that give variables their values.
std::vector<ShellWord> values_in_front(std::span<const ShellWord> words) {
  const auto end = std::ranges::find_if(words, [](const ShellWord& word) {
    return assigned_at(word.text) == std::string_view::npos;
  });
  return {words.begin(), end};
}

bool prints(std::span<const ShellWord> words) {
  return !words.empty() && (words.front().text == "echo" || words.front().text == "printf");
}

// Whether only a shell can tell which arguments the words pass to the program that they start, and
// none of the table is among the others.
bool hides_arguments(std::span<const ShellWord> words, const ArgumentTable& table) {
  const auto [program, begin] = started_program(words);
  const bool named = program < words.size() && (program_in(words) == program || begin == program);
  if (!named || prints(words) || known_among(words, table) > 0) return false;
  return std::ranges::any_of(
      arguments_from(words.subspan(begin), table), [](const JobArgument& argument) {
        return argument.name.empty() && !argument.values.front().trouble.empty();
      });
}

// The first words of a command.
std::string words_shown(const std::vector<ShellWord>& words) {
  constexpr std::size_t few = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(few, words.size()); ++i)
    text += (i > 0 ? " " : "") + words[i].text;
  return words.size() > few ? text + " …" : text;
}

bool same_words(std::span<const ShellWord> one, std::span<const ShellWord> other) {
  return std::ranges::equal(one, other, {}, &ShellWord::text, &ShellWord::text);
}

// The program and its arguments, which processes of one job have in common.
std::span<const ShellWord> from_program(std::span<const ShellWord> words) {
  return words.subspan(std::min(own_program_in(words), program_in(words)));
}

// Takes variables out that have a value only where the script is given an argument, as a shell
// does, which leaves out words without text. That of an argument which takes a value stays: the
// program would not start without.
std::vector<ShellWord> without_left_empty(std::vector<ShellWord> words,
                                          const ArgumentTable& table) {
  std::vector<ShellWord> kept;
  for (auto& word : words) {
    if (is_left_empty(word.trouble)) {
      const auto before = kept.empty() ? std::string_view() : kept.back().text;
      const auto* known = table.find(before);
      const bool value = word.text.empty()
                             ? begins_argument(before) && before.find('=') == before.npos &&
                                   (known == nullptr || known->takes != '0')
                             : word.text.ends_with('=');
      if (!value && word.text.empty()) continue;
      if (!value) word.trouble.clear();
    }
    kept.push_back(std::move(word));
  }
  return kept;
}

}  // namespace

void BatchOptions::add(std::vector<JobArgument> options) {
  std::ranges::move(options, std::back_inserter(options_));
}

void BatchOptions::add_words(const std::vector<ShellWord>& words, ShellVariables& variables) {
  add(launched_command(words, "slurm").options);
  for (const auto& one : slurm_variables(options_)) {
    const auto equals = one.find('=');
    variables.assign(one.substr(0, equals), {{one.substr(equals + 1), {}, {}}});
    variables.mark_exported(one.substr(0, equals));
  }
}

void BatchOptions::add_lines(std::string_view text, std::int64_t lines, ShellVariables& variables) {
  std::vector<ShellWord> words;
  for (auto word : batch_options(text)) {
    word.at.line += lines;
    for (auto& one : variables.expanded(word.text, word.at)) words.push_back(std::move(one));
  }
  add_words(words, variables);
}

// Returns the number of arguments of the table that a command has. A list of which only a shell can
// tell what it holds counts as one.
std::size_t ScriptCommands::known(std::span<const ShellWord> words) const {
  const bool own = own_program_in(words) < words.size() || sets_framework_script(words);
  const auto found = known_among(words, table_) + (own ? 1 : 0);
  return found == 0 && hides_arguments(words, table_) ? 1 : found;
}

// Compares a command with the best so far, where exactly one of both hides the arguments of its
// program and exactly one is launched: the launched one trains. Returns whether that is the
// command, or nothing where this does not decide.
std::optional<bool> ScriptCommands::is_launched_alone(const std::vector<ShellWord>& words) const {
  const auto hides = [&](const std::vector<ShellWord>& some) {
    return program_in(some) < some.size() && hides_arguments(some, table_);
  };
  if (best_.empty() || hides(words) == hides(best_)) return {};
  const bool launched = launched_command(words).launched;
  if (launched == launched_command(best_).launched) return {};
  return launched;
}

namespace {

// Variables of Transformer Engine, by which it chooses kernels of attention, and those that set up
// PyTorch's allocator.
constexpr std::array<std::string_view, 6> engine_variables{
    "NVTE_FLASH_ATTN",         "NVTE_FUSED_ATTN",
    "NVTE_UNFUSED_ATTN",       "NVTE_ALLOW_NONDETERMINISTIC_ALGO",
    "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};

// Variables that torchrun reads itself.
constexpr std::array<std::pair<const char*, const char*>, 2> of_torchrun{
    {{"PET_NNODES", "torchrun.nnodes"}, {"PET_NPROC_PER_NODE", "torchrun.nproc_per_node"}}};

// Returns the word "NAME=value" of a variable that programs see; nothing: they see none of it.
std::optional<ShellWord> seen_variable(const std::string& name, const ShellVariables& variables,
                                       const Place& at) {
  const bool by_env = !variables.knows(name) && variables.text_of(name);
  if (!by_env && !variables.values().exported.contains(name)) return {};
  std::string text, trouble;
  for (const auto& word : variables.expanded("\"$" + name + "\"", at)) {
    text += word.text;
    if (trouble.empty()) trouble = word.trouble;
  }
  return ShellWord{name + "=" + text, std::move(trouble), at};
}

bool is_set_in(std::span<const ShellWord> words, const std::string& name) {
  return std::ranges::any_of(
      words, [&](const ShellWord& word) { return word.text.starts_with(name + "="); });
}

// Puts the variables that the script of a framework reads in front of the words that start it, as
// they could stand there.
std::vector<ShellWord> with_variables(std::vector<ShellWord> words,
                                      const ShellVariables& variables) {
  std::vector<ShellWord> all;
  for (const auto name : variables_of_script(words)) {
    if (prints(words) || is_set_in(words, std::string(name))) continue;
    if (auto word = seen_variable(std::string(name), variables, words.front().at))
      all.push_back(std::move(*word));
  }
  std::ranges::move(words, std::back_inserter(all));
  return all;
}

}  // namespace

// A command that is only shown gives way to one that runs: a script may show what it will run.
bool ScriptCommands::is_better(const std::vector<ShellWord>& words, bool printed) const {
  const bool gives_way = best_printed_ && !printed;
  if (any_program_)
    return starts_program(words) &&
           (gives_way || best_.empty() || !launched_command(best_).launched);
  const auto found = known(words);
  if (gives_way) return found > 0;
  if (printed && !best_printed_ && best_known_ > 0) return false;
  if (found > 0)
    if (const auto alone = is_launched_alone(words)) return *alone;
  return found > best_known_;
}

// Whether the command may be the training one: it is launched, or has some arguments.
bool ScriptCommands::trains(const std::vector<ShellWord>& words) const {
  constexpr std::size_t some = 3;
  if (words.empty() || prints(words)) return false;
  return any_program_ ? launched_command(words).launched && program_in(words) < words.size()
                      : starts_program(words) && known(words) >= some;
}

void ScriptCommands::consider(std::vector<ShellWord> words, const std::vector<ShellWord>& before,
                              const Certainty& certainty, const ShellVariables& variables) {
  constexpr std::size_t most = 16;
  words = with_variables(without_left_empty(std::move(words), table_), variables);
  const auto folder = other_folder(variables);
  if (!folder)
    for (auto& word : words) word.text = unrooted(std::move(word.text));
  if (!words.empty() && begins_argument(words.front().text)) {
    if (fallen_.size() < most) fallen_.push_back(std::move(words));
    return;
  }
  const bool printed = prints(words) || prints(before);
  if (!is_better(words, printed)) {
    if (!printed && others_.size() < most && trains(words))
      others_.push_back({std::move(words), certainty});
    return;
  }
  if (!best_printed_ && others_.size() < most && trains(best_))
    others_.push_back({std::move(best_), best_runs_});
  best_ = std::move(words);
  before_ = before;
  best_runs_ = certainty;
  best_known_ = known(best_);
  best_printed_ = printed;
  best_batch_ = batch_.get();
  folder_ = folder;
  engine_.clear();
  for (const auto name : engine_variables)
    if (auto word = seen_variable(std::string(name), variables, best_.front().at))
      engine_.push_back(std::move(*word));
  read_.clear();
  for (const auto* name : {"NPROC_PER_NODE", "NNODES", "CUDA_VISIBLE_DEVICES", "USE_MCA"})
    if (variables.knows(name) || variables.text_of(name)) read_[name] = variables.text_of(name);
  for (const auto& [name, option] : of_torchrun)
    if (const auto word = seen_variable(name, variables, best_.front().at);
        word && word->trouble.empty())
      read_[name] = word->text.substr(word->text.find('=') + 1);
}

std::span<const ShellWord> ScriptCommands::behind_program() const {
  return std::span<const ShellWord>(best_).subspan(std::min(arguments_at_, best_.size()));
}

void ScriptCommands::write(FrameworkJob& job) {
  add_others(job);
  const auto launching = words_before_program(job.program);
  add_torchrun_variables(launching, job);
  for (const auto& part : {before_, exported(launching), launching, for_launcher(job)})
    for (auto& option : launched_command(part).options) job.launcher.push_back(std::move(option));
  auto arguments = arguments_from(std::span(best_).subspan(arguments_at_), table_);
  std::ranges::move(arguments, std::back_inserter(job.arguments));
  add_fallen(job);
  add_engine_variables(launching, job);
  // Primus starts torchrun on every node of Slurm's (primus-cli slurm, from memory).
  const std::string_view slurm_nodes = "slurm.nodes";
  if (job.program != "primus-cli") return;
  for (auto& option : job.launcher)
    if (option.name == slurm_nodes) {
      option.text = written(option);
      option.name = "torchrun.nnodes";
    }
}

// Adds the variables by which Transformer Engine chooses kernels as arguments that the table has.
void ScriptCommands::add_engine_variables(std::span<const ShellWord> before,
                                          FrameworkJob& job) const {
  auto words = engine_;
  words.insert(words.end(), before.begin(), before.end());
  for (const auto& word : words) {
    const auto equals = std::min(word.text.find('='), word.text.size());
    const auto name = word.text.substr(0, equals);
    const auto argument = "ENV_VARS." + name;
    if (std::ranges::find(engine_variables, name) == engine_variables.end() ||
        table_.get().find(argument) == nullptr || equals == word.text.size())
      continue;
    job.arguments.push_back(
        {argument, {{word.text.substr(equals + 1), word.trouble, word.at}}, word.at, word.text});
  }
}

// Adds the variables that torchrun reads as options below its own, where it starts the program and
// the script exports them.
void ScriptCommands::add_torchrun_variables(std::span<const ShellWord> launching,
                                            FrameworkJob& job) const {
  const bool starts = std::ranges::any_of(launching, [](const ShellWord& word) {
    return word.text.ends_with("torchrun") || word.text.ends_with("torch.distributed.run");
  });
  for (const auto& [name, option] : of_torchrun) {
    const auto found = read_.find(std::string_view(name));
    if (!starts || found == read_.end() || !found->second || is_set_in(launching, name)) continue;
    const auto& place = best_.front().at;
    job.launcher.push_back(
        {option, {{*found->second, {}, place}}, place, std::string(name) + "=" + *found->second});
  }
}

// Adds the statements behind the command that begin with an argument: lines of it that fell out.
void ScriptCommands::add_fallen(FrameworkJob& job) const {
  for (const auto& words : fallen_) {
    const auto& at = words.front().at;
    if (best_.empty() || at.line <= best_.front().at.line) continue;
    JobArgument argument{words.front().text, {}, at, words_shown(words)};
    argument.stray = true;
    job.arguments.push_back(std::move(argument));
  }
}

// Where only a shell can tell which of several commands runs, says so; of several that run, names
// those that are not read.
void ScriptCommands::add_others(FrameworkJob& job) const {
  for (const auto& other : others_) {
    if (same_words(other.words, best_)) continue;
    const auto& at = other.words.front().at;
    if (!best_runs_.doubtful) {
      if (!other.certainty.doubtful && !same_words(from_program(other.words), from_program(best_)))
        job.launcher.push_back({"other_run", {}, at, "another run: " + words_shown(other.words)});
      continue;
    }
    const auto& why = best_runs_.why;
    const auto advice_at = std::min(why.find("; add --env"), why.size());
    const auto lines = std::to_string(best_.front().at.line) + " and " + std::to_string(at.line);
    auto trouble = "lines " + lines + " both start a training, and a condition that is not known";
    trouble += why.empty() ? ", which needs a shell, decides between them"
                           : " (" + why.substr(0, advice_at) + ") decides between them";
    trouble += why.substr(advice_at);
    const auto& place = best_.front().at;
    job.arguments.push_back({{}, {ShellWord{{}, std::move(trouble), place}}, place});
    return;
  }
}

// Returns the words before the program, and sets its name.
std::vector<ShellWord> ScriptCommands::words_before_program(std::string& name) {
  const auto [program, arguments] = started_program(best_);
  const bool module = program > 0 && program < best_.size() && best_[program - 1].text == "-m";
  if (program == best_.size()) return values_in_front(best_);
  arguments_at_ = arguments;
  const auto& path = best_[program].text;
  name = path.substr(path.rfind('/') + 1);
  const auto before = std::span(best_).first(program - (module ? 1 : 0));
  return {before.begin(), before.end()};
}

// Returns the script's variables that a program reads which starts its processes itself, unless
// they are set in front of it.
std::vector<ShellWord> ScriptCommands::exported(std::span<const ShellWord> before) const {
  std::vector<ShellWord> words;
  if (own_program_in(best_) == best_.size()) return words;
  const auto in_front = [&](const std::string& name) {
    const auto found = std::ranges::find_if(
        before, [&](const ShellWord& word) { return word.text.starts_with(name + "="); });
    return found == before.end() ? std::nullopt
                                 : std::optional(found->text.substr(name.size() + 1));
  };
  const auto& place = best_.front().at;
  const auto read = [&](const std::string& name) {
    const auto found = read_.find(name);
    return found == read_.end() ? std::nullopt : found->second;
  };
  for (const std::string name : {"NPROC_PER_NODE", "NNODES", "USE_MCA"}) {
    const auto value = read(name);
    if (value && !in_front(name)) words.push_back({name + "=" + *value, {}, place});
  }
  // LLaMA-Factory starts a process for each GPU that it sees.
  const auto& program = best_[own_program_in(best_)].text;
  const std::string counted = "NPROC_PER_NODE", seen = "CUDA_VISIBLE_DEVICES";
  const auto ids = in_front(seen) ? in_front(seen) : read(seen);
  if (program.ends_with("llamafactory-cli") && ids && !ids->empty() && !in_front(counted) &&
      !read_.contains(counted)) {
    const auto gpus = 1 + std::ranges::count(*ids, ',');
    words.push_back({counted + "=" + std::to_string(gpus), {}, place});
  }
  return words;
}

// Returns the words of Slurm behind "primus-cli slurm", up to the hyphens. Otherwise it takes the
// launcher out of the arguments of "axolotl train a.yaml --launcher torchrun --
// --nproc_per_node 8": its name and, behind the hyphens, its options. Without a name it is
// accelerate.
std::vector<ShellWord> ScriptCommands::for_launcher(FrameworkJob& job) {
  if (job.program.compare("primus-cli") == 0) {
    auto words = std::span<const ShellWord>(best_).subspan(arguments_at_);
    words = words.first(
        static_cast<std::size_t>(std::ranges::find(words, "--", &ShellWord::text) - words.begin()));
    if (words.empty() || words.front().text != "slurm") return {};
    std::vector<ShellWord> start(words.begin(), words.end());
    start.front().text = "srun";  // unless another is named
    return start;
  }
  if (std::string_view(job.program) != "axolotl") return {};
  constexpr std::string_view option = "--launcher";
  const auto begin = best_.begin() + static_cast<std::ptrdiff_t>(arguments_at_);
  const auto end = std::ranges::find(begin, best_.end(), "--", &ShellWord::text);
  std::vector<ShellWord> words(end, best_.end());
  best_.erase(end, best_.end());
  if (!words.empty()) words.front().text = "accelerate";
  const auto named =
      std::find_if(best_.begin() + static_cast<std::ptrdiff_t>(arguments_at_), best_.end(),
                   [&](const ShellWord& word) {
                     return word.text == option || word.text.starts_with(std::string(option) + "=");
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

}  // namespace scenarios
