// SPDX-License-Identifier: Apache-2.0
// The sentences by which plans are refused: each says what is wrong and what to write instead.
#include <string>
#include <vector>

#include "plans/admissible.hpp"
#include "tests/catch.hpp"
#include "tests/plans/small_case.hpp"

namespace refusals_spec {

using namespace strategies;
using tests::SmallCase;
using Tier = Offload::Tier;

namespace {

using Conditions = std::span<const Condition> (*)();

// A change that breaks one of these conditions, and what is said of it.
struct Refused {
  Conditions conditions;
  void (*change)(SmallCase&);
  std::string sentence;
};

void check_refused(const std::vector<Refused>& all) {
  for (const auto& [conditions, change, sentence] : all) {
    SmallCase small;
    CHECK(all_hold(conditions(), small.asked()));  // as it is
    change(small);
    std::vector<std::string> said;
    for (const auto& one : conditions())
      if (!one.holds(small.asked())) said.push_back(one.why(small.asked()));
    INFO(sentence);
    CHECK(said == std::vector<std::string>{sentence});
  }
}

}  // namespace

TEST_CASE("a tensor degree that tears heads, MLPs or shared experts names one that does not") {
  check_refused({
      {on_tensor, [](SmallCase& w) { w.plan.tensor = 5, w.model.ffn = 65; },
       "5 does not divide 8 heads: each rank computes whole heads; write a divisor, such as 4 or "
       "8"},
      {on_tensor, [](SmallCase& w) { w.plan.tensor = 16; },
       "16 does not divide 8 heads: each rank computes whole heads; write a divisor, such as 8"},
      {on_tensor, [](SmallCase& w) { w.plan.tensor = 4, w.model.kv_heads = 6; },
       "4 and 6 kv_heads do not divide each other: key and value heads are split or copied whole; "
       "write a divisor or a multiple"},
      {on_tensor, [](SmallCase& w) { w.plan.tensor = 4, w.model.ffn = 66; },
       "4 does not divide ffn 66: each rank computes an equal share of the MLP"},
      {on_tensor,
       [](SmallCase& w) {
         w.add_experts();
         w.plan.tensor = 4;
         w.model.ffn = 66;  // of which no layer has an MLP
         w.model.moe->shared_experts = 3, w.model.moe->shared_ffn = 22;
       },
       "4 does not divide the width of the shared experts, 3 x 22: each rank computes an equal "
       "share of them"},
  });
}

TEST_CASE("a sequence that no degree cuts evenly names the lengths that it would cut") {
  check_refused({
      {on_context, [](SmallCase& w) { w.plan.context = 3; },  // 64 is 10 x 6 and 4 more
       "3 cuts a sequence into 6 pieces, two for each rank so that causal work is even, but "
       "sequence_length is 64; write another degree, or 60 or 66 tokens"},
      {on_context,
       [](SmallCase& w) { w.plan.context = 3, w.plan.context_method = ContextMethod::all_gather; },
       "3 cuts a sequence into 6 pieces, two for each rank so that causal work is even, but "
       "sequence_length is 64; write another degree, or 60 or 66 tokens"},
      {on_context,
       [](SmallCase& w) { w.plan.context = 3, w.plan.context_method = ContextMethod::ulysses; },
       "3 cuts a sequence into 3 pieces, but sequence_length is 64; write another degree, or 63 or "
       "66 tokens"},
      {on_context, [](SmallCase& w) { w.plan.context = 64; },  // no multiple below
       "64 cuts a sequence into 128 pieces, two for each rank so that causal work is even, but "
       "sequence_length is 64; write another degree, or 128 tokens"},
      {on_sequence_parts, [](SmallCase& w) { w.plan.tensor = 3, w.plan.sequence_parallel = true; },
       "tensor 3 does not divide sequence_length 64: each rank keeps an equal share of the "
       "sequence"},
      {on_sequence_parts,
       [](SmallCase& w) {
         w.plan.tensor = 3, w.plan.context = 4;
         w.plan.sequence_parallel = true;
       },
       "tensor 3 does not divide the 16 tokens of a context-parallel rank: each rank keeps an "
       "equal "
       "share of the sequence"},
      {on_ulysses,
       [](SmallCase& w) {
         w.plan.tensor = 2, w.plan.context = 8;
         w.plan.context_method = ContextMethod::ulysses;
       },
       "8 x tensor 2 = 16 does not divide 8 heads: with ulysses each rank attends with whole "
       "heads; "
       "write a smaller degree, or context_method: ring"},
  });
}

TEST_CASE("parts of a sequence are not asked for where nothing is cut, or cut already in vain") {
  const auto holds = [](Conditions conditions, void (*change)(SmallCase&)) {
    SmallCase small;
    change(small);
    return all_hold(conditions(), small.asked());
  };
  CHECK(holds(on_context, [](SmallCase& w) { w.training.sequence_length = 63; }));  // in one piece
  CHECK(holds(on_context, [](SmallCase& w) { w.plan.context = 16; }));              // 32 pieces
  CHECK(holds(on_sequence_parts, [](SmallCase& w) { w.plan.tensor = 3; }));         // no parts
  CHECK(holds(on_sequence_parts, [](SmallCase& w) {  // the pieces are torn, which is said there
    w.plan.context = 3, w.plan.tensor = 3, w.plan.sequence_parallel = true;
  }));
  CHECK(holds(on_ulysses, [](SmallCase& w) { w.plan.context = 16; }));  // a ring needs no heads
}

TEST_CASE("experts that are not there, not whole or nowhere to put name degrees that fit") {
  check_refused({
      {on_experts, [](SmallCase& w) { w.plan.expert = 2; },
       "2 for a dense model: there are no experts to spread; write 1"},
      {on_experts, [](SmallCase& w) { w.plan.expert_tensor = 2; },
       "2 for a dense model: there are no experts to divide; leave it out"},
      {on_experts,
       [](SmallCase& w) {
         w.add_experts();
         w.plan.expert = 2, w.model.moe->imbalance = 2.5;
       },
       "imbalance 2.5 with expert 2: a rank that had all tokens would have 2 times the mean; write "
       "no more than that"},
      {on_experts,  // eight experts on the sixteen ranks of a stage
       [](SmallCase& w) {
         w.add_experts();
         w.plan.expert = 3, w.plan.data = 16;
       },
       "3 does not divide 8 experts: each rank holds whole experts; write a divisor, such as 2 or "
       "4"},
      {on_experts,  // of which eight are two tensor ranks each
       [](SmallCase& w) {
         w.add_experts();
         w.plan = {.tensor = 2, .pipeline = 2, .data = 4, .expert = 16};
       },
       "16 does not divide 8 experts: each rank holds whole experts; write a divisor, such as 4"},
      {on_experts,
       [](SmallCase& w) {
         w.add_experts();
         w.plan.expert_tensor = 5;
       },
       "5 does not divide expert_ffn 48: each rank computes an equal share of an expert; write a "
       "divisor, such as 4 or 6"},
      {on_expert_rows,
       [](SmallCase& w) {
         w.add_experts();
         w.plan.tensor = 4;
       },
       "a mixture of experts divided by tensor 4 needs sequence parallelism: each rank sends "
       "tokens "
       "of its own to their experts; write sequence_parallel: true"},
      {on_expert_ranks,
       [](SmallCase& w) {
         w.add_experts();
         w.plan = {.pipeline = 4, .data = 4, .expert = 8};
       },
       "expert 8 x expert_tensor 1 = 8 does not divide tensor 1 x context 1 x data 4 = 4: the "
       "experts of a stage are spread over its ranks; write expert 4"},
      {on_expert_ranks,  // degrees that do not make the cluster yet
       [](SmallCase& w) {
         w.add_experts();
         w.plan = {.data = 4, .expert = 8};
       },
       "expert 8 x expert_tensor 1 = 8 does not divide tensor 1 x context 1 x data 4 = 4: the "
       "experts of a stage are spread over its ranks; write smaller degrees"},
  });
}

TEST_CASE("shard groups that copies, nodes or experts do not fit say which ranks there are") {
  check_refused({
      {on_shards,
       [](SmallCase& w) { w.plan = {.data = 16, .zero = 1, .shard_group = ShardGroup::of(3)}; },
       "3 does not divide data 16 x context 1 = 16: equally many ranks share each copy; write a "
       "divisor, such as 2 or 4"},
      {on_shards,
       [](SmallCase& w) {
         w.plan = {.pipeline = 2, .data = 8, .schedule = ScheduleKind::dualpipe, .zero = 1};
         w.plan.shard_group = ShardGroup::of(3);
       },
       "3 does not divide data 8 x context 1 x 2 copies = 16: equally many ranks share each copy; "
       "write a divisor, such as 2 or 4"},
      {on_shards,  // twelve replicas of two ranks, four on each of three nodes
       [](SmallCase& w) {
         w.cluster.gpus = 24;
         w.plan = {.tensor = 2, .data = 12, .zero = 1, .shard_group = ShardGroup::of(6)};
       },
       "6, but a node holds 4 ranks of a data-parallel group: a shard group is an equal part of a "
       "node's ranks, or all those of several nodes; write a divisor or a multiple of 4"},
      {on_shards,  // stages of twelve ranks: the second has four on one node, eight on another
       [](SmallCase& w) {
         w.cluster.gpus = 24;
         w.plan = {.pipeline = 2, .data = 12, .zero = 1, .shard_group = ShardGroup::node};
       },
       "node, but some node has 8 ranks of a data-parallel group and another 4: states are divided "
       "over as many ranks on every node; write all, or degrees that fill whole nodes alike"},
      {on_shards,
       [](SmallCase& w) {
         w.cluster.gpus = 24;
         w.plan = {.pipeline = 2, .data = 12, .zero = 1, .shard_group = ShardGroup::of(4)};
       },
       "4, but some node has 8 ranks of a data-parallel group and another 4: states are divided "
       "over as many ranks on every node; write all, or degrees that fill whole nodes alike"},
      {on_shards,
       [](SmallCase& w) {
         w.add_experts();
         w.plan = {.data = 16, .expert = 8, .zero = 1, .shard_group = ShardGroup::of(4)};
       },
       "4 ranks x tensor 1 = 4 GPUs hold no whole number of sets of experts, each on expert 8 x "
       "expert_tensor 1 = 8: each group keeps a copy of all experts; write more ranks, all, or a "
       "smaller expert degree"},
      {on_shards,
       [](SmallCase& w) {
         w.add_experts();
         w.plan = {.data = 16, .expert = 16, .zero = 1, .shard_group = ShardGroup::node};
       },
       "node, 8 ranks x tensor 1 = 8 GPUs hold no whole number of sets of experts, each on expert "
       "16 x expert_tensor 1 = 16: each group keeps a copy of all experts; write more ranks, all, "
       "or a smaller expert degree"},
  });
}

TEST_CASE("states that leave the device or their rank name the stage of ZeRO that lets them") {
  check_refused({
      {on_states,
       [](SmallCase& w) {
         w.plan.zero = 2;
         w.plan.offload.parameters = Tier::cpu;
       },
       "parameters leave the device with zero: 3 only, which gathers them when they are needed, "
       "not "
       "2; write zero: 3 or leave parameters out"},
      {on_states,
       [](SmallCase& w) {
         w.plan.zero = 2;
         w.plan.offload.gradients = true;
       },
       "gradients on the host are read by an optimizer that is there; write optimizer: cpu beside "
       "them or leave gradients out"},
      {on_states,
       [](SmallCase& w) {
         w.plan.zero = 1;
         w.plan.offload = {.optimizer = Tier::nvme, .gradients = true};
       },
       "gradients leave the device with zero: 2 or 3, which reduce them after every microbatch, "
       "not "
       "1; write zero: 2 or leave gradients out"},
      {on_states,
       [](SmallCase& w) {
         w.training.optimizer = Optimizer::muon;
         w.plan.offload.optimizer = Tier::cpu;
       },
       "the host updates with adamw, adam or sgd, not muon; write one of them as "
       "training.optimizer "
       "or leave optimizer out"},
      {on_states, [](SmallCase& w) { w.plan.zero = 1, w.plan.wrap.layers = 2; },
       "parameters are gathered with zero: 3 only, not 1; write zero: 3 or leave wrap out"},
      {on_states,
       [](SmallCase& w) {
         w.plan.zero = 2;
         w.plan.gradient_compression = GradientCompression::onebit;
       },
       "onebit keeps the error of a whole gradient on each rank, but zero 2 leaves no rank a whole "
       "gradient; write zero: 1 or gradient_compression: none"},
      {on_states,
       [](SmallCase& w) { w.plan.zero = 3, w.training.optimizer = Optimizer::onebit_adam; },
       "onebit-adam keeps the error of a whole gradient on each rank, but zero 3 leaves no rank a "
       "whole gradient; write zero: 1 or optimizer: adam"},
  });
}

TEST_CASE("a batch that makes no whole microbatches names the batches nearest to it that do") {
  check_refused({
      {on_batch, [](SmallCase& w) { w.plan.data = 3, w.plan.micro_batch = 2; },
       "32 is not divisible by micro_batch 2 x data 3 = 6: every replica runs whole microbatches; "
       "write 30 or 36"},
      {on_batch, [](SmallCase& w) { w.plan.data = 48; },  // none below
       "32 is not divisible by micro_batch 1 x data 48 = 48: every replica runs whole "
       "microbatches; "
       "write 48"},
      {on_batch, [](SmallCase& w) { w.training.global_batch = 2'000'002, w.plan.micro_batch = 2; },
       "2000002 over micro_batch 2 x data 1 = 2 makes 1000001 microbatches; expected at most "
       "1000000"},
      {on_microbatches,
       [](SmallCase& w) {
         w.plan.schedule = ScheduleKind::dualpipe, w.plan.pipeline = 4;
         w.training.global_batch = 6;
       },
       "6 makes 6 microbatches: dualpipe feeds half of them from each end; expected an even "
       "number, "
       "at least 2 x pipeline = 8"},
      {on_microbatches,
       [](SmallCase& w) {
         w.plan.schedule = ScheduleKind::dualpipe_v, w.plan.pipeline = 4;
         w.training.global_batch = 7;
       },
       "7 makes 7 microbatches: dualpipe-v fills both arms of a V; expected at least 2 x pipeline "
       "= "
       "8"},
  });
}

TEST_CASE("stages without layers and chunks without a schedule are refused in its words") {
  check_refused({
      {on_layers, [](SmallCase& w) { w.plan.pipeline = 4, w.plan.virtual_stages = 2; },
       "4 ranks x 2 virtual stages = 8 stages for 4 layers: each needs one; empty stages are "
       "written "
       "in layers_per_stage"},
      {on_layers,
       [](SmallCase& w) {
         w.plan.pipeline = 2, w.plan.layers_per_stage = {1, 2, 1};
       },
       "3 entries; expected one per virtual stage: pipeline 2 x virtual_stages 1 = 2"},
      {on_layers,
       [](SmallCase& w) {
         w.plan.pipeline = 2, w.plan.layers_per_stage = {1, 2};
       },
       "the entries sum to 3, but the model has 4 layers"},
      {on_stages,
       [](SmallCase& w) { w.plan.pipeline = 3, w.plan.schedule = ScheduleKind::dualpipe; },
       "3 is odd: dualpipe pairs the ranks from both ends; write an even number"},
      {on_chunks,
       [](SmallCase& w) { w.plan.virtual_stages = 3, w.plan.schedule = ScheduleKind::zb_v; },
       "3 with schedule: zb-v, which folds the model into two chunks per rank; write 2 or leave it "
       "out"},
      {on_chunks, [](SmallCase& w) { w.plan.virtual_stages = 2; },
       "2 needs schedule: interleaved, the only one that runs any number of chunks per rank; write "
       "1 "
       "or change the schedule"},
  });
}

TEST_CASE("layers with a smaller tensor degree say which groups and samples they would need") {
  check_refused({
      {on_regrouping,
       [](SmallCase& w) {
         w.add_experts();
         w.plan = {.tensor = 8, .micro_batch = 2, .layer_tensor = 4};
       },
       "tensor 4 of some layers of a model with experts: these have degrees of their own; write "
       "plan.expert and plan.expert_tensor"},
      {on_regrouping, [](SmallCase& w) { w.plan = {.tensor = 4, .layer_tensor = 4}; },
       "tensor 4 of some layers is the plan's own: leave it out"},
      {on_regrouping, [](SmallCase& w) { w.plan = {.tensor = 4, .layer_tensor = 3}; },
       "tensor 3 of some layers: the groups of the plan's tensor 4 fall into smaller ones; write a "
       "divisor of 4"},
      {on_regrouping,
       [](SmallCase& w) { w.plan = {.tensor = 8, .micro_batch = 6, .layer_tensor = 2}; },
       "tensor 2 of some layers: 4 groups share out the samples of a microbatch, but micro_batch "
       "is "
       "6; write a multiple of 4"},
      {on_regrouping,
       [](SmallCase& w) {
         w.model.kv_heads = 3;
         w.plan = {.tensor = 4, .micro_batch = 2, .layer_tensor = 2};
       },
       "tensor 2 of some layers: 2 and 3 kv_heads do not divide each other: key and value heads "
       "are "
       "split or copied whole"},
      {on_regrouping,
       [](SmallCase& w) {
         w.plan = {.tensor = 4, .micro_batch = 2, .layer_tensor = 2};
         std::swap(w.plan.rank_order.front(), w.plan.rank_order.back());
       },
       "tensor 2 of some layers: groups of the plan's tensor 4 must lie inside of nodes; write tp "
       "first in rank_order, and a degree that divides the 8 GPUs of a node"},
  });
}

}  // namespace refusals_spec
