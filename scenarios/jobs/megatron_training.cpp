// SPDX-License-Identifier: Apache-2.0
// Batch, precision, kernels and kept activations of a Megatron-LM job.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "scenarios/jobs/megatron.hpp"

namespace scenarios {
namespace {

// Returns the batch at the end of a schedule such as "0:384 200B:768 400B:1152".
std::optional<std::int64_t> last_batch(const std::vector<std::string>& schedule) {
  if (schedule.empty()) return {};
  const auto& last = schedule.back();
  const auto colon = last.find(':');
  std::int64_t batch = 0;
  for (const char c :
       colon == last.npos ? std::string_view() : std::string_view(last).substr(colon + 1)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 || batch > (1 << 24)) return {};
    batch = batch * 10 + (c - '0');
  }
  return batch > 0 ? std::optional(batch) : std::nullopt;
}

void read_batch(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  if (const auto batch = given.whole("--global-batch-size")) {
    draft.whole("training.global_batch", *batch, {"--global-batch-size", "--rampup-batch-size"},
                given.has("--rampup-batch-size") ? "once it is ramped up" : "");
  } else if (given.has("--step-batch-size-schedule")) {
    if (const auto last = last_batch(given.words("--step-batch-size-schedule")))
      draft.whole("training.global_batch", *last, {"--step-batch-size-schedule"},
                  "the last batch of the schedule");
    else
      given.complain("--step-batch-size-schedule", "expected TOKENS:BATCH TOKENS:BATCH …");
  } else {
    draft.want("training.global_batch",
               std::string(job.no_batch) + "; add --set training.global_batch=N");
  }
}

void read_length(MegatronJob& job) {
  const auto& given = job.given;
  const auto* name = given.has("--seq-length") ? "--seq-length" : "--encoder-seq-length";
  if (const auto length = given.whole(name))
    job.draft.whole("training.sequence_length", *length, {name});
  else if (!given.has(name))
    job.draft.want("training.sequence_length",
                   "--seq-length is not given; add --set training.sequence_length=N");
}

void read_optimizer(MegatronJob& job) {
  const auto& given = job.given;
  const auto word = given.word_or("--optimizer", "adam");
  const auto decay = given.number("--weight-decay").value_or(0.01);
  if (word == "adam" || word == "hybridadam")
    job.draft.text("training.optimizer", "adamw", {"--optimizer"},
                   decay == 0 ? "" : "its weight decay is decoupled");
  else if (word == "muon" || word == "dist_muon" || word == "sgd")
    job.draft.text("training.optimizer", word == "sgd" ? "sgd" : "muon", {"--optimizer"});
  else
    given.refuse("--optimizer", "expected adam, sgd, muon or dist_muon");
}

// Sets gradients of fp16, which are summed and kept as wide as the parameters.
void read_narrow_gradients(MegatronJob& job) {
  const Draft::Names from{"--accumulate-allreduce-grads-in-fp32", "--fp16"};
  constexpr const char* why = "as the parameters";
  job.draft.text("software.gradient_precision", "fp16", from, why);
  job.draft.whole("software.gradient_bytes", 2, from, why);
}

void read_gradients(MegatronJob& job) {
  const auto& given = job.given;
  const bool wide = given.has("--accumulate-allreduce-grads-in-fp32");
  if (given.has("--grad-reduce-in-bf16"))
    job.draft.text("plan.gradient_precision", "bf16", {"--grad-reduce-in-bf16"});
  else if (wide && (given.has("--bf16") || given.has("--fp16")))
    job.draft.text("plan.gradient_precision", "fp32", {"--accumulate-allreduce-grads-in-fp32"});
  else if (given.has("--fp16"))
    read_narrow_gradients(job);
}

// Returns the bytes of a moment of that type of --exp-avg-dtype or --exp-avg-sq-dtype; nothing
// after a complaint. Scales of fp8 and fp16, one for a whole tensor, are left out.
std::optional<int> moment_bytes(const Given& given, const char* name) {
  auto word = given.word_or(name, "fp32");
  word.erase(0, word.rfind('.') + 1);  // torch.bfloat16
  if (word == "fp32" || word == "float32") return 4;
  if (word == "fp16" || word == "float16" || word == "bf16" || word == "bfloat16") return 2;
  if (word == "fp8" || word == "uint8") return 1;
  given.complain(name, "expected fp32, fp16, bf16 or fp8");
  return {};
}

// Sets the types of the states of Transformer Engine's Adam, which may be narrower than fp32.
// Megatron-Core takes gradients of bf16 for main ones where these are (from memory).
void read_narrow_states(MegatronJob& job) {
  constexpr const char *aware = "--use-precision-aware-optimizer", *mean = "--exp-avg-dtype",
                       *square = "--exp-avg-sq-dtype", *gradients = "--main-grads-dtype",
                       *parameters = "--main-params-dtype";
  const auto& given = job.given;
  for (const auto* type : {gradients, mean, square})
    if (given.word_or(type, "").ends_with("32")) job.draft.unused(type, "fp32, as forecast");
  if (!given.has(aware)) return;
  if (given.word_or(parameters, "fp32") == "fp16")
    job.draft.text("plan.master_weights", "fp16", {parameters, aware});
  if (given.word_or(gradients, "fp32").ends_with("16"))
    job.draft.text("plan.gradient_precision", "bf16", {gradients, aware});
  const auto first = moment_bytes(given, mean), second = moment_bytes(given, square);
  constexpr int wide = 4, states = 3 * wide;  // master copy and two moments
  if (!first || !second || *first + *second == 2 * wide) return;
  const int saved = 2 * wide - *first - *second;
  const auto note =
      "moments of " + std::to_string(*first) + " and " + std::to_string(*second) + " bytes";
  job.draft.whole("software.optimizer_bytes", states - saved, {mean, square, aware}, note);
  job.draft.whole("software.optimizer_traffic", job.optimizer_traffic - 2 * saved,
                  {mean, square, aware}, note + ", read and written");
}

// --- recomputation and offloading

constexpr std::array<std::string_view, 7> modules{
    "core_attn", "layernorm", "moe_act", "mla_up_proj", "mlp", "moe", "shared_experts"};

void read_selective(MegatronJob& job, Draft::Names from) {
  const auto& given = job.given;
  auto named = given.words("--recompute-modules");
  if (named.empty()) named = {given.has("--moe-layer-recompute") ? "moe" : "core_attn"};
  for (const auto& module : named)
    if (std::ranges::find(modules, module) == modules.end()) {
      given.refuse("--recompute-modules",
                   "'" + module +
                       "' is not modelled; expected core_attn, layernorm, moe_act, "
                       "mla_up_proj, mlp, moe or shared_experts");
      return;
    }
  Value map;
  map.kind = Value::Kind::map;
  map.members.push_back({job_text("selective"), job_words(named)});
  job.draft.set("plan.recompute", std::move(map), from);
}

// Sets that whole layers are recomputed: "block", the first `layers` of a stage, or "uniform", all,
// so many at once.
void set_full(MegatronJob& job, std::string_view method, std::int64_t layers, Draft::Names from) {
  if (layers == 0 || (method == "uniform" && layers == 1)) {
    job.draft.text("plan.recompute", layers == 0 ? "none" : "full", from);
    return;
  }
  // A virtual stage recomputes no more layers than it has, a rank no more than the model.
  const auto stages_of_all = job.pipeline * job.chunks;
  const auto of_stage = job.layers == 0  ? layers
                        : job.chunks > 1 ? (job.layers + stages_of_all - 1) / stages_of_all
                                         : job.layers;
  const auto count = method == "block" ? std::min(layers, of_stage) : layers;
  Value map;
  map.kind = Value::Kind::map;
  map.members.push_back(
      {job_text(method == "block" ? "full_layers" : "checkpoint_every"), job_whole(count)});
  constexpr std::int64_t most_stages = 10'000;
  if (method == "uniform" || job.chunks == 1 || stages_of_all > most_stages) {
    job.draft.set("plan.recompute", std::move(map), from);
    return;
  }
  Value stages;
  stages.kind = Value::Kind::list;
  stages.items.assign(static_cast<std::size_t>(stages_of_all), map);
  job.draft.set("plan.recompute", std::move(stages), from, "of every virtual stage");
}

bool is_method(std::string_view word) { return word == "uniform" || word == "block"; }

void read_full(MegatronJob& job) {
  const auto& given = job.given;
  const auto method = given.word_or("--recompute-method", "");
  auto layers = given.whole("--recompute-num-layers");
  if (!layers && job.fork) layers = 1;  // its default; Megatron-LM has none
  const bool misread = !layers && given.has("--recompute-num-layers");
  if (is_method(method) && misread) return;  // the number has a complaint of its own
  if (!is_method(method) || !layers || (*layers == 0 && method == "uniform"))
    given.complain("--recompute-granularity",
                   "full needs --recompute-method uniform or block, and --recompute-num-layers");
  else
    set_full(job, method, *layers,
             {"--recompute-granularity", "--recompute-method", "--recompute-num-layers"});
}

// Returns the layers that an older release recomputes at once, or complains.
std::int64_t older_layers(const Given& given, const char* name, bool may_be_none) {
  const auto layers = given.whole_or(name, 1);
  if (layers == 0 && !may_be_none) given.complain(name, "it must be at least 1");
  return layers;
}

// Reads recomputation as releases before core_v0.1 and the forks for DeepSpeed name it; returns
// whether they do.
bool read_older_recompute(MegatronJob& job) {
  const auto& given = job.given;
  const auto *method = "--activations-checkpoint-method",
             *layers = "--activations-checkpoint-num-layers";
  if (given.has("--checkpoint-activations")) {
    const auto* count = "--checkpoint-num-layers";
    set_full(job, "uniform", older_layers(given, count, false),
             {"--checkpoint-activations", count});
    return true;
  }
  if (!given.has(method)) return false;
  const auto word = given.word_or(method, "");
  if (is_method(word))
    set_full(job, word, older_layers(given, layers, word == "block"), {method, layers});
  else
    given.complain(method, "expected uniform or block");
  return true;
}

void read_recompute(MegatronJob& job) {
  const auto& given = job.given;
  if (read_older_recompute(job)) return;
  auto granularity = given.word_or("--recompute-granularity", "");
  if (given.has("--recompute-activations") || given.has("--moe-layer-recompute"))
    granularity = "selective";
  const Draft::Names from{"--recompute-granularity", "--recompute-activations",
                          "--recompute-modules", "--moe-layer-recompute"};
  if (granularity == "selective")
    read_selective(job, from);
  else if (granularity == "full")
    read_full(job);
  else if (!granularity.empty())
    given.complain("--recompute-granularity", "expected full or selective");
}

void read_offload(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto* part = "--optimizer-offload-fraction";
  const auto offloaded = given.number(part);
  // Pai-Megatron's optimizer has the share of the states on the host that the fraction says.
  const bool hybrid = given.word_or("--optimizer", "adam") == "hybridadam" &&
                      given.word_or("--optimizer-offload-policy", "static") == "static" &&
                      offloaded.value_or(0) > 0;
  if (given.has("--optimizer-cpu-offload") || hybrid)
    draft.text("plan.offload.optimizer", "cpu",
               {"--optimizer-cpu-offload", part, "--optimizer-offload-policy"});
  if (draft.sets("plan.offload.optimizer") && offloaded.value_or(1) < 1)
    draft.partly(part, "a part is offloaded; the forecast offloads all of it");
  if (const auto layers = given.whole_or("--cpu-offloading-num-layers", 0); layers > 0) {
    draft.text("plan.offload.activations.to", "cpu", {"--cpu-offloading-num-layers"});
    draft.whole("plan.offload.activations.layers", layers, {"--cpu-offloading-num-layers"});
  }
  if (!given.has("--fine-grained-activation-offloading")) return;
  std::vector<std::string> named;
  std::string others;
  for (const auto& word : given.words("--offload-modules")) {
    const bool norm = word == "attn_norm" || word == "mlp_norm";
    const std::string module = norm ? "layernorm" : word;
    if (module != "core_attn" && module != "moe_act" && !norm)
      others += (others.empty() ? "" : ", ") + word;
    else if (std::ranges::find(named, module) == named.end())
      named.push_back(module);
  }
  std::string stays = others.empty() ? "" : "what " + others + " keep";
  if (std::ranges::find(named, "core_attn") != named.end())  // which Megatron-Core moves
    stays += std::string(stays.empty() ? "" : ", and ") +
             "what core attention reads (queries, keys, values)";
  if (!stays.empty())
    draft.partly(
        "--offload-modules",
        stays + " stays on the device in the forecast, which needs more memory and copies less");
  if (named.empty()) return;
  draft.text("plan.offload.activations.to", "cpu", {"--fine-grained-activation-offloading"});
  draft.set("plan.offload.activations.modules", job_words(named), {"--offload-modules"});
}

// --- kernels

constexpr const char *flash_variable = "ENV_VARS.NVTE_FLASH_ATTN",
                     *fused_variable = "ENV_VARS.NVTE_FUSED_ATTN",
                     *unfused_variable = "ENV_VARS.NVTE_UNFUSED_ATTN";

// Returns the kernel that Transformer Engine chooses among those that no variable is 0 for:
// cuDNN's from Hopper on, else FlashAttention, and the unfused one last (Transformer Engine's
// documentation of environment variables, from memory).
std::string kernel_of_engine(const MegatronJob& job) {
  const auto allows = [&](const char* name) {
    const auto* argument = job.given.find(name);
    return argument == nullptr || job.given.whole_or(name, 1) != 0;
  };
  const bool flash = allows(flash_variable), fused = allows(fused_variable);
  if (flash && fused) return "fused-from-hopper";
  if (fused) return "fused";
  if (flash) return "flash";
  if (!allows(unfused_variable))
    job.given.complain(unfused_variable,
                       "no kernel of attention is left, as all three variables are 0; leave one of "
                       "NVTE_FLASH_ATTN, NVTE_FUSED_ATTN and NVTE_UNFUSED_ATTN at 1");
  return "unfused";
}

// Says that the variables of Transformer Engine's kernels choose nothing here.
void leave_variables(MegatronJob& job, const std::string& why) {
  for (const auto* name : {flash_variable, fused_variable, unfused_variable})
    job.draft.unused(name, why);
}

void read_attention_kernel(MegatronJob& job) {
  const auto& given = job.given;
  const auto* usual = job.fork || is_megatron_2021(given) ? "local" : "transformer_engine";
  const bool local = given.word_or("--transformer-impl", usual) == "local";
  auto word = given.word_or("--attention-backend", "auto");
  const Draft::Names from{"--attention-backend", "--flash-attention-version"};
  if (local && word != "local" && word != "unfused") {
    job.draft.text("software.attention", given.has("--use-flash-attn") ? "flash" : "unfused",
                   {"--transformer-impl", "--use-flash-attn"});
    leave_variables(job, "the local implementation does not ask Transformer Engine");
    return;
  }
  const bool told =
      given.has(flash_variable) || given.has(fused_variable) || given.has(unfused_variable);
  if (word == "local") word = "unfused";
  if (word != "auto") leave_variables(job, "--attention-backend says the kernel");
  if (word == "flash" && given.whole_or("--flash-attention-version", 2) == 3) word = "flash3";
  if (word == "flash" || word == "flash3" || word == "fused" || word == "unfused")
    job.draft.text("software.attention", word, from);
  else if (word == "auto")
    job.draft.text("software.attention", kernel_of_engine(job),
                   {"--attention-backend", flash_variable, fused_variable, unfused_variable},
                   told ? "Transformer Engine chooses among those that are left"
                        : "Transformer Engine's choice");
  else
    given.complain("--attention-backend", "expected flash, fused, unfused, local or auto");
}

// Sets the softmax that single kernels make in fp32; every fused one computes in fp32 inside.
void read_softmax(MegatronJob& job) {
  constexpr const char *wide = "--attention-softmax-in-fp32",
                       *single = "--no-masked-softmax-fusion";
  if (job.given.has(single) && job.given.has(wide))
    job.draft.yes_no("software.softmax_in_fp32", true, {wide, single});
  else if (!job.given.has(single))
    job.draft.unused(wide, "fused kernels compute it in fp32 anyhow");
}

// Transformer Engine's kernel of rotary embeddings takes no factor on sines and cosines, which YaRN
// has (Megatron-Core, models/common/embeddings/rope_utils.py, from memory); that of latent
// attention does.
bool rotates_unfused(const Given& given) {
  return given.word_or("--position-embedding-type", "") == "yarn" &&
         !given.has("--multi-latent-attention") && !given.has("--no-rope-fusion");
}

void read_fusions(MegatronJob& job) {
  const auto& given = job.given;
  struct Switch {
    const char *name, *key;
    bool value;
  };
  const char* activation = given.has("--swiglu") || given.has("--quick-geglu")
                               ? "--no-bias-swiglu-fusion"
                               : "--no-bias-gelu-fusion";
  const Switch switches[]{
      {"--no-masked-softmax-fusion", "software.fused_softmax", false},
      {activation, "software.fused_bias_activation", false},
      {"--no-bias-dropout-fusion", "software.fused_bias_dropout_add", false},
      {"--no-rope-fusion", "software.fused_rotary", false},
      {"--no-gradient-accumulation-fusion", "software.fused_gradient_accumulation", false},
      {"--cross-entropy-loss-fusion", "software.fused_cross_entropy", true}};
  for (const auto& one : switches)
    if (given.has(one.name)) job.draft.yes_no(one.key, one.value, {one.name});
  if (rotates_unfused(given))
    job.draft.yes_no("software.fused_rotary", false, {"--position-embedding-type"},
                     "Transformer Engine's kernel takes no factor of YaRN");
  read_softmax(job);
}

void read_graphs(MegatronJob& job) {
  const auto& given = job.given;
  const Draft::Names from{"--cuda-graph-impl", "--cuda-graph-modules", "--cuda-graph-scope",
                          "--enable-cuda-graph", "--external-cuda-graph"};
  const bool old = given.has("--enable-cuda-graph") || given.has("--external-cuda-graph");
  if (given.word_or("--cuda-graph-impl", "none") == "none" && !old) return;
  auto parts = given.words("--cuda-graph-modules");
  for (const auto& part : given.words("--cuda-graph-scope")) parts.push_back(part);
  std::vector<std::string> known;
  for (const auto& part : parts)
    if ((part == "attn" || part == "moe_router" || part == "moe_preprocess") &&
        std::ranges::find(known, part) == known.end())
      known.push_back(part);
  if (parts.empty() || known.empty())
    job.draft.yes_no("software.cuda_graphs", true, from);
  else
    job.draft.set("software.cuda_graphs", job_words(known), from);
  if (!known.empty() && known.size() < parts.size())
    for (const auto* name : {"--cuda-graph-modules", "--cuda-graph-scope"})
      job.draft.partly(name,
                       "attn, moe_router and moe_preprocess are forecast as graphs; the other "
                       "parts are launched kernel by kernel");
}

}  // namespace

void read_megatron_training(MegatronJob& job) {
  read_length(job);
  read_batch(job);
  read_megatron_precision(job);
  read_optimizer(job);
}

void read_megatron_memory(MegatronJob& job) {
  read_gradients(job);
  read_narrow_states(job);
  read_recompute(job);
  read_offload(job);
}

void read_megatron_kernels(MegatronJob& job) {
  read_attention_kernel(job);
  read_fusions(job);
  read_graphs(job);
}

}  // namespace scenarios
