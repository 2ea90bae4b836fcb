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

// An argument that does not go with others.
struct Contradiction {
  const char* name;
  bool (*contradicts)(const Given& given);
  const char* why;
  std::array<const char*, 3> mending;  // keys over the job that may mend it
};

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
  constexpr std::array<const char*, 3> of_fsdp{"--use-megatron-fsdp", "--use-custom-fsdp",
                                               "--use-torch-fsdp2"};
  const bool fsdp = std::ranges::any_of(of_fsdp, [&](const char* name) { return given.has(name); });
  const bool divides = fsdp || given.has("--use-distributed-optimizer") ||
                       given.word_or("--optimizer", "adam").find("muon") != std::string::npos;
  if (given.has(gathers) && !divides && !mended("plan.zero") && !mended("plan.overlap.parameters"))
    given.complain(gathers,
                   "without --use-distributed-optimizer every rank has all parameters, and "
                   "Megatron-LM does not start; add that, or leave this out");
  const bool reduces = fsdp || given.has("--overlap-grad-reduce");
  if (given.has(gathers) && divides && !reduces && !mended("plan.overlap.data") &&
      !mended("plan.overlap.parameters"))
    given.complain(gathers,
                   "without --overlap-grad-reduce Megatron-LM does not start; add that, or leave "
                   "this out");
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
  check_interleaving(job);
  check_gathers(job);
  for (const auto& [name, contradicts, why, mending] : contradictions)
    if (given.has(name) && contradicts(given) && std::ranges::none_of(mending, mended))
      given.complain(name, std::string("Megatron-LM does not start with it here: ") + why);
}

}  // namespace scenarios
