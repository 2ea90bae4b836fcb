// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/recipe_command.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "scenarios/frameworks/recipe_word.hpp"
#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/scripts/shell_script.hpp"

namespace scenarios {
namespace {

// Returns "micro_batch_size 2" for axolotl's option "--micro-batch-size 2", "packing true" for
// "--packing" and "packing false" for "--no-packing".
JobArgument option_as_key(JobArgument option, const ArgumentTable& table) {
  constexpr std::string_view hyphens = "--", no = "no_";
  if (!begins_argument(option.name)) return option;
  option.text = written(option);
  option.name.erase(0, hyphens.size());
  std::ranges::replace(option.name, '-', '_');
  if (!option.values.empty()) return option;
  const bool denies = std::string_view(option.name).starts_with(no);
  const auto positive = option.name.substr(denies ? no.size() : 0);
  const bool negated = table.find(option.name) == nullptr && table.find(positive) != nullptr;
  if (negated) option.name = positive;
  option.values.push_back({negated ? "false" : "true", {}, option.at});
  return option;
}

// Returns the arguments that LLaMA-Factory takes beside a file: "key=value". It takes no options,
// so each of them is one word that it does not know.
std::vector<JobArgument> pairs_in(std::span<const ShellWord> words) {
  std::vector<JobArgument> pairs;
  for (const auto& word : words) {
    const auto equals = word.text.find('=');
    const bool option = word.text.starts_with('-');
    if (!option && equals != word.text.npos && equals > 0) {
      const auto value = word.text.substr(equals + 1);
      pairs.push_back({word.text.substr(0, equals), {{value, word.trouble, word.at}}, word.at});
      pairs.back().off = value == "null" || value == "~";
    } else if (!option && !pairs.empty() && begins_argument(pairs.back().name)) {
      pairs.back().name += " " + word.text;
    } else if (!word.trouble.empty()) {
      pairs.push_back({{}, {word}, word.at});
    } else {
      pairs.push_back({word.text, {}, word.at});
    }
  }
  return pairs;
}

// Takes the number of processes that AutoModel's own command is given, as an option of torchrun,
// which it starts (from memory).
void take_processes(FrameworkJob& job) {
  constexpr std::array<std::string_view, 2> names{"nproc_per_node", "nproc-per-node"};
  const auto counts = [&](const JobArgument& argument) {
    return std::ranges::find(names, argument.name) != names.end();
  };
  for (auto argument : job.arguments) {
    if (!counts(argument)) continue;
    argument.name = "torchrun.nproc_per_node";
    job.launcher.push_back(std::move(argument));
  }
  std::erase_if(job.arguments, counts);
}

}  // namespace

std::vector<JobArgument> arguments_beside(std::span<const ShellWord> words, const ShellWord& recipe,
                                          std::string_view framework) {
  std::vector<ShellWord> others;
  for (const auto& word : words) {
    const bool before = &word < &recipe;
    if (before && word.text == "--") others.clear();  // options of the program that starts it
    const bool verb = others.empty() && before && !word.text.starts_with('-');
    const bool names_it = before && &word + 1 == &recipe && takes_recipe(word.text);
    if (&word != &recipe && !verb && !names_it && word.text != "--") others.push_back(word);
  }
  if (framework == "llamafactory") return pairs_in(others);
  const auto& table = arguments_of(framework);
  auto arguments = arguments_from(others, table);
  for (auto& one : arguments)
    if (!one.stray) one = option_as_key(std::move(one), table);
  return arguments;
}

JobArgument take_recipe(std::vector<JobArgument>& all, const ShellWord& word) {
  JobArgument recipe{"--config", {{path_in(word.text), {}, word.at}}, word.at, word.text};
  // Words of one variable stand at one place.
  const auto is_it = [&](const ShellWord& value) {
    return value.at == word.at && (value.text == word.text || value.text == path_in(word.text));
  };
  const auto holds = [&](const JobArgument& argument) {
    return std::ranges::any_of(argument.values, is_it);
  };
  std::erase_if(all, [&](const JobArgument& one) { return one.stray && one.at == word.at; });
  const auto found = std::ranges::find_if(all, holds);
  if (found == all.end()) {
    all.insert(all.begin(), recipe);
  } else if (takes_recipe(found->name)) {
    recipe.text = written(*found);
    *found = recipe;
  } else {
    std::erase_if(found->values, is_it);
    all.insert(found, recipe);
  }
  return recipe;
}

std::optional<RecipeCommand> recipe_command(const Looked& looked, std::span<const std::string> env,
                                            std::string_view framework, Complaints& complaints) {
  auto launch = read_launch(looked.text, env, looked.files);
  const auto* word = launch ? recipe_word(launch->words) : nullptr;
  if (word == nullptr) return {};
  RecipeCommand command{std::move(launch->job), {}, {}, word->at};
  command.job.arguments = arguments_beside(launch->words, *word, framework);
  take_processes(command.job);
  const auto recipe = take_recipe(command.job.arguments, *word);
  std::erase_if(command.job.arguments,
                [&](const JobArgument& one) { return gives(one, recipe.name); });
  const auto found =
      text_named_by(recipe, {&recipe.values.front().text, 1}, looked.files, complaints);
  complaints.throw_if_any();
  command.path = found->path;
  command.text = found->text;
  return command;
}

}  // namespace scenarios
