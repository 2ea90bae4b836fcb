// SPDX-License-Identifier: Apache-2.0
// FSDP's keys of a job of the Trainer, and the file that may have them.
#include <algorithm>
#include <utility>

#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/jobs/trainer_rules.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

constexpr std::string_view section = "fsdp_config";

// Adds the key "fsdp_config.any" if a key of FSDP's section is given, so that rules can ask for it.
void mark_fsdp(std::vector<JobArgument>& arguments) {
  const auto of_fsdp = [](const JobArgument& one) {
    return std::string_view(one.name).starts_with("fsdp_config.") && !one.off;
  };
  const auto found = std::ranges::find_if(arguments, of_fsdp);
  if (found == arguments.end()) return;
  auto mark = *found;
  mark.text = written(mark);
  mark.name = "fsdp_config.any";
  arguments.insert(found, std::move(mark));
}

// Returns the keys of the argument's text in JSON. Throws Error with the argument's place.
std::vector<JobArgument> keys_inside(const JobArgument& argument, const std::string& file) {
  try {
    auto keys = keyed_job(parse_yaml(plain_json(argument.values.front().text), file)).arguments;
    for (auto& key : keys) key.at = argument.at;
    return keys;
  } catch (const Error& wrong) {
    auto complaints = wrong.complaints;
    for (auto& one : complaints) {
      const auto inside = one.place.substr(std::min(file.size() + 1, one.place.size()));
      one.place = place_text(argument, file);
      one.text = written(argument) + ": at " + inside + " of this text, " + one.text;
    }
    throw Error(std::move(complaints));
  }
}

// Returns the keys of the file that the argument names, or of its text in JSON; nothing if there is
// no such file. `file` is the job's.
std::optional<std::vector<JobArgument>> keys_of_fsdp(const JobArgument& argument,
                                                     const std::string& file,
                                                     const JobFiles& files) {
  const auto& value = argument.values.front().text;
  std::vector<JobArgument> keys;
  if (value.starts_with('{')) {
    keys = keys_inside(argument, file);
  } else {
    const auto found = near_file(files, value);
    if (!found) return {};
    keys = keyed_job(parse_yaml(plain_json(found->text), found->path)).arguments;
    for (auto& key : keys) {
      key.file = found->path;
      key.named = argument.named.value_or(argument.at);
    }
  }
  for (auto& key : keys) key.name = std::string(section) + "." + key.name;
  return keys;
}

}  // namespace

std::string add_fsdp(std::vector<JobArgument>& arguments, const ArgumentTable& table,
                     const std::string& file, const JobFiles& files) {
  std::string missing;
  std::vector<JobArgument> all;
  for (auto& argument : arguments) {
    const auto* known = table.find(argument.name);
    const bool named = known != nullptr && known->name == section && argument.values.size() == 1 &&
                       argument.values.front().trouble.empty() && !is_off(argument);
    auto keys = named ? keys_of_fsdp(argument, file, files) : std::nullopt;
    if (named && !keys) missing = argument.values.front().text;
    all.push_back(std::move(argument));
    if (keys) std::ranges::move(*keys, std::back_inserter(all));
  }
  arguments = std::move(all);
  mark_fsdp(arguments);
  return missing;
}

void want_fsdp(Draft& draft, const std::string& missing) {
  const auto why =
      "FSDP's keys stand in " + missing + ", which is neither beside the job nor above it; add ";
  draft.want("plan.recompute", why + "--set plan.recompute=full, or none", {section});
  draft.want("plan.offload", why + "--set plan.offload=none, or plan.offload.optimizer=cpu",
             {section});
}

namespace {

// The meaning of FSDP's words: "full_shard auto_wrap", or accelerate's FULL_SHARD and 1.
struct Strategy {
  int zero = 3;
  bool node = false, offload = false;
  bool keeps = false;  // FSDP2 keeps gathered parameters after the forward pass
};

Strategy strategy_of(const TrainerJob& job) {
  Strategy strategy;
  const auto of = [&](const char* name, std::string word) {
    word = units::lower_case(word);
    if (word.starts_with("shardingstrategy.")) word.erase(0, word.find('.') + 1);
    if (word == "full_shard" || word == "1" || word == "auto_wrap" || yes_or_no(word)) return;
    if (word == "shard_grad_op" || word == "2")
      strategy.zero = 2;
    else if (word == "no_shard" || word == "3")
      strategy.zero = 0;
    else if (word == "hybrid_shard" || word == "4")
      strategy.node = true;
    else if (word == "hybrid_shard_zero2" || word == "_hybrid_shard_zero2" || word == "5")
      strategy = {2, true, strategy.offload};
    else if (word == "offload")
      strategy.offload = true;
    else
      job.given.complain(name,
                         "expected full_shard, shard_grad_op, no_shard, hybrid_shard or "
                         "hybrid_shard_zero2");
  };
  for (const auto& word : job.given.words("fsdp")) of("fsdp", word);
  const auto* name = "fsdp_config.sharding_strategy";
  if (job.given.has(name)) of(name, job.word(name));
  const auto* kept = "fsdp_config.reshard_after_forward";
  if (!job.given.has(kept)) return strategy;
  const auto word = job.word(kept);
  if (const auto again = yes_or_no(word); !again)
    of(kept, word);
  else if (!*again && strategy.zero == 3)
    strategy.keeps = true;
  return strategy;
}

constexpr const char* policy_name = "fsdp_config.auto_wrap_policy";

// Whether FSDP gathers the whole model at once, as nothing divides it into units. The Trainer
// divides it for the word auto_wrap alone, whatever its fsdp_config says of classes or sizes
// (Transformers 4.57, training_args.py, from memory); accelerate by its policy, NO_WRAP unless it
// is told (accelerate @16cb6eb8). axolotl's is left as it is where no key says it.
bool is_one_unit(const TrainerJob& job) {
  const auto words = job.given.words("fsdp");
  const auto says = [&](std::string_view which) {
    return std::ranges::any_of(
        words, [&](const std::string& word) { return units::lower_case(word) == which; });
  };
  if (says("auto_wrap")) return false;
  if (job.given.has(policy_name)) return units::lower_case(job.word(policy_name)) == "no_wrap";
  return job.framework != "axolotl";
}

void read_units(TrainerJob& job, std::int64_t zero) {
  const auto policy = units::lower_case(job.word(policy_name));
  if (policy == "size_based_wrap")
    job.draft.partly(policy_name,
                     "layers are gathered together by their size; the forecast has "
                     "each alone");
  if (zero == 3 && is_one_unit(job))
    job.draft.text("plan.wrap", "model", {policy_name, "fsdp"},
                   "FSDP is not told to divide it (auto_wrap)");
}

// The Trainer runs all microbatches but the last under accelerate's no_sync, unless DeepSpeed runs
// them (Transformers, trainer.py).
void read_trainer_sync(TrainerJob& job, int zero) {
  if (zero >= 2)
    job.draft.text("plan.gradient_sync", "step", {}, "the Trainer sums up gradients under no_sync");
}

constexpr const char *replicas_name = "dp_replicate_size", *shards_name = "dp_shard_size";

// Returns the number of replicas of FSDP's shards; complains of sizes that do not make the GPUs.
// axolotl has the size that is not given as the rest (utils/distributed.py, from memory).
std::int64_t replicas_of(const TrainerJob& job) {
  const auto& given = job.given;
  const auto copies = given.degree(replicas_name);
  const auto shards = given.whole(shards_name);
  if (!job.gpus || (copies == 1 && shards.value_or(1) <= 1)) return copies;
  const auto one = std::max<std::int64_t>(1, shards.value_or(1));
  const auto replica = product_of({job.tensor, job.context, one});
  const auto all = product_of({replica, copies});
  const bool rest = !shards || (job.framework == "axolotl" && (copies == 1 || one == 1));
  const bool fits = rest ? *job.gpus % all == 0 : *job.gpus == all;
  if (!fits && !job.draft.over_ranks())
    given.complain(shards ? shards_name : replicas_name,
                   contradiction_of("its degrees make ", all, *job.gpus, rest));
  return one > 1 && *job.gpus % replica == 0 ? *job.gpus / replica : copies;
}

}  // namespace

void read_trainer_sharding(TrainerJob& job) {
  const auto& given = job.given;
  const auto copies = replicas_of(job);
  auto& draft = job.draft;
  draft.text("software.base", "fsdp", {}, "PyTorch");
  if (!has_fsdp(job)) {
    const bool alone = given.has("fsdp_config.any");
    draft.whole("plan.zero", 0, {"fsdp", "deepspeed", "distributed_type", "fsdp_config.any"},
                alone ? "replicas, as nothing asks for FSDP" : "replicas");
    return;
  }
  const auto strategy = strategy_of(job);
  const auto zero =
      draft.whole("plan.zero", strategy.zero,
                  {"fsdp", "fsdp_config.sharding_strategy", "fsdp_config.reshard_after_forward",
                   "fsdp_config.any", "distributed_type"});
  if (strategy.keeps)
    draft.yes_no("plan.reshard_after_forward", false, {"fsdp_config.reshard_after_forward"});
  if (strategy.zero == 3 && given.whole_or("fsdp_version", 1) == 2)
    draft.yes_no("software.copies_parameters", true, {"fsdp_version"}, "FSDP 2");
  read_trainer_sync(job, strategy.zero);
  read_units(job, zero);
  if (!job.half.empty())  // MixedPrecision(param_dtype, reduce_dtype) of accelerate's plugin
    draft.text("software.gradient_precision", std::string(job.half), {"bf16", "fp16"},
               "accelerate has FSDP reduce in the type that it computes in");
  if (copies > 1) {
    std::optional<std::int64_t> sharers;
    if (const auto told = given.whole(shards_name))
      sharers = copies * *told * job.context;
    else if (job.gpus)
      sharers = *job.gpus / job.tensor;
    set_shard_group(draft, given, sharers, copies, {replicas_name, shards_name});
  } else if (strategy.node) {
    draft.text("plan.shard_group", "node", {"fsdp", "fsdp_config.sharding_strategy"});
  }
  const auto* offload = "fsdp_config.offload_params";
  if (!strategy.offload && !job.yes(offload)) return;
  for (const auto* key : {"plan.offload.optimizer", "plan.offload.gradients"})
    draft.text(key, "cpu", {offload, "fsdp"});
  if (strategy.zero == 3) return draft.text("plan.offload.parameters", "cpu", {offload, "fsdp"});
  for (const auto* name : {offload, "fsdp"})
    if (given.has(name))
      draft.partly(
          name,
          "between steps the shards of the parameters wait on the host; the forecast keeps "
          "the parameters on the device");
}

}  // namespace scenarios
