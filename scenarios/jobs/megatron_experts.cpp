// SPDX-License-Identifier: Apache-2.0
// Layers with experts of a Megatron-LM job.
#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/jobs/layer_pattern.hpp"
#include "scenarios/jobs/megatron.hpp"

namespace scenarios {
namespace {

// A rule of layers: the first `dense` have no experts, of the rest the first of every `every` has
// them.
struct Frequency {
  std::int64_t dense = 0, every = 1;
};

std::optional<Frequency> frequency_of(const std::vector<int>& layers) {
  Frequency found;
  const auto size = static_cast<std::int64_t>(layers.size());
  const auto has = [&](std::int64_t i) { return layers[static_cast<std::size_t>(i)] == 1; };
  while (found.dense < size && !has(found.dense)) ++found.dense;
  if (found.dense == size) return {};
  while (found.dense + found.every < size && !has(found.dense + found.every)) ++found.every;
  for (auto i = found.dense; i < size; ++i)
    if (has(i) != ((i - found.dense) % found.every == 0)) return {};
  return found;
}

void read_frequency(MegatronJob& job) {
  const auto& given = job.given;
  const auto* name = "--moe-layer-freq";
  const auto text = given.word(name);
  if (!text) return;
  const bool over_known = job.known.sizes != nullptr;  // whose rule may have dense layers
  if (const auto listed = layer_list(*text)) {
    const auto found = frequency_of(*listed);
    if (!found)
      given.refuse(name,
                   "layers with experts follow no rule that can be forecast: dense ones "
                   "first, then the first of every N");
    else if (static_cast<std::int64_t>(listed->size()) < job.layers)
      given.complain(name, "it names " + std::to_string(listed->size()) + " of " +
                               std::to_string(job.layers) + " layers");
    if (!found) return;
    if (found->dense > 0 || over_known)
      job.draft.whole("model.moe.first_dense_layers", found->dense, {name});
    job.draft.whole("model.moe.every", found->every, {name});
    return;
  }
  const auto every = given.whole(name);
  if (every) job.draft.whole("model.moe.every", *every, {name});
  if (every && over_known) job.draft.whole("model.moe.first_dense_layers", 0, {name});
}

// Reads groups of experts: tokens choose some groups first, and then among their experts
// (core/transformer/moe/moe_utils.py: without --moe-router-group-topk groups mean nothing).
void read_groups(MegatronJob& job) {
  const auto& given = job.given;
  const auto groups = given.whole_or("--moe-router-num-groups", 1);
  const auto chosen = given.whole_or("--moe-router-group-topk", groups);
  if (groups <= chosen) return;
  const Draft::Names from{"--moe-router-num-groups", "--moe-router-group-topk"};
  job.draft.text("training.routing.locality", "group_limited", from);
  job.draft.whole("training.routing.groups", groups, {"--moe-router-num-groups"});
  job.draft.whole("training.routing.top_groups", chosen, {"--moe-router-group-topk"});
}

void read_dispatcher(MegatronJob& job) {
  const auto& given = job.given;
  const bool told = given.mentioned("--moe-token-dispatcher-type") != nullptr ||
                    given.mentioned("--moe-enable-deepep") != nullptr ||
                    given.mentioned("--moe-flex-dispatcher-backend") != nullptr;
  if (job.of_recipe && !told) return;  // the recipe has its own
  const auto word = given.word_or("--moe-token-dispatcher-type", "allgather");
  const auto backend = given.word_or("--moe-flex-dispatcher-backend", "deepep");
  const Draft::Names from{"--moe-token-dispatcher-type", "--moe-enable-deepep",
                          "--moe-flex-dispatcher-backend"};
  if (given.has("--moe-enable-deepep") || word == "flex") {
    if (backend != "deepep" && backend != "hybridep")
      given.refuse("--moe-flex-dispatcher-backend", "expected deepep or hybridep");
    job.draft.text("software.moe_dispatcher", backend == "hybridep" ? "hybridep" : "deepep", from);
  } else if (word == "alltoall" || word == "alltoall_seq") {
    job.draft.text("software.moe_dispatcher", "all-to-all", from);
  } else if (word == "allgather") {
    job.draft.text("software.moe_dispatcher", "all-gather", from);
  } else {
    given.complain("--moe-token-dispatcher-type", "expected allgather, alltoall or flex");
  }
}

// --- Megatron-DeepSpeed

// Returns the experts of a layer; 0: it is dense.
std::int64_t experts_of_fork(const Given& given) {
  const auto* name = "--num-experts";
  if (given.words(name).size() > 1) {
    given.refuse(name, "layers with numbers of experts of their own are not modelled");
    return 0;
  }
  const auto count = given.whole_or(name, 1);
  return count > 1 ? count : 0;
}

// Reads how many tokens an expert takes (deepspeed/moe/sharded_moe.py, _capacity).
void read_capacity(MegatronJob& job, std::int64_t top) {
  const auto& given = job.given;
  const Draft::Names from{"--moe-train-capacity-factor", "--disable-moe-token-dropping"};
  if (given.has("--disable-moe-token-dropping")) return;
  job.draft.text("model.moe.capacity_factor", given.word_or("--moe-train-capacity-factor", "1.0"),
                 from);
  job.draft.yes_no("model.moe.pad_to_capacity", true, from, "DeepSpeed sends full buffers");
  const auto tokens = given.whole_or("--micro-batch-size", 1) * given.whole_or("--seq-length", 0) /
                      std::max<std::int64_t>(1, given.whole_or("--ds-sequence-parallel-size", 1));
  const auto share = static_cast<double>(tokens * top) / static_cast<double>(job.experts) *
                     given.number("--moe-train-capacity-factor").value_or(1);
  if (static_cast<double>(given.whole_or("--moe-min-capacity", 4)) > share)
    job.draft.partly("--moe-min-capacity",
                     "experts take at least so many tokens; the forecast has fewer");
}

// Reads the arguments of Microsoft's fork (megatron/arguments.py and model/transformer.py).
void read_experts_of_fork(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto top = given.whole_or("--topk", 1);
  draft.whole("model.moe.top_k", top, {"--topk"});
  const auto* name = "--expert-interval";
  const auto every = given.whole_or(name, 2);
  if (every < 1) given.complain(name, "it must be at least 1");
  if (every > 1)
    draft.whole("model.moe.first_dense_layers", every - 1, {name}, "the last of so many layers");
  draft.whole("model.moe.every", every, {name});
  if (given.word_or("--mlp-type", "standard") != "standard")
    given.refuse("--mlp-type", "a dense layer beside the experts is not modelled");
  read_capacity(job, top);
  draft.text("software.moe_dispatcher", "all-to-all", {}, "DeepSpeed's");
  // DeepSpeed's gate asks Tutel for one expert a token only (sharded_moe.py; from memory).
  if (given.has("--use-tutel") && top == 1)
    draft.yes_no("software.einsum_dispatch", false, {"--use-tutel"}, "Tutel's kernels copy");
}

// --- Megatron-LM

void read_experts(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  draft.whole("model.moe.top_k", given.whole_or("--moe-router-topk", 2), {"--moe-router-topk"});
  if (const auto ffn = given.whole("--moe-ffn-hidden-size"))
    draft.whole("model.moe.expert_ffn", *ffn, {"--moe-ffn-hidden-size"});
  const auto* shared = "--moe-shared-expert-intermediate-size";
  const auto* number = "--num-shared-experts";  // of Pai-Megatron-Patch, each as wide as others
  const auto ffn = given.whole_or(shared, 0), experts = given.whole_or(number, 0);
  if (ffn > 0) {
    draft.whole("model.moe.shared_experts", 1, {shared}, "all shared experts as one");
    draft.whole("model.moe.shared_ffn", ffn, {shared});
  } else if (experts > 0) {
    draft.whole("model.moe.shared_experts", experts, {number});
  }
  const auto* gate = "--moe-shared-expert-gate";
  if (ffn > 0 || experts > 0 || job.known_whole("moe.shared_experts", 0) > 0) {
    if (job.tells(gate)) draft.yes_no("model.moe.shared_gate", given.has(gate), {gate});
  } else if (!job.of_recipe ||
             (job.known.sizes != nullptr && job.known_whole("moe.shared_experts", 0) == 0)) {
    draft.unused("--moe-shared-expert-overlap", "there are no shared experts");
  }
  read_frequency(job);
  if (const auto room = given.number("--moe-expert-capacity-factor"); room && *room > 0)
    draft.text("model.moe.capacity_factor", given.word_or("--moe-expert-capacity-factor", ""),
               {"--moe-expert-capacity-factor"});
  if (const auto* pads = "--moe-pad-expert-input-to-capacity";
      given.has(pads) && draft.sets("model.moe.capacity_factor"))
    draft.yes_no("model.moe.pad_to_capacity", true, {pads});
  if (const auto* bias = "--moe-router-enable-expert-bias"; job.tells(bias))
    draft.yes_no("model.moe.router_bias", given.has(bias), {bias});
  read_groups(job);
  read_dispatcher(job);
}

}  // namespace

void read_megatron_experts(MegatronJob& job) {
  const auto& given = job.given;
  const auto* number = "--num-experts";
  const bool dense = job.known.sizes != nullptr && job.tells(number) && !given.has(number);
  if (dense) return job.draft.leave_out("model.moe", {number});
  job.experts =
      job.fork ? experts_of_fork(given) : given.whole_or(number, job.known_whole("moe.experts", 0));
  if (job.experts == 0) return;
  job.draft.whole("model.moe.experts", job.experts, {number});
  if (job.fork)
    read_experts_of_fork(job);
  else
    read_experts(job);
  if (!given.has("--disable-bias-linear"))
    job.draft.yes_no("model.moe.expert_biases", true, {"--disable-bias-linear"});
}

}  // namespace scenarios
