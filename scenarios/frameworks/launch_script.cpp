// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/launch_script.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "scenarios/documents/edit.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/frameworks/looked.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "scenarios/frameworks/recipe_word.hpp"
#include "scenarios/frameworks/recognised.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/jobs/preferences.hpp"
#include "scenarios/jobs/scripts/shell_script.hpp"
#include "scenarios/jobs/trainer_launch.hpp"

namespace scenarios {
namespace {

struct NamedFile {
  std::string path;
  JobScenario scenario;
  Place at;  // where the command names it
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// Gives the files that GPT-NeoX's starter names their folder, "-d configs", and their ending, which
// may be left out (deepy.py, from memory). A file that lies beside the script instead is taken.
void find_neox_files(LaunchScript& launch, const JobFiles& files) {
  constexpr std::array<std::string_view, 2> options{"-d", "--conf_dir"};
  const auto is_option = [&](std::string_view word) {
    return std::ranges::find(options, word) != options.end();
  };
  std::erase_if(launch.job.arguments, [&](const JobArgument& one) { return is_option(one.name); });
  std::string folder;
  std::vector<ShellWord> words;
  for (std::size_t i = 0; i < launch.words.size(); ++i) {
    auto word = launch.words[i];
    if (is_option(word.text) && i + 1 < launch.words.size()) {
      folder = launch.words[++i].text + "/";
      continue;
    }
    if (!word.text.empty() && !word.text.starts_with('-') && !word.text.ends_with(".py")) {
      const auto name = word.text + (names_settings(word.text) ? "" : ".yml");
      const bool beside = files && !files(folder + name) && files(name);
      word.text = beside ? name : folder + name;
    }
    words.push_back(std::move(word));
  }
  launch.words = std::move(words);
}

std::optional<LaunchScript> launch_of(std::string_view text, const JobHints& hints,
                                      const JobFiles& files = {}) {
  auto launch = read_launch(text, hints.env, files);
  if (launch && std::string_view(launch->job.program) == "deepy.py")
    find_neox_files(*launch, files);
  return launch;
}

// Returns the words that name files of settings, the one with the command's arguments first.
std::vector<const ShellWord*> words_with_files(const LaunchScript& launch) {
  std::vector<const ShellWord*> named;
  const auto* recipe = recipe_word(launch.words);
  if (recipe != nullptr) named.push_back(recipe);
  for (const auto& word : launch.words)
    if (&word != recipe && word.trouble.empty() && names_settings(word.text))
      named.push_back(&word);
  return named;
}

// Returns the first file of the command that is a job, of the framework that is asked for if one
// is; `missing` becomes the first that does not exist. Throws the first Error if no file is a job.
std::optional<NamedFile> named_file(const LaunchScript& launch, const JobHints& hints,
                                    const JobFiles& files, const ReadText& read,
                                    std::string& missing) {
  std::optional<Error> wrong;
  for (const auto* word : words_with_files(launch)) {
    const auto path = path_in(word->text);
    const auto text = files ? files(path) : std::nullopt;
    if (!text) {
      if (missing.empty()) missing = path;
      continue;
    }
    if (read_launch(*text, hints.env)) continue;  // a script again, which could name this one
    const JobFiles beside = [&](const std::string& name) { return files(folder_of(path) + name); };
    try {
      if (auto made = read(*text, path, hints, beside))
        return NamedFile{path, std::move(*made), word->at};
    } catch (const Error& other) {
      if (hints.as.empty()) throw;
      if (!wrong) wrong = other;  // another file may be of the framework that is asked for
    }
  }
  if (wrong) throw Error(*wrong);
  return {};
}

// Returns the framework of the file that has the command's arguments, if the command's own count
// beside them; empty: it has none.
std::string_view framework_of_recipe(const LaunchScript& launch, const JobFiles& files) {
  const auto* word = recipe_word(launch.words);
  if (word == nullptr || !files) return {};
  const auto path = path_in(word->text);
  const auto text = files(path);
  if (!text) return {};
  const auto looked = looked_at(*text, path, files);
  if (looked.is_script()) return {};
  if (is_trainer_job(looked)) return "trainer";
  if (is_llamafactory_job(looked)) return "llamafactory";
  if (is_automodel_job(looked)) return "automodel";
  if (is_primus_job(looked)) return "primus";
  return is_axolotl_job(looked) ? "axolotl" : "";
}

void account_others(JobAccount& account, const LaunchScript& launch, const std::string& file,
                    const std::string& named) {
  for (const auto& argument : launch.job.arguments) {
    const bool names_it = std::ranges::any_of(
        argument.values, [&](const ShellWord& value) { return path_in(value.text) == named; });
    const std::string_view key = argument.name;
    if (key.empty() || key == "$@" || key == "$*" || names_it) continue;
    account.arguments.push_back(
        {written(argument),
         place_text(argument, file),
         Effect::not_modelled,
         {},
         "of the program that is given " + named + ", and not read beside it"});
  }
  const auto is_value = [&](const ShellWord& word) {
    return std::ranges::any_of(launch.job.arguments, [&](const JobArgument& argument) {
      return std::ranges::find(argument.values, word.text, &ShellWord::text) !=
             argument.values.end();
    });
  };
  for (const auto& word : launch.words)
    if (names_settings(word.text) && !word.text.starts_with('-') && path_in(word.text) != named &&
        !is_value(word))
      account.arguments.push_back({word.text,
                                   Complaints(file).text_of(word.at),
                                   Effect::not_modelled,
                                   {},
                                   "another file beside " + named + ", which is not read"});
}

JobScenario of_file(NamedFile named, const LaunchScript& launch, const std::string& file,
                    const std::optional<LaunchedGpus>& launched, const JobHints& hints) {
  const bool by_env = world_size_of(hints).has_value();
  auto& path = named.path;
  auto& scenario = named.scenario;
  // Complaints name the script, which does not have the lines of the file, so values get the place
  // of the file's name.
  stand_at(scenario.document, named.at);
  for (auto& one : scenario.wanted) {
    const bool stands = !(one.at == Place{});
    const auto of_file = stands ? Complaints(path).text_of(one.at) + ": " : std::string();
    one.text = of_file + one.text;
    one.at = named.at;
  }
  auto& comment = scenario.comments["cluster.gpus"];
  if (launched && !by_env && comment == "--env WORLD_SIZE") comment = launched->text;
  if (comment.empty()) scenario.comments.erase("cluster.gpus");
  JobAccount account;
  account.file = file;
  account_launcher(account, launch.job.launcher,
                   by_env ? std::string(world_words(hints)) : std::string());
  account_others(account, launch, file, path);
  const auto* cluster = scenario.document.find("cluster");
  const auto* gpus = cluster == nullptr ? nullptr : cluster->find("gpus");
  if (launched && !by_env && gpus != nullptr && gpus->text != std::to_string(launched->gpus))
    account.arguments.push_back({launched->text,
                                 Complaints(file).text_of(named.at),
                                 Effect::not_modelled,
                                 {},
                                 "this starts " + std::to_string(launched->gpus) +
                                     " processes, but " + path + " needs " + gpus->text +
                                     ", which are forecast"});
  auto& all = scenario.account.arguments;
  all.insert(all.begin(), account.arguments.begin(), account.arguments.end());
  return std::move(scenario);
}

// Returns the place of the command.
std::string place_of(const LaunchScript& launch, const std::string& file) {
  return Complaints(file).text_of(launch.words.empty() ? Place{1, 1, 0} : launch.words.front().at);
}

// Returns the file that "main.py training=gpt3/5b" of NeMo's launcher makes its job of (conf of its
// launcher_scripts, from memory); empty: another command.
std::string file_of_nemo_launcher(const LaunchScript& launch) {
  constexpr std::string_view key = "training=";
  if (launch.job.program.compare("main.py") != 0) return {};
  for (const auto& word : launch.words)
    if (word.text.starts_with(key) && word.text.find('/') != word.text.npos)
      return "conf/training/" + word.text.substr(key.size()) + ".yaml";
  return {};
}

[[noreturn]] void refuse(const LaunchScript& launch, std::string_view text, const std::string& file,
                         const std::string& missing) {
  const auto foreign = foreign_framework(text);
  const auto place = place_of(launch, file);
  const auto program = launch.job.program.empty() ? "its command" : launch.job.program;
  if (const auto made_of = file_of_nemo_launcher(launch); !made_of.empty())
    throw Error({{place, "NeMo's launcher makes the job of " + made_of +
                             "; give that file, with the values of this command by --set"}});
  if (!missing.empty() && foreign.empty())
    throw Error({{place, program + " is given " + missing +
                             ", which is not beside this file; what it trains stands there"}});
  // "torchrun --nproc_per_node 8 $ARGS": the program and all behind it may be in the variable.
  const auto hidden = std::ranges::find_if(
      launch.words, [](const ShellWord& word) { return !word.trouble.empty(); });
  if (launch.job.program.empty() && hidden != launch.words.end() && foreign.empty())
    throw Error({{Complaints(file).text_of(hidden->at),
                  "its command has no program that can be read: " + hidden->trouble}});
  throw Error({{place, (foreign.empty() ? program + " is no program of a framework that is known"
                                        : "it is " + std::string(foreign)) +
                           "; " + expected_jobs()}});
}

}  // namespace

bool names_job(std::string_view text, const JobHints& hints) {
  const auto launch = launch_of(text, hints);
  return launch && !words_with_files(*launch).empty();
}

void refuse_preferences(const LaunchScript& launch, const std::string& file) {
  // TRL's own command names the method first: "trl dpo".
  const bool trl = launch.job.program == "trl" && !launch.words.empty();
  const auto& program = trl ? launch.words.front().text : launch.job.program;
  if (const auto method = preference_method(program); !method.empty())
    throw Error({{place_of(launch, file), program + ": " + refusal_of_method(method), true}});
}

std::string_view foreign_framework(std::string_view text) {
  using Sign = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Sign, 27> signs{
      {{"verl.trainer.fsdp_sft_trainer", "fine-tuning with verl, which is not read"},
       {"openrlhf.cli.train_sft", "fine-tuning with OpenRLHF, which is not read"},
       {"metaseq", "a job of metaseq, which is not read"},
       {"verl.trainer", "reinforcement learning (verl): it generates, rewards and trains"},
       {"actor_rollout_ref", "reinforcement learning (verl): it generates, rewards and trains"},
       {"openrlhf", "reinforcement learning (OpenRLHF), which is not read"},
       {"torchtune.", "a job of torchtune, which is not read"},
       {"tune run", "a job of torchtune, which is not read"},
       {"mpt_causal_lm", "a job of LLM Foundry, which is not read"},
       {"llmfoundry", "a job of LLM Foundry, which is not read"},
       {"composer train", "a job of Composer, which is not read"},
       {"olmo_core", "a job of OLMo-core, which is not read"},
       {"device_train_microbatch_size", "a job of OLMo or Composer, which is not read"},
       {"litgpt", "a job of LitGPT, which is not read"},
       {"tokenizer_dir:", "a job of LitGPT, which is not read"},
       {"class_path:", "a job of Lightning, which is not read"},
       {"ici_fsdp_parallelism", "a job of MaxText, which is not read"},
       {"base_config: \"base.yml\"", "a job of MaxText, which is not read"},
       {"MaxText", "a job of MaxText, which is not read"},
       {"maxtext", "a job of MaxText, which is not read"},
       {"levanter", "a job of Levanter, which is not read"},
       {"dump_dir:", "a job of Meta Lingua, which is not read"},
       {"image: mosaicml/", "a run of MosaicML's mcli, which is not read"},
       {"colossalai", "a job of Colossal-AI, which is not read"},
       {"swift rlhf", "a step of preferences and rewards (ms-swift), which compares or generates"},
       {"megatron rlhf",
        "a step of preferences and rewards (ms-swift), which compares or generates"},
       {"swift infer", "inference (ms-swift), which is no training"}}};
  const auto* found = std::ranges::find_if(
      signs, [&](const Sign& sign) { return text.find(sign.first) != text.npos; });
  return found == signs.end() ? std::string_view() : found->second;
}

bool is_makefile(std::string_view text) {
  bool rule = false, commands = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    commands = commands || (rule && line.starts_with('\t'));
    const auto colon = line.find(':');
    rule = colon != line.npos && colon > 0 && line.find_first_of(" \t\"'$[{#") > colon &&
           line.substr(colon, 2) != ":=";
    begin = end + 1;
  }
  return commands && text.find("$(") != text.npos;
}

bool is_python(std::string_view text) {
  const auto first = text.substr(0, text.find('\n'));
  if (first.starts_with("#!") && (first.ends_with("sh") || first.find("sh ") != first.npos))
    return false;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_of("=$\"'-;") != line.npos) continue;  // "import" of a shell is a program
    if (line.starts_with("import ") ||
        (line.starts_with("from ") && line.find(" import ") != line.npos))
      return true;
  }
  return false;
}

std::string expected_jobs() {
  return "expected a scenario, or a job of " + listed(job_frameworks());
}

std::optional<JobScenario> read_launch_script(std::string_view text, const std::string& file,
                                              const JobHints& hints, const JobFiles& files,
                                              const ReadText& read) {
  const auto launch = launch_of(text, hints, files);
  if (!launch) return {};
  if (foreign_framework(text).empty()) refuse_preferences(*launch, file);
  const auto launched = launched_gpus(launch->job.launcher);
  const bool by_env = world_size_of(hints).has_value();
  auto inside = hints;
  if (launched && !by_env) inside.env.push_back("WORLD_SIZE=" + std::to_string(launched->gpus));
  const auto framework = hints.as.empty() ? framework_of_recipe(*launch, files) : "";
  if (!framework.empty()) {
    inside = hints;
    inside.as = framework;
    return read(text, file, inside, files);
  }
  std::string missing;
  auto named = named_file(*launch, inside, files, read, missing);
  if (named) return of_file(std::move(*named), *launch, file, launched, hints);
  if (is_accelerated_launch(launch->job) && foreign_framework(text).empty() && missing.empty()) {
    inside = hints;
    inside.as = "accelerate";
    return read(text, file, inside, files);
  }
  refuse(*launch, text, file, missing);
}

}  // namespace scenarios
