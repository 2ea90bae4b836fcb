// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/neox.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/megatron.hpp"
#include "scenarios/jobs/value_meanings.hpp"

namespace scenarios {
namespace {

constexpr auto table_name = "neox";

constexpr ValueMeaning neox_meanings[]{
    {"activation", "gelu", "!--swiglu"},
    {"activation", "geglu", "--quick-geglu"},
    {"activation", "swiglu", "--swiglu"},
    {"activation", "relu", "!--swiglu"},
    {"activation", "silu", "--swiglu"},  // of mlp_type llama
    {"checkpoint_activations", "true", "--recompute-granularity=full --recompute-method=uniform"},
    {"checkpoint_activations", "false", ""},
    {"norm", "layernorm", "--normalization=LayerNorm"},
    {"norm", "rmsnorm", "--normalization=RMSNorm"},
    {"norm", "te_layernorm", "--normalization=LayerNorm"},
    {"norm", "te_rmsnorm", "--normalization=RMSNorm"},
    {"optimizer.type", "adam", "--optimizer=adam"},
    {"optimizer.type", "adamw", "--optimizer=adam"},
    {"optimizer.type", "cpu_adam", "--optimizer=adam"},
    {"optimizer.type", "cpu_torch_adam", "--optimizer=adam"},
    {"optimizer.type", "sgd", "--optimizer=sgd"},
    {"pos_emb", "learned", "--position-embedding-type=learned_absolute"},
    {"pos_emb", "rotary", "--position-embedding-type=rope"},
    {"pos_emb", "alibi", "--position-embedding-type=alibi"},
    {"pos_emb", "sinusoidal", "--position-embedding-type=none"},
    {"pos_emb", "none", "--position-embedding-type=none"},
    {"precision", "bfloat16", "--bf16"},
    {"precision", "fp16", "--fp16"},
    {"precision", "fp32", "!--bf16"}};

// Fusions that are off in GPT-NeoX unless a file switches them on.
constexpr std::array<std::string_view, 4> unfused{"bias_gelu_fusion", "bias_dropout_fusion",
                                                  "scaled_upper_triang_masked_softmax_fusion",
                                                  "rope_fusion"};

// Returns the keys with underscores for hyphens, as GPT-NeoX allows both, and with their texts as
// the file writes them.
std::vector<JobArgument> keys_of(const Value& document) {
  auto keys = keyed_job(document).arguments;
  for (auto& key : keys) {
    key.text = written(key);
    std::ranges::replace(key.name, '-', '_');
  }
  return keys;
}

bool given_in(const std::vector<JobArgument>& keys, std::string_view name) {
  return std::ranges::any_of(keys, [&](const JobArgument& key) { return gives(key, name); });
}

JobArgument standing(std::string_view name, const std::string& value) {
  JobArgument argument{std::string(name), {{value, {}, {}}}, {}};
  argument.file = "GPT-NeoX's defaults";
  return argument;
}

std::vector<JobArgument> flags_of(std::vector<JobArgument> keys, Complaints& complaints) {
  const auto& table = arguments_of(table_name);
  for (const auto name : unfused)
    if (!given_in(keys, name)) keys.push_back(standing(name, "false"));
  for (const auto& [name, value] :
       {std::pair{"zero_optimization.stage", "0"}, std::pair{"checkpoint_num_layers", "1"},
        std::pair{"hidden_dropout", "0"}, std::pair{"attention_dropout", "0"}})
    if (!given_in(keys, name)) keys.push_back(standing(name, value));
  std::vector<JobArgument> flags;
  for (auto& key : keys)  // its default, with which layers are dense
    if (gives(key, "moe_num_experts") && key.values.size() == 1 && key.values[0].text == "1")
      key.off = true;
  if (given_in(keys, "moe_num_experts"))
    flags.push_back(standing("--moe-token-dispatcher-type", "alltoall"));
  for (auto& key : keys) {
    if (key.values.empty()) continue;
    auto& value = key.values.front().text;
    const auto& argument = key.name;
    if (argument == "pipe_parallel_size" && value == "0") value = "1";  // a pipeline of one stage
    if (auto found = flags_of_value(key, neox_meanings, table, complaints))
      flags.insert(flags.end(), found->begin(), found->end());
    else
      flags.push_back(key);
  }
  return keys_as_flags(flags, table, true);
}

// --- rules of its own arguments

bool says(const Given& given, std::string_view name, bool otherwise) {
  return given.yes(name, otherwise);
}

// Reads GPT-J's block: attention and MLP beside each other, behind a single norm if they are tied.
void read_block(MegatronJob& job) {
  const auto& given = job.given;
  const bool parallel = says(given, "gpt_j_residual", false);
  job.draft.yes_no("model.parallel_block", parallel, {"gpt_j_residual"});
  if (parallel && says(given, "gpt_j_tied", false))
    job.draft.whole("model.norms_per_layer", 1, {"gpt_j_tied"});
  const auto* attention = "use_bias_in_attn_linear";
  const auto* mlp = "use_bias_in_mlp";
  job.draft.yes_no("model.biases", says(given, mlp, true), {mlp});
  job.draft.yes_no("model.qkv_biases", says(given, attention, true), {attention});
  if (says(given, attention, true) && !says(given, mlp, true))
    job.draft.yes_no("model.output_bias", true, {attention});
}

// Reads the width of the MLP. A gated activation (ParallelMLP of megatron/model/transformer.py) has
// both halves in two thirds of what is given, so each has a third: Llama's 11008 is given as 33024.
// mlp_type llama has two thirds of the usual width, rounded up to a multiple of 256
// (LLaMAParallelMLP, from memory), and a given one as it is.
void read_width(MegatronJob& job) {
  const auto& given = job.given;
  const auto *whole = "intermediate_size", *type = "mlp_type";
  if (given.has("--ffn-hidden-size") || job.hidden == 0) return;
  auto width = given.whole_or(whole, given.whole_or("expansion_factor", 4) * job.hidden);
  const bool gated = given.has("--swiglu") || given.has("--quick-geglu");
  const auto* activation = given.find("--swiglu");  // with the text of the file's key
  const bool silu = activation != nullptr && activation->text.find("silu") != std::string::npos;
  const bool llama = silu || given.word_or(type, "regular") == "llama";
  if (gated && !llama) width = width * 2 / 3 / 2;
  if (gated && llama && !given.has(whole)) width = width * 2 / 3;
  constexpr std::int64_t multiple_of_llama = 256;
  const auto usual = gated && llama && !given.has(whole) ? multiple_of_llama : 1;
  const auto multiple = std::max<std::int64_t>(1, given.whole_or("mlp_multiple_of", usual));
  width = (width + multiple - 1) / multiple * multiple;
  job.draft.whole("model.ffn", width, {whole, type, "expansion_factor", "mlp_multiple_of"});
}

void read_neox_precision(MegatronJob& job) {
  const auto& given = job.given;
  if (given.has("--bf16") || given.has("--fp16")) return;
  const auto* half = "fp16.enabled";
  const auto* old_half = "fp16.fp16";
  const auto* brain = "bf16.enabled";
  const auto* type = "fp16.type";
  const bool enabled = says(given, half, false) || says(given, old_half, false);
  const bool brains =
      says(given, brain, false) || (enabled && given.word_or(type, "fp16").starts_with("bf"));
  job.draft.text("training.precision",
                 brains    ? "bf16"
                 : enabled ? "fp16"
                           : "fp32",
                 {half, old_half, type, brain});
  read_gradient_type(given, job.draft);
}

// Computes the global batch from the micro-batch, the accumulation steps and the ranks, if it is
// not given.
void read_neox_batch(MegatronJob& job) {
  const auto& given = job.given;
  const auto* steps = "gradient_accumulation_steps";
  if (given.has("--global-batch-size")) return;
  const auto micro = given.whole("--micro-batch-size");
  if (!micro || !job.gpus) return;
  const auto ranks = std::max<std::int64_t>(
      1, *job.gpus / std::max<std::int64_t>(1, job.tensor * job.pipeline * job.context));
  job.draft.whole("training.global_batch", *micro * given.whole_or(steps, 1) * ranks,
                  {"--micro-batch-size", steps}, "micro batch x accumulation steps x ranks");
}

void read_neox_sharding(MegatronJob& job) {
  const auto stage = std::min<std::int64_t>(3, job.given.whole_or("--zero-stage", 0));
  const auto stages =
      job.draft.holding("plan.pipeline", job.given.degree("--pipeline-model-parallel-size"));
  // DeepSpeed's PipelineEngine asserts it (deepspeed_derived_defaults).
  if (job.draft.holding("plan.zero", stage) > 1 && stages > 1)
    job.given.complain(
        "--zero-stage",
        "DeepSpeed's pipeline keeps gradients whole, and does not start with stage 2 "
        "or 3 on several pipeline ranks; write stage 1, or pipe_parallel_size 1");
  if (stage > 0) read_zero_optimization(job.given, job.draft, stage);
}

// Reads the kinds of attention, each with its number of layers: "[[["flash"], 44]]".
void read_attention_kinds(MegatronJob& job) {
  const auto& given = job.given;
  const auto* name = "attention_config";
  bool flash = false;
  for (const auto& word : given.words(name)) {
    const auto kind = word.substr(0, word.find(','));
    if (kind.find("mamba") != kind.npos || kind.find("rwkv") != kind.npos)
      given.refuse(name, "layers that are state-space models or recurrent are not modelled");
    if (kind.find("sparse") != kind.npos || kind.find("local") != kind.npos ||
        kind.find("bigbird") != kind.npos || kind.find("gmlp") != kind.npos)
      job.draft.partly(name, "sparse attention; the forecast attends to all");
    flash = flash || kind.find("flash") != kind.npos;
  }
  job.draft.text("software.attention", flash ? "flash" : "unfused", {name});
}

// Reads the number of GPUs, unless WORLD_SIZE or a scenario over the job gives another.
void read_neox_gpus(MegatronJob& job) {
  constexpr const char *devices = "num_gpus", *nodes = "num_nodes";
  const auto each = job.given.whole(devices), hosts = job.given.whole(nodes);
  if (each && hosts && job.gpus == *each * *hosts && !job.draft.over().gpus)
    job.draft.whole("cluster.gpus", *job.gpus, {devices, nodes}, "their product");
}

void add_neox(MegatronJob& job) {
  read_neox_gpus(job);
  read_block(job);
  read_width(job);
  read_neox_precision(job);
  read_neox_batch(job);
  read_neox_sharding(job);
  read_attention_kinds(job);
}

// Returns the launcher's options, which the file itself holds for DeepSpeed; WORLD_SIZE (`gpus`)
// takes precedence.
std::vector<JobArgument> launcher_of(const std::vector<JobArgument>& keys,
                                     std::optional<std::int64_t> gpus) {
  std::vector<JobArgument> launcher;
  if (gpus) return {standing("accelerate.num_processes", std::to_string(*gpus))};
  for (const auto& key : keys) {
    const auto& argument = key.name;
    if (argument == "num_gpus" || argument == "num_nodes") {
      launcher.push_back(key);
      launcher.back().name = "deepspeed." + key.name;
      launcher.back().standard = true;  // it is listed with the others
    }
  }
  return launcher;
}

}  // namespace

bool is_neox(const Value& document) {
  constexpr std::array<std::string_view, 5> own{"pipe-parallel-size", "pipe_parallel_size",
                                                "model-parallel-size", "gpt-j-residual",
                                                "gpt_j_residual"};
  return std::ranges::any_of(own, [&](auto key) { return document.find(key) != nullptr; });
}

JobScenario neox_scenario(const Value& document, const std::string& file,
                          std::optional<std::int64_t> gpus, const OverJob& over,
                          Complaints& complaints) {
  const auto keys = keys_of(document);
  FrameworkJob job;
  job.over = over;
  job.launcher = launcher_of(keys, gpus);
  job.arguments = flags_of(keys, complaints);
  constexpr auto no_batch =
      "train_batch_size is not given, so it is train_micro_batch_size_per_gpu x "
      "gradient_accumulation_steps x data-parallel ranks, which follow from num_gpus x num_nodes "
      "or --env WORLD_SIZE=N";
  return megatron_scenario(
      job, file, complaints,
      {table_name, "megatron-deepspeed", add_neox, false, nullptr, false, no_batch});
}

}  // namespace scenarios
