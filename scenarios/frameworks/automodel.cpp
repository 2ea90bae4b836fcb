// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/automodel.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/keys_as_flags.hpp"
#include "scenarios/jobs/named_model.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

struct Recipe {
  const Given& given;
  Draft& draft;
  std::optional<std::int64_t> gpus;

  std::int64_t degree(const char* name) const {
    const auto* argument = given.find(name);
    if (argument == nullptr || is_off(*argument)) return 1;
    return std::max<std::int64_t>(1, given.whole_or(name, 1));
  }
  bool yes(const char* name) const { return given.yes(name); }
};

// Reads the sizes that are given beside the model's name, which from_pretrained puts into its
// configuration.
void read_sizes_of(Recipe& recipe) {
  constexpr std::array<std::pair<const char*, const char*>, 6> sizes{
      {{"model.config.num_hidden_layers", "model.layers"},
       {"model.config.hidden_size", "model.hidden"},
       {"model.config.num_attention_heads", "model.heads"},
       {"model.config.num_key_value_heads", "model.kv_heads"},
       {"model.config.intermediate_size", "model.ffn"},
       {"model.config.vocab_size", "model.vocab"}}};
  for (const auto& [name, key] : sizes)
    if (const auto size = recipe.given.whole(name)) recipe.draft.whole(key, *size, {name});
}

void read_degrees_of(Recipe& recipe) {
  auto& draft = recipe.draft;
  const auto tensor = recipe.degree("distributed.tp_size"),
             context = recipe.degree("distributed.cp_size"),
             expert = recipe.degree("distributed.ep_size");
  draft.whole("plan.tensor", tensor, {"distributed.tp_size"});
  if (tensor > 1)
    draft.yes_no("plan.sequence_parallel", recipe.yes("distributed.sequence_parallel"),
                 {"distributed.sequence_parallel"});
  draft.whole("plan.context", context, {"distributed.cp_size"});
  if (context > 1) draft.text("plan.context_method", "ring", {"distributed.cp_size"});
  if (expert > 1) draft.whole("plan.expert", expert, {"distributed.ep_size"});
}

void read_pipeline_of(Recipe& recipe) {
  const auto& given = recipe.given;
  auto& draft = recipe.draft;
  constexpr const char *degree = "distributed.pp_size", *kind = "distributed.pipeline.pp_schedule",
                       *each = "distributed.pipeline.layers_per_stage",
                       *micro = "distributed.pipeline.pp_microbatch_size",
                       *local = "step_scheduler.local_batch_size";
  const auto stages = recipe.degree(degree);
  draft.whole("plan.pipeline", stages, {degree});
  if (stages > 1)
    draft.whole("plan.micro_batch", given.whole_or(micro, 1), {micro});
  else
    draft.whole("plan.micro_batch", given.whole_or(local, 1), {local});
  if (stages == 1) return;
  const auto word = units::lower_case(given.word_or(kind, "1f1b"));
  if (word != "1f1b" && word != "gpipe" && word != "interleaved1f1b") {
    given.refuse(kind, "this schedule is not modelled; expected 1f1b, gpipe or interleaved1f1b");
    return;
  }
  draft.text("plan.schedule", word == "interleaved1f1b" ? "interleaved" : word, {kind});
  if (word != "interleaved1f1b") return;
  const auto* model = named_model(given.word_or("model.config.pretrained_model_name_or_path", ""));
  const auto* layers = model == nullptr ? nullptr : model->find("layers");
  const auto count = layers == nullptr ? 0 : std::atoll(layers->text.c_str());
  const auto of_stage = std::max<std::int64_t>(1, given.whole_or(each, 1));
  const auto parts = (count + of_stage - 1) / of_stage;
  const auto chunks =
      given.word_or("distributed.pipeline.round_virtual_stages_to_pp_multiple", "down") == "up"
          ? (parts + stages - 1) / stages
          : parts / stages;
  draft.whole("plan.virtual_stages", std::max<std::int64_t>(2, chunks), {each, kind},
              "layers / layers per stage / ranks");
}

void read_kernels_of(Recipe& recipe) {
  const auto& given = recipe.given;
  auto& draft = recipe.draft;
  constexpr const char *attention = "model.backend.attn", *sent = "model.backend.dispatcher",
                       *recipe8 = "model.backend.te_fp8.recipe", *type = "optimizer._target_";
  if (const auto kind = given.word_or(attention, ""); !kind.empty())
    draft.text("software.attention", kind == "te" ? "fused" : "flash", {attention});
  constexpr const char* deepep = "model.backend.enable_deepep";  // its older name
  const auto by = given.word_or(sent, recipe.yes(deepep) ? "deepep" : "torch");
  if (recipe.degree("distributed.ep_size") > 1)
    draft.text("software.moe_dispatcher",
               by == "deepep" || by == "hybridep" ? by : std::string("all-to-all"), {sent, deepep});
  if (recipe.yes("model.backend.rope_fusion"))
    draft.yes_no("software.fused_rotary", true, {"model.backend.rope_fusion"});
  const auto fp8 = given.word_or(recipe8, "");
  draft.text("training.precision",
             fp8.empty()      ? "bf16"
             : fp8 == "mxfp8" ? "mxfp8"
                              : "fp8",
             {recipe8});
  const auto optimizer = given.word_or(type, "torch.optim.AdamW");
  if (optimizer.ends_with("AdamW") || optimizer.ends_with("FusedAdam"))
    draft.text("training.optimizer", "adamw", {type});
  else if (optimizer.ends_with("Adam"))
    draft.text("training.optimizer", "adam", {type});
  else
    given.refuse(type, "this optimizer is not modelled; expected Adam or AdamW of torch.optim");
}

// Reads the type of weights, in which FSDP2 keeps gradients and Adam's moments, too. Unless it is
// told, it is the checkpoint's, which is bf16 for the models that recipes name (from memory).
void read_states_of(Recipe& recipe) {
  constexpr const char* name = "model.torch_dtype";
  auto word = units::lower_case(recipe.given.word_or(name, "auto"));
  word.erase(0, word.rfind('.') + 1);  // torch.bfloat16
  if (word == "float32" || word == "fp32" || word == "float") return;
  if (word != "auto" && word != "bfloat16" && word != "bf16") {
    recipe.given.refuse(name,
                        "weights of this type are not modelled; expected float32 or bfloat16");
    return;
  }
  constexpr const char* note = "weights, gradients and moments are in bf16";
  constexpr int moments = 2, bytes = 2;
  recipe.draft.text("plan.gradient_precision", "bf16", {name}, note);
  recipe.draft.whole("software.optimizer_bytes", bytes * moments, {name}, note);
  // Weights and moments are read and written, gradients read.
  recipe.draft.whole("software.optimizer_traffic", 2 * bytes * (1 + moments) + bytes, {name}, note);
}

void read_sharding_of(Recipe& recipe) {
  const auto& given = recipe.given;
  auto& draft = recipe.draft;
  const auto* kind = "distributed.strategy";
  const auto word = given.word_or(kind, "fsdp2");
  if (word != "fsdp2" && word != "megatron_fsdp" && word != "ddp")
    given.complain(kind, "expected fsdp2, megatron_fsdp or ddp");
  draft.whole("plan.zero", word == "ddp" ? 0 : 3, {kind});
  constexpr const char *replicas = "distributed.dp_replicate_size", *data = "distributed.dp_size";
  if (const auto copies = recipe.degree(replicas); word != "ddp" && copies > 1) {
    std::optional<std::int64_t> sharers;
    if (recipe.gpus)
      sharers = *recipe.gpus / recipe.degree("distributed.tp_size") /
                recipe.degree("distributed.pp_size");
    else if (const auto told = recipe.degree(data); told > 1)
      sharers = told * recipe.degree("distributed.cp_size");
    set_shard_group(draft, given, sharers, copies, {replicas, data});
  }
  if (recipe.yes("distributed.activation_checkpointing"))
    draft.text("plan.recompute", "full", {"distributed.activation_checkpointing"});
  draft.text("software.base", "fsdp", {}, "the framework");
  draft.yes_no("software.copies_parameters", true, {}, "FSDP 2");
}

void read_lengths_of(Recipe& recipe) {
  const auto& given = recipe.given;
  const auto *length = "dataset.seq_len", *batch = "step_scheduler.global_batch_size";
  const auto* packed = "packed_sequence.packed_sequence_size";
  if (given.has(length))
    recipe.draft.whole("training.sequence_length", given.whole_or(length, 1), {length});
  else if (given.whole_or(packed, 0) > 0)
    recipe.draft.whole("training.sequence_length", given.whole_or(packed, 1), {packed});
  else
    recipe.draft.want("training.sequence_length",
                      "the length of sequences is that of the data; add --set "
                      "training.sequence_length=N");
  if (given.has(batch))
    recipe.draft.whole("training.global_batch", given.whole_or(batch, 1), {batch});
  else
    recipe.draft.want("training.global_batch",
                      "step_scheduler.global_batch_size is not given; add --set "
                      "training.global_batch=N");
}

}  // namespace

bool is_automodel(const Value& document) {
  const auto* model = document.find("model");
  const auto* target = model == nullptr ? nullptr : model->find("_target_");
  return document.find("step_scheduler") != nullptr && target != nullptr &&
         target->text.find("nemo_automodel") != target->text.npos;
}

JobScenario automodel_scenario(const FrameworkJob& job, const std::string& file,
                               std::optional<std::int64_t> gpus, Complaints& complaints) {
  const Given given(arguments_of("automodel"), job.arguments, complaints);
  complaints.throw_if_any();  // what is missing beside matters to nobody then
  Draft draft(given, job.over);
  Recipe recipe{given, draft, gpus};
  set_named_model(draft, given, "model.config.pretrained_model_name_or_path");
  read_sizes_of(recipe);
  read_lengths_of(recipe);
  read_degrees_of(recipe);
  read_pipeline_of(recipe);
  read_kernels_of(recipe);
  read_states_of(recipe);
  read_sharding_of(recipe);
  return std::move(draft).finished(job.arguments, file);
}

}  // namespace scenarios
