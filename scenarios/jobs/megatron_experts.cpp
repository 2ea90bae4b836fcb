// SPDX-License-Identifier: Apache-2.0
// Layers with experts of a Megatron-LM job.
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
    if (found->dense > 0) job.draft.whole("model.moe.first_dense_layers", found->dense, {name});
    job.draft.whole("model.moe.every", found->every, {name});
    return;
  }
  if (const auto every = given.whole(name)) job.draft.whole("model.moe.every", *every, {name});
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

}  // namespace

void read_megatron_experts(MegatronJob& job) {
  const auto& given = job.given;
  auto& draft = job.draft;
  const auto experts = given.whole_or("--num-experts", 0);
  if (experts == 0) return;
  draft.whole("model.moe.experts", experts, {"--num-experts"});
  draft.whole("model.moe.top_k", given.whole_or("--moe-router-topk", 2), {"--moe-router-topk"});
  if (const auto ffn = given.whole("--moe-ffn-hidden-size"))
    draft.whole("model.moe.expert_ffn", *ffn, {"--moe-ffn-hidden-size"});
  if (const auto ffn = given.whole_or("--moe-shared-expert-intermediate-size", 0); ffn > 0) {
    draft.whole("model.moe.shared_experts", 1, {"--moe-shared-expert-intermediate-size"},
                "all shared experts as one");
    draft.whole("model.moe.shared_ffn", ffn, {"--moe-shared-expert-intermediate-size"});
    if (given.has("--moe-shared-expert-gate"))
      draft.yes_no("model.moe.shared_gate", true, {"--moe-shared-expert-gate"});
  }
  read_frequency(job);
  if (const auto room = given.number("--moe-expert-capacity-factor"); room && *room > 0)
    draft.text("model.moe.capacity_factor", given.word_or("--moe-expert-capacity-factor", ""),
               {"--moe-expert-capacity-factor"});
  if (given.has("--moe-router-enable-expert-bias"))
    draft.yes_no("model.moe.router_bias", true, {"--moe-router-enable-expert-bias"});
  if (!given.has("--disable-bias-linear"))
    draft.yes_no("model.moe.expert_biases", true, {"--disable-bias-linear"});
  read_groups(job);
  read_dispatcher(job);
}

}  // namespace scenarios
