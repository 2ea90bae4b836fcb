// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/recognised.hpp"

#include <algorithm>

#include "scenarios/frameworks/automodel.hpp"
#include "scenarios/frameworks/bridge_performance.hpp"
#include "scenarios/frameworks/megatron_bridge.hpp"
#include "scenarios/frameworks/model_args.hpp"
#include "scenarios/frameworks/nanotron.hpp"
#include "scenarios/frameworks/nemo.hpp"
#include "scenarios/frameworks/nemo_command.hpp"
#include "scenarios/frameworks/nemo_export.hpp"
#include "scenarios/frameworks/neox.hpp"
#include "scenarios/frameworks/primus.hpp"
#include "scenarios/frameworks/torchtitan.hpp"
#include "scenarios/frameworks/yaml_config.hpp"
#include "scenarios/jobs/argument_words.hpp"
#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/scripts/shell_script.hpp"
#include "scenarios/jobs/trainer.hpp"

namespace scenarios {
namespace {

constexpr std::size_t enough_arguments = 3;  // that a text which is no YAML passes

// Whether a line of a script has the command, such as "megatron sft", outside of comments.
bool starts(const Looked& looked, std::string_view command) {
  constexpr std::string_view blanks = " \t";
  for (auto at = looked.text.find(command); at != looked.text.npos;
       at = looked.text.find(command, at + 1)) {
    const auto begin = looked.text.rfind('\n', at) + 1;  // 0 where there is none
    const auto before = looked.text.substr(begin, at - begin);
    const auto behind = looked.text.substr(at + command.size(), 1);
    const bool whole = before.empty() || blanks.find(before.back()) != blanks.npos;
    const bool ends = behind.empty() || std::string_view(" \t\r\n\\").find(behind) != behind.npos;
    if (whole && ends && before.find('#') == before.npos) return looked.is_script();
  }
  return false;
}

// Whether a script has arguments of LLaMA-Factory's src/train.py.
bool is_llamafactory_script(const Looked& looked) {
  const auto gives = [&](std::string_view name) { return has_word(looked.text, name, "-"); };
  return looked.is_script() && !is_megatron_swift_job(looked) && gives("--stage") &&
         (gives("--finetuning_type") || gives("--template"));
}

// Whether a script has arguments that only the Trainer has.
bool is_trainer_script(const Looked& looked) {
  // A new model by its configuration, with the batch that the Trainer has if it is not told.
  const bool configured = looked.has("--config_name") && looked.has("--output_dir");
  return looked.is_script() && !is_megatron_swift_job(looked) && !is_llamafactory_script(looked) &&
         (configured || looked.has("--per_device_train_batch_size") ||
          looked.has("--model_name_or_path") || starts(looked, "swift sft") ||
          starts(looked, "swift pt") || starts(looked, "trl sft"));
}

bool is_overrides(const Looked& looked, std::string_view table, std::string_view sign) {
  return looked.is_script() && looked.has(sign) &&
         overrides_in(looked.text, arguments_of(table)) >= enough_arguments;
}

bool is_program_of_recipe(std::string_view name) {
  return name == "run_recipe.py" || name == "run_recipe" || name.ends_with(".run_recipe");
}

// Whether the argument is an override of a section that Bridge has, and others have as well.
bool is_of_shared_section(std::string_view name) {
  return name.starts_with("model.") || name.starts_with("train.");
}

// Whether a script's command names a recipe of Megatron-Bridge and overrides a key of it. Others
// have programs named "pretrain_x.py", too, but other keys.
bool starts_recipe(const Looked& looked) {
  const auto& table = arguments_of("megatron_bridge");
  const auto job = read_shell_script(looked.text, table, {}, looked.files);
  const std::string_view program = job.program;
  bool named = is_program_of_recipe(program), overrides = false, foreign = false;
  for (const auto& argument : job.arguments) {
    const std::string_view name = argument.name;
    const bool known = table.find(name) != nullptr;
    named = named || name == "--recipe";
    overrides = overrides || (known && !name.starts_with('-') && name.find('.') != name.npos);
    foreign = foreign || (!known && is_of_shared_section(name));
  }
  const bool trains = (program.starts_with("pretrain_") || program.starts_with("finetune_")) &&
                      program.ends_with(".py");
  return overrides && (named || (trains && !foreign));
}

// Whether a script is a recipe's with an override of Megatron-Bridge.
bool overrides_recipe(const Looked& looked) {
  return looked.is_script() && !looked.has("trainer.") &&
         (looked.has("train.") || looked.has("model.")) &&
         overrides_in(looked.text, arguments_of("megatron_bridge")) > 0 &&
         !is_megatron_job(looked) && !is_torchtitan_job(looked) && starts_recipe(looked);
}

}  // namespace

bool is_megatron_job(const Looked& looked) {
  if (looked.map) return is_model_args(*looked.map) || is_yaml_config(*looked.map);
  if (looked.toml || is_trainer_script(looked) || is_llamafactory_script(looked) ||
      is_megatron_swift_job(looked) || starts(looked, "axolotl train") || looked.has("axolotl.cli"))
    return false;
  // Other programs have names without inner hyphens, too, such as --lr and --deepspeed.
  return arguments_in(looked.text, arguments_of("megatron"), "-") >= enough_arguments;
}

bool is_megatron_swift_job(const Looked& looked) {
  return starts(looked, "megatron sft") || starts(looked, "megatron pt");
}

namespace {

// Whether a script gives torchtitan's run_train.sh its file, or the recipe and the model.
bool starts_titan_script(const Looked& looked) {
  const bool file = looked.has("CONFIG_FILE=") && looked.has(".toml");
  const bool recipe = looked.has("MODULE=") && looked.has("CONFIG=");
  return looked.is_script() && looked.has("run_train.sh") && (file || recipe);
}

}  // namespace

// Whether the text is torchtitan's TOML, a command of its module with dotted arguments, or one of
// its script.
bool is_torchtitan_job(const Looked& looked) {
  if (looked.toml) return is_torchtitan(*looked.toml);
  if (starts_titan_script(looked)) return true;
  const bool dotted = looked.has("--training.") || looked.has("--parallelism.") ||
                      looked.has("--job.config_file") || looked.has("--model.flavor");
  const std::size_t least = looked.has("--job.config_file") ? 1 : 2;
  return !looked.map && dotted && arguments_in(looked.text, arguments_of("torchtitan")) >= least;
}

bool is_deepspeed_job(const Looked& looked) {
  return looked.map && is_deepspeed(*looked.map) && !is_neox(*looked.map);
}

bool is_neox_job(const Looked& looked) { return looked.map && is_neox(*looked.map); }

bool is_nanotron_job(const Looked& looked) { return looked.map && is_nanotron(*looked.map); }

bool is_primus_job(const Looked& looked) { return looked.map && is_primus(*looked.map); }

bool is_nemo1_job(const Looked& looked) {
  return (looked.map && is_nemo(*looked.map)) || names_nemo_config(looked) ||
         (is_overrides(looked, "nemo", "trainer.") && !looked.has("trainer.strategy.") &&
          (looked.has("model.optim.") || looked.has("model.micro_batch_size") ||
           looked.has("model.encoder_seq_length")));
}

bool is_nemo2_job(const Looked& looked) {
  if (looked.map) return is_nemo_export(*looked.map);
  return (starts(looked, "nemo llm pretrain") || starts(looked, "nemo llm finetune") ||
          is_overrides(looked, "nemo2", "trainer.")) &&
         !is_nemo1_job(looked);
}

bool is_bridge_job(const Looked& looked) {
  return (looked.map && is_bridge(*looked.map)) ||
         (looked.is_script() && is_performance_script(looked.text)) ||
         (is_overrides(looked, "megatron_bridge", "train.") && !looked.has("trainer.")) ||
         overrides_recipe(looked);
}

bool is_trainer_job(const Looked& looked) {
  return (looked.map && is_trainer(*looked.map)) || is_trainer_script(looked);
}

bool is_llamafactory_job(const Looked& looked) {
  return (looked.map && is_llamafactory(*looked.map)) || is_llamafactory_script(looked);
}

bool is_axolotl_job(const Looked& looked) { return looked.map && is_axolotl(*looked.map); }

bool is_accelerate_job(const Looked& looked) { return looked.map && is_accelerate(*looked.map); }

bool is_automodel_job(const Looked& looked) { return looked.map && is_automodel(*looked.map); }

}  // namespace scenarios
