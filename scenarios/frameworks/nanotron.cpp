// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/nanotron.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "scenarios/jobs/launcher.hpp"

namespace scenarios {
namespace {

struct NanotronJob {
  const Given& given;
  Draft& draft;
  std::optional<std::int64_t> gpus;  // of the launcher, the environment or the cluster
  std::int64_t data = 1, tensor = 1, pipeline = 1, context = 1;

  bool yes(std::string_view name) const { return given.yes(name); }
};

void copy_sizes(NanotronJob& job) {
  constexpr std::array<std::pair<const char*, const char*>, 6> sizes{
      {{"model.layers", "model.model_config.num_hidden_layers"},
       {"model.hidden", "model.model_config.hidden_size"},
       {"model.heads", "model.model_config.num_attention_heads"},
       {"model.ffn", "model.model_config.intermediate_size"},
       {"model.vocab", "model.model_config.vocab_size"},
       {"model.max_sequence", "model.model_config.max_position_embeddings"}}};
  for (const auto& [key, name] : sizes) {
    if (const auto size = job.given.whole(name))
      job.draft.whole(key, *size, {name});
    else if (!job.given.has(name))
      job.draft.want(key, std::string(name) + " is not given; add --set " + key + "=N");
  }
}

void copy_model(NanotronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  copy_sizes(job);
  if (const auto heads = given.whole("model.model_config.num_key_value_heads"))
    draft.whole("model.kv_heads", *heads, {"model.model_config.num_key_value_heads"});
  const auto activation = given.word_or("model.model_config.hidden_act", "silu");
  draft.text("model.activation", activation == "silu" ? "swiglu" : "geglu",
             {"model.model_config.hidden_act"});
  draft.text("model.norm", "rmsnorm", {}, "nanotron's Llama and Qwen2");
  draft.text("model.position", "rope", {}, "nanotron's Llama and Qwen2");
  draft.yes_no("model.tied_embeddings", job.yes("model.model_config.tie_word_embeddings"),
               {"model.model_config.tie_word_embeddings"});
  draft.yes_no("model.biases", false, {}, "nanotron's Llama and Qwen2");
  if (job.yes("model.model_config.attention_bias"))
    draft.yes_no("model.qkv_biases", true, {"model.model_config.attention_bias"});
  draft.text("model.dropout", "0", {}, "nanotron's Llama and Qwen2");
  constexpr const char* kernel = "model.model_config._attn_implementation";
  if (const auto word = given.word_or(kernel, ""); word.starts_with("flash_attention"))
    draft.unused(kernel, "FlashAttention is forecast");
  if (const auto size = given.whole("model.model_config.sliding_window_size"))
    draft.whole("model.attention_window", *size, {"model.model_config.sliding_window_size"});
}

void copy_experts(NanotronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  constexpr const char *experts = "model.model_config.moe_config.num_experts",
                       *chosen = "model.model_config.moe_config.top_k",
                       *width = "model.model_config.moe_config.moe_intermediate_size",
                       *shared = "model.model_config.moe_config.shared_expert_intermediate_size";
  if (!given.has(experts)) return;
  draft.whole("model.moe.experts", given.whole_or(experts, 8), {experts});
  draft.whole("model.moe.top_k", given.whole_or(chosen, 2), {chosen});
  draft.whole("model.moe.expert_ffn", given.whole_or(width, 1408), {width});
  if (!job.yes("model.model_config.moe_config.enable_shared_expert")) return;
  draft.whole("model.moe.shared_experts", 1,
              {"model.model_config.moe_config.enable_shared_expert"});
  draft.whole("model.moe.shared_ffn", given.whole_or(shared, 5632), {shared});
}

// Gives the GPUs that other degrees over the job leave to replicas; complains of degrees that make
// another number of GPUs.
void fit_replicas(NanotronJob& job, std::int64_t gpus) {
  const auto others = job.tensor * job.pipeline * job.context;
  if (job.data * others == gpus) return;
  const auto& over = job.draft.over().values;
  if (job.draft.over_ranks() && !over.contains("plan.data") && gpus % others == 0)
    job.data = gpus / others;
  else
    job.given.complain("parallelism.dp",
                       contradiction_of("all degrees make ", job.data * others, gpus, false));
}

void copy_degrees(NanotronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto of = [&](const char* name) { return given.degree(name); };
  // Ranks that hold different experts are replicas, too, so expert_parallel_size multiplies their
  // number.
  const auto expert = of("parallelism.expert_parallel_size");
  job.data = draft.holding("plan.data", of("parallelism.dp") * expert);
  job.tensor = draft.holding("plan.tensor", of("parallelism.tp"));
  job.pipeline = draft.holding("plan.pipeline", of("parallelism.pp"));
  job.context = draft.holding("plan.context", of("parallelism.context_parallel_size"));
  if (job.gpus) fit_replicas(job, *job.gpus);
  draft.whole("cluster.gpus", job.data * job.tensor * job.pipeline * job.context,
              {"parallelism.dp", "parallelism.tp", "parallelism.pp",
               "parallelism.context_parallel_size", "parallelism.expert_parallel_size"},
              "their product");
  draft.whole("plan.tensor", job.tensor, {"parallelism.tp"});
  if (job.tensor > 1) {
    draft.yes_no("plan.sequence_parallel",
                 given.word_or("parallelism.tp_mode", "ALL_REDUCE") == "REDUCE_SCATTER",
                 {"parallelism.tp_mode"});
    constexpr const char *async = "parallelism.tp_linear_async_communication",
                         *again = "parallelism.tp_recompute_allgather";
    draft.yes_no("plan.overlap.tensor", job.yes(async), {async});
    if (job.yes(async) && given.yes(again, true))
      draft.yes_no("software.keep_gathered_inputs", false, {again, async},
                   "gathered inputs are gathered again");
  }
  draft.whole("plan.pipeline", job.pipeline, {"parallelism.pp"});
  draft.whole("plan.context", job.context, {"parallelism.context_parallel_size"});
  draft.whole("plan.data", job.data, {"parallelism.dp", "parallelism.expert_parallel_size"});
  if (expert > 1) {
    draft.whole("plan.expert", expert, {"parallelism.expert_parallel_size"});
    draft.text("plan.rank_order", "tp-cp-dp-pp-ep", {"parallelism.expert_parallel_size"});
  }
  if (job.pipeline > 1)
    draft.text("plan.schedule",
               given.word_or("parallelism.pp_engine", "afab") == "1f1b" ? "1f1b" : "gpipe",
               {"parallelism.pp_engine"});
}

void copy_training(NanotronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  constexpr const char *micro = "tokens.micro_batch_size",
                       *steps = "tokens.batch_accumulation_per_replica";
  draft.whole("training.sequence_length", given.whole_or("tokens.sequence_length", 2048),
              {"tokens.sequence_length"});
  draft.whole(
      "training.global_batch", given.whole_or(micro, 1) * given.whole_or(steps, 1) * job.data,
      {micro, steps, "parallelism.dp", "parallelism.expert_parallel_size"}, "their product");
  draft.whole("plan.micro_batch", given.whole_or(micro, 1), {micro});
  const auto dtype = given.word_or("model.dtype", "bfloat16");
  draft.text("training.precision",
             dtype == "float32"   ? "fp32"
             : dtype == "float16" ? "fp16"
                                  : "bf16",
             {"model.dtype"});
  auto optimizer = given.word_or("optimizer.optimizer_factory.name", "adamW");
  if (optimizer == "adamW" || optimizer == "sgd")
    draft.text("training.optimizer", optimizer == "sgd" ? "sgd" : "adamw",
               {"optimizer.optimizer_factory.name"});
  else
    given.refuse("optimizer.optimizer_factory.name", "expected adamW or sgd");
  const auto zero = given.whole_or("optimizer.zero_stage", 0);
  if (zero > 1) given.complain("optimizer.zero_stage", "nanotron has the stages 0 and 1");
  draft.whole("plan.zero", std::min<std::int64_t>(zero, 1), {"optimizer.zero_stage"});
  const bool sums_wide = dtype == "float32" || job.yes("optimizer.accumulate_grad_in_fp32");
  if (dtype == "float16" && !sums_wide)
    draft.text("software.gradient_precision", "fp16", {"optimizer.accumulate_grad_in_fp32"});
  else if (dtype != "float32")
    draft.text("plan.gradient_precision", sums_wide ? "fp32" : "bf16",
               {"optimizer.accumulate_grad_in_fp32"});
  if (job.yes("parallelism.recompute_layer"))
    draft.text("plan.recompute", "full", {"parallelism.recompute_layer"});
}

// Reads the size of a bucket, in which DistributedDataParallel counts gradients as wide as
// parameters; nanotron may sum them up in fp32.
void read_ddp_bucket(NanotronJob& job) {
  const auto megabytes = job.given.whole("model.ddp_bucket_cap_mb");
  if (!megabytes) return;
  const bool widens = job.given.word_or("model.dtype", "bfloat16") != "float32" &&
                      job.yes("optimizer.accumulate_grad_in_fp32");
  job.draft.whole("plan.bucket", *megabytes * (widens ? 2 : 1) * 1024 * 1024,
                  {"model.ddp_bucket_cap_mb", "optimizer.accumulate_grad_in_fp32"},
                  widens ? "summed up in fp32" : "");
}

}  // namespace

bool is_nanotron(const Value& document) {
  const auto* model = document.find("model");
  return model != nullptr && document.find("tokens") != nullptr &&
         (model->find("model_config") != nullptr || document.find("parallelism") != nullptr);
}

JobScenario nanotron_scenario(const FrameworkJob& job, const std::string& file,
                              std::optional<std::int64_t> gpus, Complaints& complaints) {
  const Given given(arguments_of("nanotron"), job.arguments, complaints);
  complaints.throw_if_any();  // what is missing beside matters to nobody then
  Draft draft(given, job.over);
  NanotronJob reading{given, draft, gpus};
  copy_model(reading);
  copy_experts(reading);
  copy_degrees(reading);
  copy_training(reading);
  draft.text("software.base", "nanotron", {}, "the framework");
  draft.whole("software.vocab_multiple", given.whole_or("model.make_vocab_size_divisible_by", 1),
              {"model.make_vocab_size_divisible_by"});
  read_ddp_bucket(reading);
  return std::move(draft).finished(job.arguments, file);
}

}  // namespace scenarios
