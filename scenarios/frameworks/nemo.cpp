// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/nemo.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/megatron.hpp"
#include "scenarios/jobs/named_model.hpp"
#include "scenarios/jobs/packing_words.hpp"
#include "scenarios/jobs/value_meanings.hpp"
#include "scenarios/jobs/variables.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

constexpr const char *halves_name = "model.megatron_amp_O2",
                     *restored_name = "model.restore_from_path",
                     *tuned_length_name = "model.data.train_ds.max_seq_length";

constexpr ValueMeaning meanings[]{
    {"model.activation", "swiglu", "--swiglu"},
    {"model.activation", "fast-swiglu", "--swiglu"},
    {"model.activation", "geglu", "--quick-geglu"},
    {"model.activation", "fast-geglu", "--quick-geglu"},
    {"model.activation", "squared-relu", "--squared-relu"},
    {"model.activation", "gelu", "!--swiglu"},
    {"model.normalization", "layernorm", "--normalization=LayerNorm"},
    {"model.normalization", "layernorm1p", "--normalization=LayerNorm"},
    {"model.normalization", "low_precision_layernorm", "--normalization=LayerNorm"},
    {"model.normalization", "rmsnorm", "--normalization=RMSNorm"},
    {"trainer.precision", "bf16", "--bf16"},
    {"trainer.precision", "bf16-mixed", "--bf16"},
    {"trainer.precision", "bf16-true", "--bf16"},
    {"trainer.precision", "16", "--fp16"},
    {"trainer.precision", "16-mixed", "--fp16"},
    {"trainer.precision", "32", "!--bf16"},
    {"trainer.precision", "32-true", "!--bf16"},
    {"model.optim.name", "mcore_distributed_optim", "--use-distributed-optimizer --optimizer=adam"},
    {"model.optim.name", "distributed_fused_adam", "--use-distributed-optimizer --optimizer=adam"},
    {"model.optim.name", "fused_adam", "!--use-distributed-optimizer --optimizer=adam"},
    {"model.optim.name", "megatron_fused_adam", "!--use-distributed-optimizer --optimizer=adam"},
    {"model.optim.name", "adam", "!--use-distributed-optimizer --optimizer=adam"},
    {"model.optim.name", "adamw", "!--use-distributed-optimizer --optimizer=adam"},
    {"model.optim.name", "sgd", "!--use-distributed-optimizer --optimizer=sgd"},
    {"model.position_embedding_type", "rope", "--position-embedding-type=rope"},
    {"model.position_embedding_type", "learned_absolute",
     "--position-embedding-type=learned_absolute"},
    {"model.position_embedding_type", "alibi", "--position-embedding-type=alibi"},
    {"model.position_embedding_type", "none", "--position-embedding-type=none"},
    {"model.optim.grad_sync_dtype", "bf16", "--grad-reduce-in-bf16"},
    {"model.optim.grad_sync_dtype", "fp32", "!--grad-reduce-in-bf16"},
    {"model.optim.grad_sync_dtype", "16", "--grad-reduce-in-bf16"},
    {"model.optim.grad_sync_dtype", "32", "!--grad-reduce-in-bf16"}};

class NemoFlags {
 public:
  NemoFlags(const std::vector<JobArgument>& keys, Complaints& complaints)
      : keys_(keys), complaints_(complaints) {}

  std::vector<JobArgument> flags() {
    for (const auto& key : keys_) {
      if (key.values.size() == 1 && !key.off && (means(key) || is_length(key))) continue;
      flags_.push_back(key);
    }
    add_defaults();
    add_fp8();
    add_tokenizer();
    add_engine();
    return keys_as_flags(flags_, table_);
  }

 private:
  const JobArgument* find(std::string_view name) const {
    const JobArgument* found = nullptr;
    for (const auto& key : keys_)
      if (key.name == name) found = &key;
    return found;
  }
  std::string word(std::string_view name) const {
    const auto* key = find(name);
    return key == nullptr || key->values.empty() ? std::string() : key->values.front().text;
  }
  bool yes(std::string_view name) const { return yes_or_no(word(name)) == true; }

  // Adds NeMo's own defaults for keys that the job does not give, or takes away.
  void add_defaults() {
    for (const auto* name : {"model.apply_rope_fusion", "model.gradient_accumulation_fusion",
                             "model.ub_tp_comm_overlap", "model.cross_entropy_loss_fusion",
                             "model.overlap_p2p_comm", halves_name}) {
      JobArgument argument{name, {{"false", {}, {}}}, {}};
      argument.file = "NeMo's defaults";
      if (const auto* key = find(name); key == nullptr || key->off) flags_.push_back(argument);
    }
  }

  bool means(const JobArgument& key) {
    auto found = flags_of_value(key, meanings, table_, complaints_);
    if (!found) return false;
    flags_.insert(flags_.end(), found->begin(), found->end());
    return true;
  }

  // Takes the longest text of fine-tuning as the length of sequences, where nothing else says it.
  bool is_length(const JobArgument& key) {
    if (key.name != tuned_length_name) return false;
    if (find("model.encoder_seq_length") != nullptr || find("model.seq_length") != nullptr)
      return false;
    add(key, "--seq-length=" + key.values.front().text);
    return true;
  }

  void add(const JobArgument& key, std::string_view flag) {
    if (auto one = flag_of_text(key, flag, table_)) flags_.push_back(std::move(*one));
  }

  void add_fp8() {
    if (!yes("model.fp8")) return;
    add(*find("model.fp8"), yes("model.fp8_e4m3") ? "--fp8-format=e4m3" : "--fp8-format=hybrid");
  }

  // Adds the tokenizer: one of Megatron-LM by its type, others by their library, which does not
  // tell the vocabulary.
  void add_tokenizer() {
    const auto* library = find("model.tokenizer.library");
    if (library == nullptr) return;
    const auto kind = units::lower_case(word("model.tokenizer.library")),
               type = word("model.tokenizer.type");
    add(*library, "--tokenizer-type=" + (kind == "megatron" && !type.empty() ? type : kind));
  }

  void add_engine() {
    const auto* engine = find("model.transformer_engine");
    if (engine != nullptr && !yes("model.transformer_engine") && !yes("model.mcore_gpt"))
      add(*engine, "--transformer-impl=local");
  }

  const std::vector<JobArgument>& keys_;
  Complaints& complaints_;
  const ArgumentTable& table_ = arguments_of("nemo");
  std::vector<JobArgument> flags_;
};

// --- rules of its own arguments

void read_trainer(MegatronJob& job) {
  const auto& given = job.given;
  constexpr const char *devices = "trainer.devices", *nodes = "trainer.num_nodes";
  const auto each = given.whole(devices), hosts = given.whole(nodes);
  if (each && hosts)
    job.draft.whole("cluster.gpus", *each * *hosts, {devices, nodes}, "their product");
}

void read_vocabulary_of(MegatronJob& job) {
  constexpr const char *type = "model.tokenizer.type", *file = "model.tokenizer.model";
  if (job.given.has("--vocab-size")) return;
  for (const auto* name : {type, file}) {
    if (!job.given.has(name)) continue;
    const auto* found = job.given.find(name);
    if (found->values.empty() || !found->values.front().trouble.empty()) continue;
    const auto* model = named_model(found->values.front().text);
    const auto* vocabulary = model == nullptr ? nullptr : model->find("vocab");
    if (vocabulary != nullptr)
      job.draft.set("model.vocab", *vocabulary, {name}, "rows of that model's embedding");
  }
}

void read_torch_fsdp(MegatronJob& job) {
  const auto& given = job.given;
  if (!given.yes("model.fsdp")) return;
  const auto* name = "model.fsdp_sharding_strategy";
  const auto word = given.word_or(name, "full");
  if (word != "full" && word != "grad" && word != "hybrid")
    given.complain(name, "expected full, grad or hybrid");
  job.draft.whole("plan.zero", word == "grad" ? 2 : 3, {"model.fsdp", name});
  for (const auto* key : {"plan.overlap.data", "plan.overlap.parameters"})
    job.draft.yes_no(key, true, {"model.fsdp"}, "layer by layer");
  if (word == "hybrid") job.draft.text("plan.shard_group", "node", {name});
}

void read_bucket_of(MegatronJob& job) {
  const auto* name = "model.optim.bucket_cap_mb";
  const auto size = job.given.whole(name);
  const bool distributed = job.given.has("--use-distributed-optimizer");
  constexpr std::int64_t mega = 1024 * 1024;
  if (size && *size > 0 && distributed)
    job.draft.whole("plan.bucket", *size * mega, {name, "--use-distributed-optimizer"});
}

// Reads whether the model is kept in 16 bit, beside main weights in fp32.
void read_halves(MegatronJob& job) {
  const auto& given = job.given;
  if (!given.has("--bf16") && !given.has("--fp16"))
    job.draft.unused(halves_name, "the model is in 32 bit");
  else if (!given.yes(halves_name))
    job.draft.partly(halves_name,
                     "weights stay in fp32 and are cast; the forecast has them in 16 bit");
  else
    job.draft.unused(halves_name, "weights in 16 bit beside main ones in fp32, as forecast");
}

// Reads the gradients of an optimizer that is not distributed: MainParamsOptimizerWrapper sums
// those of a model in bf16 in fp32 (fp32_grad_accum, from memory).
void read_main_gradients(MegatronJob& job) {
  const auto& given = job.given;
  const auto* distributed = "--use-distributed-optimizer";
  const bool whole = given.mentioned(distributed) != nullptr && !given.has(distributed);
  const bool halves = given.yes(halves_name);
  if (whole && halves && given.has("--bf16") && given.mentioned("--grad-reduce-in-bf16") == nullptr)
    job.draft.text("plan.gradient_precision", "fp32", {distributed, halves_name, "--bf16"});
}

void read_restored(MegatronJob& job) {
  const auto& given = job.given;
  const auto* length = given.find("--seq-length");
  if (length != nullptr && length->text.find(tuned_length_name) != std::string::npos)
    job.draft.partly("--seq-length", unpacked_texts);
  if (job.of_recipe)  // restored
    job.draft.want("model",
                   "the sizes of the model stand in that checkpoint; add --set model=NAME of the "
                   "catalog, or --set model.huggingface=config.json",
                   {restored_name});
}

void add_nemo(MegatronJob& job) {
  const auto& given = job.given;
  read_restored(job);
  read_trainer(job);
  read_vocabulary_of(job);
  read_torch_fsdp(job);
  read_bucket_of(job);
  read_halves(job);
  read_main_gradients(job);
  const auto* recurrent = "model.activations_checkpoint_recurrent";
  if (given.mentioned(recurrent) != nullptr)
    given.refuse(recurrent, "recurrent layers are not modelled");
  const auto* stacks = "defaults[].*";
  if (const auto* merged = given.mentioned(stacks);
      merged != nullptr && (merged->name.find("@model.encoder") != merged->name.npos ||
                            merged->name.find("@model.decoder") != merged->name.npos))
    given.refuse(stacks, "encoder and decoder are two stacks; scenarios have one");
  const auto* parallel = "model.mcore_customization_config.parallel_attention";
  if (given.yes(parallel)) job.draft.yes_no("model.parallel_block", true, {parallel});
}

}  // namespace

bool is_nemo(const Value& document) {
  const auto* trainer = document.find("trainer");
  const auto* model = document.find("model");
  if (trainer == nullptr || model == nullptr || model->kind != Value::Kind::map ||
      trainer->kind != Value::Kind::map)
    return false;
  constexpr std::array<std::string_view, 5> own{"micro_batch_size", "megatron_amp_O2",
                                                "tensor_model_parallel_size", "encoder_seq_length",
                                                "num_layers"};
  return trainer->find("precision") != nullptr &&
         std::ranges::any_of(own, [&](auto key) { return model->find(key) != nullptr; });
}

FrameworkJob nemo_job(const Value& document, std::span<const std::string> env) {
  auto resolved = document;
  replace_references(resolved, env);
  auto job = keyed_job(resolved, true);
  mark_unresolved(job);
  return job;
}

JobScenario nemo_scenario(const FrameworkJob& keys, const std::string& file,
                          Complaints& complaints) {
  FrameworkJob job;
  job.over = keys.over;
  job.arguments = NemoFlags(keys.arguments, complaints).flags();
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(job.arguments,
                               [&](const JobArgument& one) { return gives(one, name); });
  };
  // The model stands in the checkpoint that fine-tuning goes on from.
  const bool restored = has(restored_name) && !has("--num-layers");
  auto scenario = megatron_scenario(job, file, complaints, {"nemo", "nemo", add_nemo, restored});
  if (restored) settle_named_model(scenario);
  return scenario;
}

}  // namespace scenarios
