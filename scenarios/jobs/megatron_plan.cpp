// SPDX-License-Identifier: Apache-2.0
// Degrees, stages and sharding of a Megatron-LM job.
#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/layer_pattern.hpp"
#include "scenarios/jobs/megatron.hpp"

namespace scenarios {
namespace {

void read_expert_tensor(MegatronJob& job) {
  const auto& given = job.given;
  if (job.fork) {
    const auto* divides = "--enable-expert-tensor-parallelism";
    job.draft.whole("plan.expert_tensor", given.has(divides) ? job.tensor : 1, {divides});
    return;
  }
  const auto* name = "--expert-tensor-parallel-size";
  job.draft.whole("plan.expert_tensor", given.whole_or(name, job.tensor), {name},
                  given.has(name) ? "" : "the tensor degree");
}

void read_context_method(MegatronJob& job) {
  if (job.context == 1) return;
  const auto& given = job.given;
  const auto kinds = given.words("--cp-comm-type");
  const auto kind = kinds.empty() ? std::string("p2p") : kinds.front();
  if (std::ranges::any_of(kinds, [&](const auto& one) { return one != kind; }))
    given.refuse("--cp-comm-type", "one way for all layers can be forecast");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> words{
      {{"p2p", "ring"}, {"a2a", "ulysses"}, {"all_gather", "all-gather"}}};
  const auto plain = kind == "allgather" ? std::string("all_gather") : kind;
  const auto* known = std::ranges::find(words, plain, [](const auto& pair) { return pair.first; });
  if (kind == "a2a+p2p") {
    job.draft.text("plan.context_method", "ring", {"--cp-comm-type"});
    job.draft.partly(
        "--cp-comm-type",
        "heads are exchanged inside of smaller groups; the forecast has a ring of all");
  } else if (known == words.end())
    given.refuse("--cp-comm-type", "expected p2p, a2a, all_gather or a2a+p2p");
  else
    job.draft.text("plan.context_method", std::string(known->second), {"--cp-comm-type"});
}

// --- stages

constexpr const char* per_stage = "plan.layers_per_stage";
constexpr const char* chunks_key = "plan.virtual_stages";

struct Interleaving {
  std::int64_t chunks = 1;
  const char* from = "";  // the argument that says it
};

// Returns the number of layers to divide among stages; embedding and loss may count as one each.
std::int64_t slots_of(const MegatronJob& job) {
  return job.layers + (job.given.has("--account-for-embedding-in-pipeline-split") ? 1 : 0) +
         (job.given.has("--account-for-loss-in-pipeline-split") ? 1 : 0);
}

// The ranks of the pipeline that have layers. Older releases give the embedding the first one
// alone.
std::int64_t ranks_with_layers(const MegatronJob& job) {
  return job.pipeline - (job.pipeline > 1 && job.given.has("--standalone-embedding-stage") ? 1 : 0);
}

Interleaving interleaving_of(const MegatronJob& job) {
  const auto& given = job.given;
  if (const auto chunks = given.whole("--num-virtual-stages-per-pipeline-rank"))
    return {std::max<std::int64_t>(1, *chunks), "--num-virtual-stages-per-pipeline-rank"};
  const auto* name = "--num-layers-per-virtual-pipeline-stage";
  const auto layers = given.whole(name);
  if (!layers || job.layers == 0) return {};
  const auto slots = slots_of(job), ranks = ranks_with_layers(job);
  if (*layers == 0 || slots % (*layers * ranks) != 0) {
    given.complain(name, std::to_string(slots) + " layers do not fall into stages of " +
                             std::to_string(*layers) + " on " + std::to_string(ranks) +
                             " pipeline ranks");
    return {};
  }
  return {slots / ranks / *layers, name};
}

void set_schedule(MegatronJob& job, std::int64_t chunks, const char* from) {
  auto& draft = job.draft;
  job.chunks = chunks;
  if (chunks == 1) {
    draft.text("plan.schedule", "1f1b", {"--pipeline-model-parallel-size"});
    draft.yes_no("plan.overlap.pipeline", false, {"--pipeline-model-parallel-size"},
                 "transfers run beside computation with virtual stages only");
    return;
  }
  draft.text("plan.schedule", "interleaved", {from});
  draft.whole(chunks_key, chunks, {from});
  if (job.given.has("--no-overlap-p2p-communication"))
    draft.yes_no("plan.overlap.pipeline", false, {"--no-overlap-p2p-communication"});
}

// Returns the reason why the text is no layout. Quotes inside of a quoted text of a shell are part
// of the words that become of it.
std::string layout_trouble(std::string_view text) {
  const bool quoted = text.find_first_of("'\"") != text.npos;
  return "expected a layout such as Et*3|(tt|)*6mL" +
         std::string(quoted
                         ? "; the quotes around it are part of it here, inside of another quoted "
                           "text: leave them out"
                         : "");
}

void read_layout(MegatronJob& job) {
  const auto* name = "--pipeline-model-parallel-layout";
  const auto text = job.given.word(name);
  if (!text) return;
  const auto layout = stage_layout(*text);
  const auto parts = layout ? static_cast<std::int64_t>(layout->layers.size()) : 0;
  if (!layout || parts % job.pipeline != 0) {
    job.given.complain(name, layout ? std::to_string(parts) + " stages do not divide over " +
                                          std::to_string(job.pipeline) + " pipeline ranks"
                                    : layout_trouble(*text));
    return;
  }
  std::int64_t layers = 0;
  for (const auto stage : layout->layers) layers += stage;
  if (job.layers > 0 && layers != job.layers)
    job.given.complain(
        name, "it has " + std::to_string(layers) + " layers of " + std::to_string(job.layers));
  set_schedule(job, parts / job.pipeline, name);
  job.draft.set(per_stage, job_list(layout->layers), {name});
  if (layout->predictions > 0 && layout->apart)
    job.draft.partly(name,
                     "its prediction modules (m) stand on another stage than the loss (L); the "
                     "forecast has them beside the loss");
}

// Reads the layers of stages by rule: equally many each, but the first and last may have their own
// number.
void read_split(MegatronJob& job, const Interleaving& interleaving) {
  const auto& given = job.given;
  const auto first = given.whole("--decoder-first-pipeline-num-layers"),
             last = given.whole("--decoder-last-pipeline-num-layers");
  const auto between = job.pipeline - (first ? 1 : 0) - (last ? 1 : 0);
  const auto left = job.layers - first.value_or(0) - last.value_or(0);
  const auto* name =
      first ? "--decoder-first-pipeline-num-layers" : "--decoder-last-pipeline-num-layers";
  const auto chunks = interleaving.chunks;
  const bool fits = left >= 0 && (between == 0 ? left == 0 : left % (between * chunks) == 0) &&
                    first.value_or(0) % chunks == 0 && last.value_or(0) % chunks == 0;
  if (!fits) {
    given.complain(name, "the other layers do not fall evenly on the other stages");
    return;
  }
  std::vector<std::int64_t> stages;
  for (std::int64_t v = 0; v < chunks; ++v)
    for (std::int64_t rank = 0; rank < job.pipeline; ++rank) {
      const auto of_rank = rank == 0 && first                 ? *first
                           : rank == job.pipeline - 1 && last ? *last
                                                              : left / between;
      stages.push_back(of_rank / chunks);
    }
  job.draft.set(per_stage, job_list(stages),
                {"--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers"});
}

// Reads the layers of stages of which those of the first rank have the embedding alone.
void read_standalone(MegatronJob& job, std::int64_t chunks) {
  const auto* name = "--standalone-embedding-stage";
  const auto stages = ranks_with_layers(job) * chunks;
  if (job.layers % stages != 0) {
    job.given.complain(name, std::to_string(job.layers) + " layers do not divide over the other " +
                                 std::to_string(stages) + " stages");
    return;
  }
  std::vector<std::int64_t> layers;
  for (std::int64_t stage = 0; stage < job.pipeline * chunks; ++stage)
    layers.push_back(stage % job.pipeline == 0 ? 0 : job.layers / stages);
  job.draft.set(per_stage, job_list(layers), {name});
}

void read_accounted(MegatronJob& job, std::int64_t chunks) {
  const auto& given = job.given;
  const auto stages = job.pipeline * chunks, slots = slots_of(job);
  if (slots == job.layers || job.layers == 0) return;
  const auto* name = given.has("--account-for-embedding-in-pipeline-split")
                         ? "--account-for-embedding-in-pipeline-split"
                         : "--account-for-loss-in-pipeline-split";
  if (slots % stages != 0) {
    given.complain(name, std::to_string(slots) +
                             " layers, embedding and loss counted, do not "
                             "divide over " +
                             std::to_string(stages) + " stages");
    return;
  }
  std::vector<std::int64_t> layers(static_cast<std::size_t>(stages), slots / stages);
  if (given.has("--account-for-embedding-in-pipeline-split")) --layers.front();
  if (given.has("--account-for-loss-in-pipeline-split")) --layers.back();
  job.draft.set(
      per_stage, job_list(layers),
      {"--account-for-embedding-in-pipeline-split", "--account-for-loss-in-pipeline-split"});
}

// --- sharding

// Returns ZeRO's stage for Megatron-FSDP's word.
int stage_of_strategy(const Given& given) {
  const auto word = given.word_or("--data-parallel-sharding-strategy", "optim_grads_params");
  constexpr std::array<std::string_view, 4> words{"no_shard", "optim", "optim_grads",
                                                  "optim_grads_params"};
  const auto* found = std::ranges::find(words, word);
  if (found == words.end())
    given.complain("--data-parallel-sharding-strategy",
                   "expected no_shard, optim, optim_grads or optim_grads_params");
  return found == words.end() ? 3 : static_cast<int>(found - words.begin());
}

// Returns ZeRO's stage; 0 if it is given in DeepSpeed's file.
int read_zero(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  int zero = 0;
  if (job.fork && (given.has("--deepspeed") || given.has("--deepspeed_config"))) {
    zero = read_megatron_engine_zero(job);
  } else if (given.has("--zero-stage")) {
    zero = static_cast<int>(std::min<std::int64_t>(3, given.whole_or("--zero-stage", 0)));
    draft.whole("plan.zero", zero, {"--zero-stage"});
  } else if (given.has("--use-torch-fsdp2")) {
    zero = given.has("--torch-fsdp2-no-reshard-after-forward") ? 2 : 3;
    draft.whole("plan.zero", zero, {"--use-torch-fsdp2", "--torch-fsdp2-no-reshard-after-forward"});
    for (const auto* key : {"software.copies_parameters", "software.copies_gradients"})
      draft.yes_no(key, true, {"--use-torch-fsdp2"}, "FSDP 2");
  } else if (given.has("--use-megatron-fsdp") || given.has("--use-custom-fsdp")) {
    zero = stage_of_strategy(given);
    draft.whole("plan.zero", zero,
                {"--use-megatron-fsdp", "--use-custom-fsdp", "--data-parallel-sharding-strategy"});
  } else {
    const bool whole_tensors = given.word_or("--optimizer", "adam") == "dist_muon";
    zero = given.has("--use-distributed-optimizer") || whole_tensors ? 1 : 0;
    draft.whole("plan.zero", zero, {"--use-distributed-optimizer"},
                whole_tensors ? "whole tensors of Muon" : "");
  }
  return zero;
}

void read_overlap(MegatronJob& job, bool shards_gradients, bool shards_parameters) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto set = [&](const char* key, bool always, const char* flag) {
    if (always)
      draft.yes_no(key, true, {"--use-megatron-fsdp", "--use-custom-fsdp", "--use-torch-fsdp2"},
                   "layer by layer");
    else
      draft.yes_no(key, given.has(flag), {flag});
  };
  set("plan.overlap.data", shards_gradients, "--overlap-grad-reduce");
  set("plan.overlap.parameters", shards_parameters, "--overlap-param-gather");
  if (job.expert > 1 && given.has("--overlap-moe-expert-parallel-comm"))
    draft.yes_no("plan.overlap.expert", true, {"--overlap-moe-expert-parallel-comm"});
  if (job.tensor > 1 && given.has("--tp-comm-overlap"))
    draft.text("software.tensor_overlap", "pipelined", {"--tp-comm-overlap"});
}

void read_bucket(MegatronJob& job) {
  const auto& given = job.given;
  const auto* name =
      given.has("--ddp-bucket-size") ? "--ddp-bucket-size" : "--suggested-communication-unit-size";
  const auto elements = given.whole(name);
  if (!elements) return;
  const bool small = given.has("--grad-reduce-in-bf16") ||
                     (given.has("--fp16") && !given.has("--accumulate-allreduce-grads-in-fp32"));
  job.draft.whole("plan.bucket", *elements * (small ? 2 : 4), {name}, "bytes of its gradients");
}

void read_instances(MegatronJob& job) {
  const auto* name = "--num-distributed-optimizer-instances";
  const auto instances = job.given.whole_or(name, 1);
  if (instances <= 1) return;
  std::optional<std::int64_t> sharers;
  if (job.gpus) sharers = *job.gpus / job.tensor / job.pipeline;
  set_shard_group(job.draft, job.given, sharers, instances, {name});
}

}  // namespace

void read_megatron_degrees(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  for (const auto* removed : {"--model-parallel-size", "--batch-size"})
    if (given.has(removed))
      given.complain(removed,
                     "Megatron-LM has removed it; write --tensor-model-parallel-size or "
                     "--micro-batch-size");
  job.tensor = job.given.degree("--tensor-model-parallel-size");
  job.pipeline = job.given.degree("--pipeline-model-parallel-size");
  job.context = job.given.degree("--context-parallel-size");
  const auto* expert = job.fork ? "--moe-expert-parallel-size" : "--expert-model-parallel-size";
  job.expert = job.given.degree(expert);
  job.tensor = draft.whole("plan.tensor", job.tensor, {"--tensor-model-parallel-size"});
  job.pipeline = draft.whole("plan.pipeline", job.pipeline, {"--pipeline-model-parallel-size"});
  if (const auto parts = given.whole_or("--ds-sequence-parallel-size", 1); parts > 1) {
    job.context = draft.whole("plan.context", parts, {"--ds-sequence-parallel-size"});
    draft.text("plan.context_method", "ulysses", {"--ds-sequence-parallel-size"});
  } else {
    job.context = draft.whole("plan.context", job.context, {"--context-parallel-size"});
    read_context_method(job);
  }
  if (job.experts > 0 || (job.of_recipe && job.expert > 1)) {
    draft.whole("plan.expert", job.expert, {expert});
    read_expert_tensor(job);
  } else if (job.expert > 1 && !job.fork) {
    given.complain(expert, "there are no experts; give --num-experts");
  }
  if (job.tensor > 1)
    draft.yes_no("plan.sequence_parallel", given.has("--sequence-parallel"),
                 {"--sequence-parallel"});
  draft.whole("plan.micro_batch", given.whole_or("--micro-batch-size", 1), {"--micro-batch-size"});
  if (given.has("--use-tp-pp-dp-mapping"))
    draft.text("plan.rank_order", "tp-cp-ep-pp-dp", {"--use-tp-pp-dp-mapping"});
}

void read_megatron_stages(MegatronJob& job) {
  const auto& given = job.given;
  if (job.pipeline == 1) return;
  if (given.has("--pipeline-model-parallel-layout")) {
    read_layout(job);
    return;
  }
  const auto interleaving = interleaving_of(job);
  set_schedule(job, interleaving.chunks, interleaving.from);
  if (job.layers == 0) return;
  if (given.has("--decoder-first-pipeline-num-layers") ||
      given.has("--decoder-last-pipeline-num-layers"))
    read_split(job, interleaving);
  else if (given.has("--standalone-embedding-stage"))
    read_standalone(job, interleaving.chunks);
  else
    read_accounted(job, interleaving.chunks);
}

void check_megatron_stages(const MegatronJob& job) {
  // Whose own rules say whether layers fall on stages.
  constexpr std::array<const char*, 7> others{"--decoder-first-pipeline-num-layers",
                                              "--decoder-last-pipeline-num-layers",
                                              "--account-for-embedding-in-pipeline-split",
                                              "--account-for-loss-in-pipeline-split",
                                              "--standalone-embedding-stage",
                                              "--pipeline-model-parallel-layout",
                                              "--num-layers-per-virtual-pipeline-stage"};
  constexpr std::array<const char*, 4> mending{"plan.pipeline", per_stage, chunks_key,
                                               "model.layers"};
  const auto stages = job.pipeline * job.chunks;
  const bool mended = std::ranges::any_of(
      mending, [&](const char* key) { return job.draft.over().values.contains(key); });
  const bool elsewhere =
      std::ranges::any_of(others, [&](const char* name) { return job.given.has(name); });
  // A recipe may divide layers in its program.
  if (job.layers % stages == 0 || job.draft.sets(per_stage) || mended || elsewhere || job.of_recipe)
    return;
  job.given.complain(
      "--num-layers",
      std::to_string(job.layers) + " layers do not divide over " + std::to_string(stages) +
          " stages (" + std::to_string(job.pipeline) + " pipeline ranks x " +
          std::to_string(job.chunks) +
          " virtual stages), with which Megatron-LM does not start; add "
          "--decoder-first-pipeline-num-layers N or --decoder-last-pipeline-num-layers N, or "
          "--pipeline-model-parallel-layout");
}

void read_megatron_sharding(MegatronJob& job) {
  const auto& given = job.given;
  const bool fsdp = given.has("--use-megatron-fsdp") || given.has("--use-custom-fsdp") ||
                    given.has("--use-torch-fsdp2");
  const auto zero = read_zero(job);
  const bool torch = given.has("--use-torch-fsdp2");
  read_overlap(job, fsdp && zero >= 2, (fsdp && zero == 3) || torch);
  read_megatron_engine_defaults(job);
  read_bucket(job);
  read_instances(job);
  if (given.has("--cpu-optimizer"))
    job.draft.text("plan.offload.optimizer", "cpu", {"--cpu-optimizer"});
}

}  // namespace scenarios
