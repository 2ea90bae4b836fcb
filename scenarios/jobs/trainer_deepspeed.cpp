// SPDX-License-Identifier: Apache-2.0
// DeepSpeed's file that a job of the Trainer names.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "scenarios/documents/edit.hpp"
#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/trainer_rules.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

std::int64_t hidden_of(const Value& document) {
  const auto* model = document.find("model");
  const auto* hidden = model == nullptr ? nullptr : model->find("hidden");
  return hidden == nullptr ? 0 : std::atoll(hidden->text.c_str());
}

// Returns the value that the Trainer puts in place of "auto"
// (transformers/integrations/deepspeed.py); "" if it leaves the key out.
std::string trainer_value(const std::string& key, const TrainerJob& job, std::int64_t hidden) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (key == "train_micro_batch_size_per_gpu")
    return text(
        job.given.whole_or("per_device_train_batch_size", job.framework == "axolotl" ? 1 : 8));
  if (key == "gradient_accumulation_steps")
    return text(job.given.whole_or("gradient_accumulation_steps", 1));
  if (key == "bf16.enabled" || key == "fp16.enabled")
    return key.starts_with(job.half) && !job.half.empty() ? "true" : "false";
  if (key == "zero_optimization.reduce_bucket_size" && hidden > 0) return text(hidden * hidden);
  if (key == "zero_optimization.stage3_prefetch_bucket_size" && hidden > 0)
    return text(hidden * hidden * 9 / 10);
  return {};
}

// Returns the keys of DeepSpeed's file. Its older name of bf16 becomes the one of today.
FrameworkJob keys_of_speed(const NearFile& file) {
  constexpr std::string_view old = "bfloat16.enabled";
  auto job = keyed_job(parse_yaml(plain_json(file.text), file.path));
  for (auto& argument : job.arguments)
    if (argument.name == old) {
      argument.text = written(argument);
      argument.name = "bf16.enabled";
    }
  return job;
}

FrameworkJob with_values(FrameworkJob job, const TrainerJob& trainer, std::int64_t hidden) {
  std::vector<JobArgument> kept;
  for (auto& argument : job.arguments) {
    if (argument.values.size() == 1 && argument.values.front().text == "auto") {
      argument.text = written(argument);
      argument.values.front().text = trainer_value(argument.name, trainer, hidden);
      argument.off = argument.values.front().text.empty();
    }
    kept.push_back(std::move(argument));
  }
  job.arguments = std::move(kept);
  return job;
}

bool gives_key(const FrameworkJob& job, std::string_view key) {
  return std::ranges::any_of(job.arguments, [&](const auto& one) { return one.name == key; });
}

// Adds the section of the Trainer's precision where the file has none of it and says another, as
// accelerate does (set_mixed_precision, from memory). A script that gives DeepSpeed its file has
// that of the file.
void add_half(FrameworkJob& speed, const TrainerJob& trainer) {
  const auto key = std::string(trainer.half) + ".enabled";
  if (trainer.own_speed || trainer.half.empty() || gives_key(speed, key)) return;
  if (!gives_key(speed, "bf16.enabled") && !gives_key(speed, "fp16.enabled")) return;
  JobArgument half{key, {{"true", {}, {}}}, {}};
  half.file = "accelerate";
  speed.arguments.push_back(std::move(half));
}

void lay_section(Value& under, const Value& over, std::initializer_list<std::string_view> but) {
  for (const auto& member : over.members) {
    if (std::ranges::find(but, member.key.text) != but.end()) continue;
    std::erase_if(under.members,
                  [&](const Member& one) { return one.key.text == member.key.text; });
    under.members.push_back(member);
  }
}

// Leaves the Trainer's arguments without effect that decide a key of the scenario.
void drop_deciding(JobScenario& scenario, std::string_view decides, const std::string& why) {
  for (auto& argument : scenario.account.arguments) {
    if (std::ranges::find(argument.keys, decides) == argument.keys.end()) continue;
    argument.effect = Effect::none;
    argument.keys.clear();
    argument.why = why;
  }
}

// Removes what the Trainer's argument says of its optimizer, as DeepSpeed's file has another.
void drop_optimizer(JobScenario& scenario) {
  if (auto* software = scenario.document.find("software"))
    for (const std::string key : {"optimizer_bytes", "optimizer_traffic"}) {
      std::erase_if(software->members, [&](const Member& one) { return one.key.text == key; });
      scenario.comments.erase("software." + key);
    }
  drop_deciding(scenario, "training.optimizer",
                "DeepSpeed's file has an optimizer, which is taken");
}

// Replaces the Trainer's plan by DeepSpeed's; batch, length, model and all keys that DeepSpeed's
// file leaves out stay the Trainer's.
void lay_speed(JobScenario& under, JobScenario&& speed, bool has_optimizer, bool has_precision) {
  auto move = [&](const char* section, std::initializer_list<std::string_view> but) {
    const auto* over = speed.document.find(section);
    auto* found = under.document.find(section);
    if (over == nullptr) return;
    if (found == nullptr)
      under.document.members.push_back({job_text(section), *over});
    else
      lay_section(*found, *over, but);
  };
  if (has_optimizer) drop_optimizer(under);
  move("plan", {"micro_batch"});
  move("software", {});
  if (auto* training = under.document.find("training"); training != nullptr)
    if (const auto* over = speed.document.find("training"); over != nullptr)
      for (const auto& member : over->members) {
        const bool takes = (member.key.text == "optimizer" && has_optimizer) ||
                           (member.key.text == "precision" && has_precision);
        if (!takes) continue;
        if (auto* found = training->find(member.key.text)) *found = member.value;
      }
  for (auto& [path, comment] : speed.comments)
    if ((path.starts_with("plan.") && path != "plan.micro_batch") || path.starts_with("software."))
      under.comments[path] = comment;
  for (auto& argument : speed.account.arguments)
    under.account.arguments.push_back(std::move(argument));
}

// Removes degrees of 1, which leave the Trainer's.
void leave_degrees(JobScenario& speed) {
  auto* plan = speed.document.find("plan");
  if (plan == nullptr) return;
  for (const std::string key : {"tensor", "context"}) {
    const auto* found = plan->find(key);
    if (found == nullptr || found->text != "1") continue;
    std::erase_if(plan->members, [&](const Member& one) { return one.key.text == key; });
    speed.comments.erase("plan." + key);
  }
}

// Complains of keys of DeepSpeed's file that differ from the Trainer's own arguments, with which
// the Trainer does not start (HfTrainerDeepSpeedConfig.fill_match).
void check_speed(const FrameworkJob& speed, const TrainerJob& job, Complaints& complaints) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> pairs{
      {{"train_micro_batch_size_per_gpu", "per_device_train_batch_size"},
       {"gradient_accumulation_steps", "gradient_accumulation_steps"},
       {"bf16.enabled", "bf16"},
       {"fp16.enabled", "fp16"}}};
  const auto mixed = units::lower_case(job.word("mixed_precision"));
  // ms-swift and accelerate say the precision by other keys; a script that gives DeepSpeed its file
  // has that of the file.
  const bool by_type = job.of_swift || job.own_speed || job.framework == "accelerate";
  for (const auto& argument : speed.arguments)
    for (const auto& [key, name] : pairs) {
      const bool precision = name.ends_with("16");
      if (!gives(argument, key) || argument.values.size() != 1) continue;
      const bool other = (mixed == "bf16" || mixed == "fp16") && mixed != name;
      if (precision && other && yes_or_no(argument.values.front().text) == true)
        complaints.add(argument.at, written(argument) + ": mixed_precision is " + mixed +
                                        ", with which accelerate does not start; write \"auto\" or "
                                        "false");
      if (precision ? by_type : !job.given.has(name)) continue;
      const auto& text = argument.values.front().text;
      const auto wanted = trainer_value(std::string(key), job, 0);
      if (text == "auto" || text == wanted || (precision && yes_or_no(text) == yes_or_no(wanted)))
        continue;
      complaints.add(argument.at,
                     written(argument) + ": the job says " + std::string(name) + " " + wanted +
                         (job.own_speed ? ", which the loader of the data takes, and DeepSpeed "
                                          "the file's; write the same"
                                        : ", and the Trainer does not start where they differ; "
                                          "write \"auto\" or the same"));
    }
}

// Asks for the keys that a file of DeepSpeed's decides, which is missing.
void want_speed(JobScenario& scenario, const TrainerJob& job, const std::string& file) {
  const auto elsewhere = job.given.elsewhere(speed_name);
  const auto want = [&](const char* path, const std::string& which, const std::string& advice) {
    scenario.wanted.push_back({path,
                               elsewhere + (elsewhere.empty() ? "" : ": ") + which + " in " + file +
                                   ", which is neither beside the job nor above it; add --set " +
                                   advice,
                               job.given.place_of(speed_name)});
  };
  want("plan.zero", "the ZeRO stage stands", "plan.zero=N");
  want("plan.offload", "offloaded states stand",
       "plan.offload=none, or plan.offload.optimizer=cpu with plan.offload.gradients=cpu");
}

}  // namespace

std::optional<NearFile> near_file(const JobFiles& files, const std::string& name) {
  constexpr int highest = 6;
  if (!files || name.empty()) return {};
  std::string up;
  for (int i = 0; i < highest; ++i, up += "../")
    if (auto text = files(up + name)) return NearFile{up + name, std::move(*text)};
  return {};
}

void read_speed_degrees(TrainerJob& job, const JobFiles& files) {
  const auto found = near_file(files, job.word(speed_name));
  if (!found) return;
  Complaints of_file(found->path);  // which add_speed tells
  const auto keys = keys_of_speed(*found);
  const auto degrees = deepspeed_degrees(Given(arguments_of("deepspeed"), keys.arguments, of_file));
  if (degrees.tensor > 1) job.tensor = job.draft.holding("plan.tensor", degrees.tensor);
  if (degrees.context > 1) job.context = job.draft.holding("plan.context", degrees.context);
}

void add_speed(JobScenario& scenario, const TrainerJob& job, const JobFiles& files) {
  const auto name = job.word(speed_name);
  const auto found = near_file(files, name);
  if (!found) {
    want_speed(scenario, job, name);
    for (auto* section : {"plan", "software"})
      if (auto* map = scenario.document.find(section))
        std::erase_if(map->members, [](const Member& one) {
          return one.key.text == "zero" || one.key.text == "base";
        });
    if (auto* software = scenario.document.find("software"))
      software->members.push_back({job_text("base"), job_text("deepspeed")});
    scenario.comments["software.base"] = job.given.text_of(speed_name);
    return;
  }
  Complaints complaints(found->path);
  auto keys = keys_of_speed(*found);
  const auto says = [&](std::string_view key) { return gives_key(keys, key); };
  const bool optimizer = says("optimizer.type");
  const bool fp8 = units::lower_case(job.word("mixed_precision")) == "fp8" || job.yes("fp8");
  const bool casts = std::ranges::any_of(keys.arguments, [](const JobArgument& one) {
    return gives(one, "torch_autocast.enabled") && one.values.size() == 1 &&
           yes_or_no(one.values.front().text) == true;
  });
  const bool precision = !fp8 && (casts || says("bf16.enabled") || says("fp16.enabled"));
  check_speed(keys, job, complaints);
  complaints.throw_if_any();
  if (!fp8) add_half(keys, job);
  keys = with_values(std::move(keys), job,
                     job.draft.holding("model.hidden", hidden_of(scenario.document)));
  keys.over = job.draft.over();
  if (!precision && !job.half.empty())
    keys.over.values.try_emplace("training.precision", std::string(job.half));
  auto speed = deepspeed_scenario(keys, found->path, job.gpus, complaints);
  complaints.throw_if_any();
  leave_degrees(speed);
  stand_at(speed.document, job.given.place_of(speed_name));
  if (job.own_speed && precision) {
    constexpr const char* key = "training.precision";
    drop_deciding(scenario, key, "DeepSpeed's file has the precision, which is taken");
    if (const auto said = speed.comments.find(key); said != speed.comments.end())
      scenario.comments[key] = said->second;
  }
  lay_speed(scenario, std::move(speed), optimizer, precision);
}

}  // namespace scenarios
