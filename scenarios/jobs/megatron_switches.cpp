// SPDX-License-Identifier: Apache-2.0
// Switches beside each other with which Megatron-LM does not start. Those of the table are by its
// checks of arguments @d98e8a64dd, the others from memory of validate_args in arguments.py.
#include <algorithm>
#include <array>
#include <string>

#include "scenarios/jobs/megatron.hpp"

namespace scenarios {
namespace {

constexpr const char *chunk_flag = "--num-layers-per-virtual-pipeline-stage",
                     *chunks_flag = "--num-virtual-stages-per-pipeline-rank",
                     *layout_flag = "--pipeline-model-parallel-layout",
                     *parallel_flag = "--sequence-parallel",
                     *granularity_flag = "--recompute-granularity",
                     *activations_flag = "--recompute-activations";

bool divides_tensors(const Given& given) {
  return given.degree("--tensor-model-parallel-size") > 1;
}

bool recomputes_selected(const Given& given) {
  return given.has(activations_flag) || given.word_or(granularity_flag, "") == "selective";
}

// Whether layers are recomputed whole; older switches say it by themselves.
bool recomputes_whole(const Given& given) {
  return !recomputes_selected(given) &&
         (given.word_or(granularity_flag, "") == "full" ||
          given.has("--activations-checkpoint-method") || given.has("--checkpoint-activations"));
}

bool gathers_tokens(const Given& given) {  // and does not send them to their experts
  return !given.has("--moe-enable-deepep") &&
         given.word_or("--moe-token-dispatcher-type", "allgather") == "allgather";
}

bool asks_for_learned_positions(const Given& given) {
  return given.word_or("--position-embedding-type", "") == "learned_absolute" &&
         !given.has("--use-rotary-position-embeddings") && !given.has("--no-position-embedding");
}

bool runs_fsdp(const Given& given) {
  constexpr std::array<const char*, 3> switches{"--use-megatron-fsdp", "--use-custom-fsdp",
                                                "--use-torch-fsdp2"};
  return std::ranges::any_of(switches, [&](const char* name) { return given.has(name); });
}

bool divides_states(const Given& given) {
  return runs_fsdp(given) || given.has("--use-distributed-optimizer");
}

// An argument that does not go with others.
struct Contradiction {
  const char* name;
  bool (*contradicts)(const Given& given);
  const char* why;
  std::array<const char*, 3> mending;  // keys over the job that may mend it
};

constexpr const char *sends_advice = "write --moe-token-dispatcher-type alltoall, or leave it out",
                     *expert_overlap = "--overlap-moe-expert-parallel-comm",
                     *torch_fsdp = "--use-torch-fsdp2";

constexpr const char* aware = "--use-precision-aware-optimizer";

// Those of experts and of FSDP, by the rules of transformer_config.py and arguments.py
// @d98e8a64dd.
constexpr Contradiction contradictions_of_parts[]{
    {torch_fsdp,
     [](const Given& given) {
       return given.degree("--pipeline-model-parallel-size") > 1 ||
              given.degree("--expert-model-parallel-size") > 1;
     },
     "PyTorch's FSDP has neither stages nor divided experts; leave it out, or write degrees of 1",
     {"plan.pipeline", "plan.expert", "plan.zero"}},
    {torch_fsdp,
     [](const Given& given) { return given.has("--use-distributed-optimizer"); },
     "PyTorch's FSDP divides the states itself; leave --use-distributed-optimizer out, or this",
     {"plan.zero", "", ""}},
    {torch_fsdp,
     [](const Given& given) {
       return !given.has("--no-gradient-accumulation-fusion") ||
              !given.has("--untie-embeddings-and-output-weights") || given.has("--fp16");
     },
     "PyTorch's FSDP goes with --no-gradient-accumulation-fusion and "
     "--untie-embeddings-and-output-weights, and without --fp16; add what is missing, or leave it "
     "out",
     {"plan.zero", "model.tied_embeddings", "software.fused_gradient_accumulation"}},
    {"--optimizer-cpu-offload",
     [](const Given& given) { return !given.has("--use-precision-aware-optimizer"); },
     "the optimizer on the host is the precision-aware one; add --use-precision-aware-optimizer, "
     "or leave it out",
     {"plan.offload", "plan.offload.optimizer", ""}},
    {aware,
     [](const Given& given) {
       const auto optimizer = given.word_or("--optimizer", "adam");
       const bool other = optimizer == "sgd" || optimizer.find("muon") != std::string::npos;
       return other || (optimizer == "adam" && !divides_states(given));
     },
     "its states are those of Adam, divided by the distributed optimizer; add "
     "--use-distributed-optimizer and write --optimizer adam, or leave it out",
     {"plan.zero", "training.optimizer", ""}},
    {"--main-grads-dtype",
     [](const Given& given) {
       return given.word_or("--main-grads-dtype", "fp32") == "bf16" &&
              given.has("--accumulate-allreduce-grads-in-fp32");
     },
     "--accumulate-allreduce-grads-in-fp32 asks for fp32; leave one of both out",
     {"plan.gradient_precision", "", ""}},
    {expert_overlap,
     gathers_tokens,
     "it overlaps sent tokens, and they are gathered; write --moe-token-dispatcher-type alltoall "
     "or flex, or leave it out",
     {"software.moe_dispatcher", "plan.overlap.expert", ""}},
    {expert_overlap,
     [](const Given& given) {
       return given.degree("--pipeline-model-parallel-size") > 1 && !given.has(chunk_flag) &&
              !given.has(chunks_flag) && !given.has(layout_flag);
     },
     "a pipeline needs virtual stages for it; add --num-virtual-stages-per-pipeline-rank, or leave "
     "it out",
     {"plan.pipeline", "plan.virtual_stages", "plan.overlap.expert"}},
    {expert_overlap,
     recomputes_whole,
     "layers that are recomputed whole do not overlap; leave one of both out",
     {"plan.recompute", "plan.overlap.expert", ""}},
    {"--moe-pad-expert-input-to-capacity",
     [](const Given& given) {
       return given.number("--moe-expert-capacity-factor").value_or(-1) < 0;
     },
     "experts have no capacity; add --moe-expert-capacity-factor, or leave it out",
     {"model.moe.capacity_factor", "", ""}},
    {"--moe-expert-capacity-factor",  // from memory
     [](const Given& given) {
       return given.number("--moe-expert-capacity-factor").value_or(-1) >= 0 &&
              gathers_tokens(given);
     },
     sends_advice,
     {"model.moe.capacity_factor", "software.moe_dispatcher", ""}},
    {"--moe-shared-expert-overlap",
     [](const Given& given) {
       return given.whole_or("--moe-shared-expert-intermediate-size", 0) > 0 &&
              gathers_tokens(given);
     },
     sends_advice,
     {"software.moe_dispatcher", "plan.overlap.shared_experts", ""}},
    {"--recompute-modules",
     [](const Given& given) {
       const auto modules = given.words("--recompute-modules");
       return recomputes_selected(given) && !given.has("--moe-grouped-gemm") &&
              std::ranges::find(modules, "moe_act") != modules.end();
     },
     "moe_act is recomputed of grouped experts alone; add --moe-grouped-gemm, or leave moe_act out",
     {"plan.recompute", "", ""}},
    {"--mtp-num-layers",
     [](const Given& given) {
       return given.whole_or("--mtp-num-layers", 0) > 0 && asks_for_learned_positions(given);
     },
     "predicted tokens go with --position-embedding-type rope or none; write that, or leave it out",
     {"model.position", "model.multi_token_prediction", ""}},
    {"--encoder-seq-length",
     [](const Given& given) { return given.has("--seq-length"); },
     "--seq-length says the same; leave one of both out",
     {"training.sequence_length", "", ""}},
    {"--attention-backend",
     [](const Given& given) {
       const auto spec = given.words("--spec");
       return given.word_or("--attention-backend", "auto") == "local" &&
              (spec.empty() || spec.front() != "local");
     },
     "local is the kernel of local layers; add --spec local, or write auto, flash, fused or "
     "unfused",
     {"software.attention", "", ""}}};

constexpr Contradiction contradictions[]{
    {"--tp-comm-overlap",
     [](const Given& given) { return !given.has(parallel_flag) || !divides_tensors(given); },
     "it overlaps communication of sequence parallelism, which is off; add --sequence-parallel "
     "with --tensor-model-parallel-size 2 or more, or leave it out",
     {"plan.tensor", "plan.sequence_parallel", "software.tensor_overlap"}},
    {"--cpu-offloading-num-layers",
     [](const Given& given) {
       return given.whole_or("--cpu-offloading-num-layers", 0) > 0 &&
              given.degree("--pipeline-model-parallel-size") > 1;
     },
     "layers are offloaded on one pipeline stage alone; leave it out, or write "
     "--pipeline-model-parallel-size 1",
     {"plan.pipeline", "plan.offload", "plan.offload.activations"}},
    {"--cpu-offloading-num-layers",
     [](const Given& given) {
       return given.whole_or("--cpu-offloading-num-layers", 0) > 0 &&
              (given.has(activations_flag) || given.has(granularity_flag));
     },
     "activations are either offloaded or recomputed; leave one of both out",
     {"plan.recompute", "plan.offload", "plan.offload.activations"}},
    {"--recompute-method",
     [](const Given& given) { return recomputes_selected(given); },
     "it divides layers that are recomputed whole, and a selection is recomputed; leave it out, or "
     "write --recompute-granularity full and no --recompute-activations",
     {"plan.recompute", "", ""}},
    {"--recompute-num-layers",
     [](const Given& given) { return recomputes_selected(given); },
     "it counts layers that are recomputed whole, and a selection is recomputed; leave it out, or "
     "write --recompute-granularity full and no --recompute-activations",
     {"plan.recompute", "", ""}},
    {chunk_flag,
     [](const Given& given) { return given.has(chunks_flag); },
     "--num-virtual-stages-per-pipeline-rank says the same; leave one of both out",
     {"plan.virtual_stages", "", ""}},
    {layout_flag,
     [](const Given& given) { return given.has(chunk_flag) || given.has(chunks_flag); },
     "the layout has the virtual stages; leave --num-layers-per-virtual-pipeline-stage and "
     "--num-virtual-stages-per-pipeline-rank out",
     {"plan.virtual_stages", "plan.layers_per_stage", ""}},
    {"--step-batch-size-schedule",
     [](const Given& given) { return given.has("--global-batch-size"); },
     "it says the global batch, as --global-batch-size does; leave one of both out",
     {"training.global_batch", "", ""}},
    {"--distribute-saved-activations",
     [](const Given& given) {
       return given.has(parallel_flag) || !divides_tensors(given) || !recomputes_whole(given);
     },
     "it goes with --recompute-granularity full and --tensor-model-parallel-size 2 or more, and "
     "without --sequence-parallel; leave it out",
     {"plan.tensor", "plan.sequence_parallel", "plan.recompute"}}};

// Complains of chunks of a rank where Megatron-LM does not start with them: on one pipeline rank,
// and on two without overlapped transfers.
void check_interleaving(const MegatronJob& job) {
  const auto& given = job.given;
  constexpr std::array<const char*, 2> names{chunk_flag, chunks_flag};
  const auto name = std::ranges::find_if(names, [&](const char* one) { return given.has(one); });
  const bool mended = job.draft.over().values.contains("plan.pipeline") ||
                      job.draft.over().values.contains("plan.virtual_stages");
  if (name == names.end() || mended) return;
  const auto ranks = given.degree("--pipeline-model-parallel-size");
  if (ranks == 1)
    given.complain(*name,
                   "a pipeline of one rank has no chunks to interleave, and Megatron-LM does not "
                   "start; leave it out, or write --pipeline-model-parallel-size 2 or more");
  else if (ranks == 2 && given.has("--no-overlap-p2p-communication"))
    given.complain(*name,
                   "two pipeline ranks with chunks need overlapped transfers, and Megatron-LM does "
                   "not start; leave out --no-overlap-p2p-communication or one of the two");
}

// Complains of gathers beside the passes where every rank has all parameters, or where gradients
// are not reduced so.
void check_gathers(const MegatronJob& job) {
  const auto& given = job.given;
  const auto mended = [&](const char* key) { return job.draft.over().values.contains(key); };
  const auto* gathers = "--overlap-param-gather";
  const bool divides = divides_states(given) ||
                       given.word_or("--optimizer", "adam").find("muon") != std::string::npos;
  if (given.has(gathers) && !divides && !mended("plan.zero") && !mended("plan.overlap.parameters"))
    given.complain(gathers,
                   "without --use-distributed-optimizer every rank has all parameters, and "
                   "Megatron-LM does not start; add that, or leave this out");
  const bool reduces = runs_fsdp(given) || given.has("--overlap-grad-reduce");
  if (given.has(gathers) && divides && !reduces && !mended("plan.overlap.data") &&
      !mended("plan.overlap.parameters"))
    given.complain(gathers,
                   "without --overlap-grad-reduce Megatron-LM does not start; add that, or leave "
                   "this out");
}

// Complains of narrow states of an optimizer that has them in fp32.
void check_states(const MegatronJob& job) {
  struct Type {
    const char* name;
    const char* key;
  };
  constexpr std::array<Type, 4> types{{{"--exp-avg-dtype", "software.optimizer_bytes"},
                                       {"--exp-avg-sq-dtype", "software.optimizer_bytes"},
                                       {"--main-grads-dtype", "plan.gradient_precision"},
                                       {"--main-params-dtype", "plan.master_weights"}}};
  if (job.given.has(aware)) return;
  for (const auto& type : types)
    if (job.given.word_or(type.name, "fp32") != "fp32" &&
        !job.draft.over().values.contains(type.key))
      job.given.complain(type.name,
                         "without --use-precision-aware-optimizer it is fp32, and Megatron-LM does "
                         "not start; add that, or leave this out");
}

}  // namespace

void check_megatron_switches(const MegatronJob& job) {
  const auto& given = job.given;
  const auto mended = [&](const char* key) { return job.draft.over().values.contains(key); };
  for (const auto* other : {"--squared-relu", "--quick-geglu"})
    if (given.has("--swiglu") && given.has(other) && !mended("model.activation"))
      given.complain(other,
                     "--swiglu is another activation, and Megatron-LM does not start with "
                     "both; leave one of them out");
  const bool muon = given.word_or("--optimizer", "adam").find("muon") != std::string::npos;
  if (muon && given.has("--fp16") && !mended("training.optimizer") && !mended("training.precision"))
    given.complain("--optimizer",
                   "Muon does not run with --fp16; write --bf16, or --optimizer adam");
  check_interleaving(job);
  check_gathers(job);
  check_states(job);
  const auto judge = [&](const Contradiction& one) {
    if (given.has(one.name) && one.contradicts(given) && std::ranges::none_of(one.mending, mended))
      given.complain(one.name, std::string("Megatron-LM does not start with it here: ") + one.why);
  };
  std::ranges::for_each(contradictions, judge);
  std::ranges::for_each(contradictions_of_parts, judge);
}

}  // namespace scenarios
