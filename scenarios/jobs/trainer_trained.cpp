// SPDX-License-Identifier: Apache-2.0
// Jobs of Hugging Face's Trainer that leave weights as they are, or take other steps than those of
// a language model. Names of arguments that neither the Trainer nor TRL has are those of published
// scripts (FastChat, DeepSpeed-Chat, QLoRA, Firefly, LLaVA, LMFlow), from memory.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "scenarios/documents/error.hpp"
#include "scenarios/jobs/named_model.hpp"
#include "scenarios/jobs/preferences.hpp"
#include "scenarios/jobs/trainer_rules.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

constexpr const char* adapters_only =
    "only adapters are trained; weights that stay as they are are not modelled";
constexpr const char* some_stay = "weights that stay as they are are not modelled";

void refuse_adapters_of_drivers(const TrainerJob& job) {
  const auto& given = job.given;
  const auto missing = [](const std::string& word) {
    return std::string(word.empty() ? "it is not given, which means lora: " : "") + adapters_only;
  };
  const auto tuning = units::lower_case(job.word("finetuning_type"));
  if (job.framework == "llamafactory" && tuning != "full")
    given.refuse("finetuning_type", tuning == "freeze" ? some_stay : missing(tuning));
  const auto swift = units::lower_case(job.word("train_type"));
  if ((job.of_swift && !given.has("train_type")) || (!swift.empty() && swift != "full"))
    given.refuse("train_type", missing(swift));
}

// Whether the job says that it trains all weights: an argument that would switch adapters on is
// off, or the one of QLoRA's script that trains all is on.
bool trains_all(const TrainerJob& job) {
  const auto off = [&](const char* name) {
    return job.given.mentioned(name) != nullptr && !job.yes(name);
  };
  return off("use_peft") || off("use_lora") || job.yes("full_finetune");
}

// Whether a script's name says that it trains adapters: "train_lora.py", "run_clm_pt_with_peft.py".
bool names_adapters(std::string_view program) {
  constexpr std::array<std::string_view, 4> words{"lora", "qlora", "dora", "peft"};
  std::string part;
  for (const char c : units::lower_case(program) + '.') {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      part += c;
      continue;
    }
    if (std::ranges::find(words, part) != words.end()) return true;
    part.clear();
  }
  return false;
}

// Refuses adapters of scripts that call the Trainer. TRL's scripts take a rank as a setting that
// counts beside use_peft alone.
void refuse_adapters_of_scripts(const TrainerJob& job, Complaints& complaints) {
  const auto& given = job.given;
  for (const auto* name : {"adapter", "use_peft", "use_lora", "peft_config", "use_qlora"}) {
    const auto kind = units::lower_case(job.word(name));
    if (given.has(name) && !kind.empty() && kind != "none" && kind != "null" && kind != "false")
      given.refuse(name, adapters_only);
  }
  for (const auto* name : {"freeze_backbone", "use_lisa"})
    if (job.yes(name)) given.refuse(name, some_stay);
  const bool of_scripts = job.framework == "trainer" || job.framework == "accelerate";
  if (!of_scripts || job.of_swift || job.of_trl || trains_all(job)) return;
  if (names_adapters(job.program))
    complaints.add(Place{}, Complaint{{}, job.program + ": " + adapters_only, true});
  if (given.whole_or("lora_r", 0) > 0) given.refuse("lora_r", adapters_only);
  if (given.has("peft_method")) given.refuse("peft_method", adapters_only);
  for (const auto* name : {"train_mode", "finetuning_type"})
    if (units::lower_case(job.word(name)).find("lora") != std::string::npos)
      given.refuse(name, adapters_only);
  constexpr std::int64_t whole_weight = 16;
  if (given.whole_or("bits", whole_weight) < whole_weight)
    given.refuse("bits", "weights in few bits that stay as they are are not modelled");
}

}  // namespace

void refuse_what_is_not_trained(TrainerJob& job, Complaints& complaints) {
  const auto& given = job.given;
  refuse_adapters_of_drivers(job);
  refuse_adapters_of_scripts(job, complaints);
  constexpr std::array<std::string_view, 5> trained{"sft", "pt", "pretrain", "", "none"};
  for (const auto* name : {"stage", "rl"})
    if (const auto kind = units::lower_case(job.word(name));
        std::ranges::find(trained, kind) == trained.end())
      given.refuse(name, refusal_of_method(kind));
  const auto name = job.word("model_name_or_path");
  if (names_senses(name)) given.refuse("model_name_or_path", "a vision tower is not modelled");
  const auto* tower = "vision_tower";
  if (const auto word = units::lower_case(job.word(tower)); !word.empty() && word != "none")
    given.refuse(tower, "a vision tower is not modelled");
}

}  // namespace scenarios
