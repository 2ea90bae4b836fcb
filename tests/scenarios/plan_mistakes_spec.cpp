// SPDX-License-Identifier: Apache-2.0
// Mistakes in a plan, and what to write instead.
#include <string>
#include <utility>

#include "scenarios/checks/checks.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace plan_mistakes_spec {

namespace {

using strategies::Plan;
using tests::complaint;
using tests::complaints_of;
using tests::llama;
using tests::read;
using tests::Sets;

// Checks the scenarios of models with experts.
void check(const forecast::Scenario& scenario) {
  scenarios::Reading reading("f.yaml", {});
  scenarios::check_scenario(scenario, false, scenarios::parse_yaml(llama, "f.yaml"), reading);
  reading.throw_if_any();
}

std::string with_experts(Plan plan) {
  auto scenario = read(llama);
  scenario.model.moe = model::Moe{.experts = 64, .top_k = 6, .expert_ffn = 1536};
  plan.data = 128 / (plan.tensor * plan.context * plan.pipeline);
  plan.sequence_parallel = true;
  scenario.plan = plan;
  return complaints_of([&] { check(scenario); });
}

}  // namespace

TEST_CASE("a key that is not known is taken for one that is not given yet") {
  const auto said = [](const std::string& cluster) {
    return complaints_of([&] {
      read("model: llama3-70b\ncluster: " + cluster +
           "\ntraining: {sequence_length: 8192, global_batch: 128}\nplan: {tensor: 8}\n");
    });
  };
  CHECK_THAT(said("{nodez: dgx-h100}"), STEPCAST_HOLDS("; did you mean 'node'?"));
  CHECK_THAT(said("{node: dgx-h100, nodez: 16}"), STEPCAST_HOLDS("; did you mean 'nodes'?"));
}

TEST_CASE("a V schedule has two chunks per rank, written or not") {
  const std::string name = GENERATE("zb-v", "v-half", "v-min", "dualpipe-v");
  const Sets sets{"plan.pipeline=4", "plan.schedule=" + name};
  CHECK(read(llama, sets).plan.virtual_stages == 2);
  for (const std::string wrong : {"1", "3"})
    CHECK(complaint({sets[0], sets[1], "plan.virtual_stages=" + wrong}) ==
          "plan.virtual_stages: " + wrong + " with schedule: " + name +
              ", which folds the model into two chunks per rank; write 2 or leave it out");
}

TEST_CASE("only the interleaved schedule takes any number of chunks") {
  CHECK(read(llama, {"plan.pipeline=4", "plan.schedule=interleaved", "plan.virtual_stages=5"})
            .plan.virtual_stages == 5);
  const std::string name = GENERATE("gpipe", "1f1b", "zb-h1", "zb-h2", "dualpipe");
  CHECK(complaint({"plan.pipeline=2", "plan.schedule=" + name, "plan.virtual_stages=2"}) ==
        "plan.virtual_stages: 2 needs schedule: interleaved, the only one that runs any number of "
        "chunks per rank; write 1 or change the schedule");
}

TEST_CASE("dualpipe feeds an even number of microbatches into an even number of ranks") {
  CHECK(complaint({"plan.schedule=dualpipe", "plan.pipeline=4", "training.global_batch=32"}) ==
        "no complaint");  // data 4, eight microbatches
  CHECK(complaint({"plan.schedule=dualpipe", "plan.pipeline=1"}) ==
        "plan.pipeline: 1 is odd: dualpipe pairs the ranks from both ends; write an even number");
  for (const auto& [batch, microbatches] : {std::pair{24, 6}, std::pair{36, 9}})
    CHECK(complaint({"plan.schedule=dualpipe", "plan.pipeline=4",
                     "training.global_batch=" + std::to_string(batch)}) ==
          "training.global_batch: " + std::to_string(batch) + " makes " +
              std::to_string(microbatches) +
              " microbatches: dualpipe feeds half of them from each end; expected an even number, "
              "at least 2 x pipeline = 8");
}

TEST_CASE("dualpipe-v needs two microbatches per rank, even in number or not") {
  const Sets sets{"plan.schedule=dualpipe-v", "plan.pipeline=4"};  // data is 4
  CHECK(complaint({sets[0], sets[1], "training.global_batch=36"}) == "no complaint");
  CHECK(complaint({sets[0], sets[1], "training.global_batch=28"}) ==
        "training.global_batch: 28 makes 7 microbatches: dualpipe-v fills both arms of a V; "
        "expected at least 2 x pipeline = 8");
}

TEST_CASE("a sequence is cut into equal parts") {
  CHECK(complaint({"plan.context=4", "training.sequence_length=8196"}) ==
        "plan.context: 4 cuts a sequence into 8 pieces, two for each rank so that causal work is "
        "even, but sequence_length is 8196; write another degree, or 8192 or 8200 tokens");
  CHECK(complaint({"plan.context=4", "training.sequence_length=3"}) ==
        "plan.context: 4 cuts a sequence into 8 pieces, two for each rank so that causal work is "
        "even, but sequence_length is 3; write another degree, or 8 tokens");
  const Sets ulysses{"plan.context=4", "plan.context_method=ulysses"};
  CHECK(complaint({ulysses[0], ulysses[1], "training.sequence_length=8196"}) == "no complaint");
  CHECK(complaint({ulysses[0], ulysses[1], "training.sequence_length=8198"}) ==
        "plan.context: 4 cuts a sequence into 4 pieces, but sequence_length is 8198; write another "
        "degree, or 8196 or 8200 tokens");
  CHECK(complaint(
            {"plan.context=2", "plan.sequence_parallel=true", "training.sequence_length=8196"}) ==
        "plan.sequence_parallel: tensor 8 does not divide the 4098 tokens of a context-parallel "
        "rank: each rank keeps an equal share of the sequence");
}

TEST_CASE("ulysses gives every rank whole heads") {
  CHECK(complaint({"plan.context=8", "plan.context_method=ulysses"}) == "no complaint");
  CHECK(complaint({"plan.context=16", "plan.context_method=ulysses"}) ==
        "plan.context: 16 x tensor 8 = 128 does not divide 64 heads: with ulysses each rank "
        "attends with whole heads; write a smaller degree, or context_method: ring");
  CHECK(complaint({"plan.context=16", "plan.context_method=ring"}) == "no complaint");
}

TEST_CASE("tensor, context and pipeline make up the cluster") {
  CHECK(complaint({"plan.context=3", "training.sequence_length=8190"}) ==
        "plan.context: tensor 8 x context 3 x pipeline 1 = 24 does not divide 128 GPUs: every "
        "replica takes that many");
  CHECK(complaint({"plan.context=2", "plan.data=16"}) ==
        "plan.data: tensor 8 x context 2 x pipeline 1 x data 16 = 256, but the cluster has 128 "
        "GPUs; write data: 8 or leave it out");
}

TEST_CASE("experts are spread over the ranks of a stage") {
  CHECK(complaint({"plan.expert=8"}) ==
        "plan.expert: 8 for a dense model: there are no experts to spread; write 1");
  CHECK(complaint({"plan.expert_tensor=3"}) ==
        "plan.expert_tensor: 3 for a dense model: there are no experts to divide; leave it out");
  CHECK(complaint({"plan.expert_tensor=8"}) == "no complaint");  // 8 is the default
  CHECK(with_experts({.tensor = 8, .expert = 16}) == "no complaint");
  CHECK(with_experts({.tensor = 8, .context = 2, .expert = 64, .expert_tensor = 2}) ==
        "no complaint");
  CHECK(with_experts({.tensor = 8, .expert = 12}) ==
        "plan.expert: 12 does not divide 64 experts: each rank holds whole experts; write a "
        "divisor, such as 8 or 16\n"
        "plan.expert_tensor: expert 12 x expert_tensor 8 = 96 does not divide tensor 8 x "
        "context 1 x data 16 = 128: the experts of a stage are spread over its ranks; write "
        "expert 8 or 16");
  CHECK(with_experts({.tensor = 8, .pipeline = 4, .expert = 8}) ==
        "plan.expert_tensor: expert 8 x expert_tensor 8 = 64 does not divide tensor 8 x context 1 "
        "x data "
        "4 = 32: the experts of a stage are spread over its ranks; write expert 4");
  CHECK(
      with_experts({.tensor = 8, .expert = 2, .expert_tensor = 5}) ==
      "plan.expert_tensor: 5 does not divide expert_ffn 1536: each rank computes an equal share "
      "of an expert; write a divisor, such as 4 or 6\n"
      "plan.expert_tensor: expert 2 x expert_tensor 5 = 10 does not divide tensor 8 x context 1 x "
      "data 16 = 128: the experts of a stage are spread over its ranks; write smaller degrees");
}

TEST_CASE("the expert degrees that are proposed divide the experts and the ranks") {
  const auto of = [](std::int64_t expert) {
    return complaint({"model=deepseek-v2", "plan.tensor=1", "cluster.nodes=8",
                      "plan.expert=" + std::to_string(expert)});
  };
  CHECK(of(64) ==
        "plan.expert: 64 does not divide 160 experts: each rank holds whole experts; write a "
        "divisor, such as 32");
  CHECK(of(40) ==
        "plan.expert: expert 40 x expert_tensor 1 = 40 does not divide tensor 1 x context 1 x data "
        "64 = 64: the experts of a stage are spread over its ranks; write expert 32");
  CHECK(of(20) ==
        "plan.expert: expert 20 x expert_tensor 1 = 20 does not divide tensor 1 x context 1 x data "
        "64 = 64: the experts of a stage are spread over its ranks; write expert 16 or 32");
  CHECK(of(16) == "no complaint");
  CHECK(of(32) == "no complaint");
}

TEST_CASE("ranks that divide a layer with experts divide its rows too") {
  const Sets sets{"model=mixtral-8x7b", "plan.tensor=8"};
  const std::string needs =
      "a mixture of experts divided by tensor 8 needs sequence parallelism: each rank sends tokens "
      "of its own to their experts; write sequence_parallel: true";
  CHECK(complaint(sets) == "plan.tensor: " + needs);
  CHECK(complaint({sets[0], sets[1], "plan.sequence_parallel=false"}) ==
        "plan.sequence_parallel: " + needs);
  CHECK(complaint({sets[0], sets[1], "plan.sequence_parallel=true"}) == "no complaint");
  CHECK(complaint({sets[0], "plan.tensor=1"}) == "no complaint");
}

TEST_CASE("tensor divides the MLPs that are there") {
  const auto mlp = [](std::int64_t shared, std::int64_t first_dense) {
    auto scenario = read(llama);
    scenario.plan.sequence_parallel = true;
    scenario.model.ffn = 1001;  // 7 x 11 x 13
    scenario.model.moe = model::Moe{.experts = 64,
                                    .top_k = 6,
                                    .expert_ffn = 1536,
                                    .shared_experts = shared,
                                    .shared_ffn = 1028,
                                    .first_dense_layers = first_dense};
    return complaints_of([&] { check(scenario); });
  };
  CHECK(mlp(0, 0) == "no complaint");
  CHECK(mlp(2, 0) == "no complaint");
  CHECK(mlp(1, 0) ==
        "plan.tensor: 8 does not divide the width of the shared experts, 1 x 1028: each rank "
        "computes an equal share of them");
  CHECK(mlp(0, 3) ==
        "plan.tensor: 8 does not divide ffn 1001: each rank computes an equal share of the MLP");
}

TEST_CASE("recomputation has one entry per virtual stage, and parts that the model has") {
  CHECK(complaint({"plan.pipeline=4", "plan.recompute=[none, full, none]"}) ==
        "plan.recompute: 3 entries; expected one per virtual stage: pipeline 4 x virtual_stages 1 "
        "= 4");
  CHECK(complaint({"plan.recompute={full_layers: 81}"}) ==
        "plan.recompute: full_layers 81 is more than the 80 layers of the model");
  CHECK(complaint({"plan.pipeline=2", "plan.recompute=[none, {full_layers: 41}]"}) ==
        "plan.recompute: full_layers 41 of virtual stage 1, which has 40 layers");
  CHECK(complaint({"plan.recompute={selective: [moe_act]}"}) ==
        "plan.recompute: moe_act: the model is dense; leave it out");
  CHECK(complaint({"plan.recompute={selective: [mla_up_proj]}"}) ==
        "plan.recompute: mla_up_proj: the model's attention is not latent; leave it out");
  CHECK(complaint({"plan.recompute={selective: [shared_experts]}"}) ==
        "plan.recompute: shared_experts: the model shares no expert; leave it out");
  CHECK(complaint({"plan.recompute={selective: [mlp, mlp]}"}) ==
        "plan.recompute.selective.1: 'mlp' stands there twice; keep one of them");
  CHECK(complaint({"plan.recompute={selective: []}"}) ==
        "plan.recompute.selective: a list of 0 values; expected 1 to 7");
  CHECK(complaint({"plan.recompute={selective: [attention]}"}) ==
        "plan.recompute.selective.0: unknown value 'attention'; expected one of core_attn, "
        "layernorm, moe_act, mla_up_proj, mlp, moe, shared_experts");
  CHECK(complaint({"plan.recompute={selective: [mlp], full_layers: 2}"}) ==
        "plan.recompute: expected one of {full_layers: N}, {checkpoint_every: K} or {selective: "
        "[module, ...]}");
  CHECK(complaint({"plan.recompute={checkpoint_every: [8, 3]}"}) ==
        "plan.recompute.checkpoint_every: rows lie inside of longer ones: expected numbers that "
        "divide the one before, such as [8, 2]");
  CHECK(complaint({"plan.recompute={checkpoint_every: 0}"}) ==
        "plan.recompute.checkpoint_every: 0 is out of range; expected 1 to 10,000: layers of one "
        "pipeline rank");
  CHECK(complaint({"plan.recompute={checkpoint_every: 4}", "plan.offload.activations=cpu"}) ==
        "plan.recompute: checkpoint_every keeps few inputs on the device, offload.activations "
        "copies them all to the host; leave one of them out");
}

TEST_CASE("layers in smaller tensor-parallel groups need samples to share out, inside of nodes") {
  const auto regrouped = [](const std::string& tensor, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"plan.layers=[{from: 0, to: 3, tensor: " + tensor + "}]",
                               "plan.tensor=8", "plan.micro_batch=8"});
    return complaint(more);
  };
  CHECK(regrouped("2") == "no complaint");
  CHECK(regrouped("2", {"plan.micro_batch=2"}) ==
        "plan.layers: tensor 2 of some layers: 4 groups share out the samples of a microbatch, but "
        "micro_batch is 2; write a multiple of 4");
  CHECK(regrouped("8") == "plan.layers: tensor 8 of some layers is the plan's own: leave it out");
  CHECK(regrouped("3") ==
        "plan.layers: tensor 3 of some layers: the groups of the plan's tensor 8 fall into smaller "
        "ones; write a divisor of 8");
  CHECK(regrouped("4}, {from: 5, to: 6, tensor: 2") ==
        "plan.layers.1.tensor: layers have one degree besides the plan's, here 4 and 2; write the "
        "same for all that differ");
  CHECK(regrouped("4", {"plan.rank_order=dp-tp-cp-ep-pp"}) ==
        "plan.layers: tensor 4 of some layers: groups of the plan's tensor 8 must lie inside of "
        "nodes; write tp first in rank_order, and a degree that divides the 8 GPUs of a node");
  CHECK(regrouped("2, data: 64, zero: 0", {"plan.data=16"}) == "no complaint");
  CHECK(
      regrouped("2, data: 8", {"plan.data=16"}) ==
      "plan.layers: from 0 to 3: data 8, but tensor 2 makes 64 replicas of the plan's 16 x tensor "
      "8; write 64 or leave it out");
  CHECK(regrouped("2, zero: 3") ==
        "plan.layers: from 0 to 3: zero 3, but the plan has zero 0: all layers share states alike; "
        "write zero for the plan");
}

TEST_CASE("a key that is left to a search says so") {
  CHECK(complaint({"plan.recompute=optimal"}) ==
        "plan.recompute: optimal is chosen by `stepcast search`; run that, or write none, "
        "selective, full, per-op, {full_layers: N}, {checkpoint_every: K} or {selective: [module, "
        "...]}");
}

TEST_CASE("strategies of layers are complete, inside the model and apart") {
  const auto layers = [](const std::string& list) { return complaint({"plan.layers=" + list}); };
  CHECK(layers("[{from: 0, to: 3}]") ==
        "plan.layers.0: expected from, to, and recompute or tensor, such as {from: 0, to: 3, "
        "recompute: full}");
  CHECK(layers("[{from: 0, to: 3, recompute: {full_layers: 2}}]") ==
        "plan.layers.0.recompute: full_layers counts layers, and these are counted already; write "
        "full");
  CHECK(layers("[{from: 4, to: 3, recompute: full}]") ==
        "plan.layers: from 4 to 3 is no range; write the lower layer first");
  CHECK(layers("[{from: 70, to: 80, recompute: full}]") ==
        "plan.layers: from 70 to 80, but the last layer of the model is 79");
  CHECK(layers("[{from: 4, to: 7, recompute: full}, {from: 0, to: 4, recompute: none}]") ==
        "plan.layers: from 0 to 4 and from 4 to 7 overlap; each layer has one choice");
  CHECK(layers("[{from: 0, to: 3, recompute: {selective: [moe]}}]") ==
        "plan.layers: moe: the model is dense; leave it out");
}

TEST_CASE("offloading needs a place and a way to it") {
  const auto without = [](const std::string& part, const std::string& offload) {
    return complaint({"plan.zero=3", "cluster.node." + part, "plan.offload=" + offload});
  };
  const std::string bare = "host.memory=0";
  for (const auto* part : {"{optimizer: cpu}", "{optimizer: cpu, gradients: cpu}",
                           "{parameters: cpu}", "{activations: cpu}", "{parameters: nvme}"})
    CHECK(without(bare, part) ==
          "plan.offload: node 'dgx-h100' has no host memory; give cluster.node.host: {memory, "
          "memory_bandwidth}, or keep everything on the device");
  CHECK(without(bare, "none") == "no complaint");
  CHECK(without("nvme.capacity=0", "{optimizer: nvme}") ==
        "plan.offload: node 'dgx-h100' has no NVMe storage; give cluster.node.nvme: {capacity, "
        "read, write}, or keep everything on the device");
  CHECK(without("nvme.capacity=0", "{optimizer: cpu}") == "no complaint");
  CHECK(complaint({"plan.offload.activations={to: cpu, layers: 81}"}) ==
        "plan.offload: activations of 81 layers, but the model has 80");
  CHECK(complaint({"plan.pipeline=4", "plan.offload.activations={to: cpu, layers: 21}"}) ==
        "plan.offload: activations of 21 layers of each pipeline rank, but none has more than 20");
  // A rank of DualPipe has the layers of two stages.
  const auto mirrored = [](const std::string& layers) {
    return complaint({"plan.pipeline=4", "plan.schedule=dualpipe", "training.global_batch=64",
                      "plan.offload.activations={to: cpu, layers: " + layers + "}"});
  };
  CHECK(mirrored("40") == "no complaint");
  CHECK(mirrored("41") ==
        "plan.offload: activations of 41 layers of each pipeline rank, but none has more than 40");
  CHECK(complaint({"plan.offload.activations={to: cpu, modules: [moe]}"}) ==
        "plan.offload: moe: the model is dense; leave it out");
  CHECK(complaint({"plan.offload.activations={to: cpu, layers: 8, modules: [mlp]}"}) ==
        "plan.offload.activations: layers and modules exclude each other; write {to: cpu, layers: "
        "N} or {to: cpu, modules: [module, ...]}");
  CHECK(complaint({"plan.offload.activations={layers: 8}"}) ==
        "plan.offload.activations: missing key 'to'; write to: cpu");
  CHECK(complaint({"plan.offload.gradients=nvme"}) ==
        "plan.offload.gradients: unknown value 'nvme'; expected 'cpu'");
  CHECK(complaint({"plan.offload=cpu"}) ==
        "plan.offload: unknown value 'cpu'; expected 'none' or a map; its keys are optimizer, "
        "gradients, parameters, activations");
}

// Twelve replicas of two ranks on three nodes of eight: a node has four ranks of a group.
TEST_CASE("shard groups divide the sharers, and fall together with nodes") {
  const auto in_groups_of = [](const std::string& ranks, const std::string& more = "zero: 3") {
    return complaint({"cluster.nodes=3", "training.global_batch=120",
                      "plan={tensor: 2, shard_group: " + ranks + ", " + more + "}"});
  };
  for (const auto* ranks : {"1", "2", "4", "12"}) CHECK(in_groups_of(ranks) == "no complaint");
  CHECK(in_groups_of("5") ==
        "plan.shard_group: 5 does not divide data 12 x context 1 = 12: equally many ranks share "
        "each copy; write a divisor, such as 4 or 6");
  CHECK(in_groups_of("6") ==
        "plan.shard_group: 6, but a node holds 4 ranks of a data-parallel group: a shard group is "
        "an equal part of a node's ranks, or all those of several nodes; write a divisor or a "
        "multiple of 4");
  CHECK(in_groups_of("5", "zero: 0") == "no complaint");
  CHECK(in_groups_of("2", "pipeline: 2, zero: 1") ==
        "plan.shard_group: 2, but some node has 4 ranks of a data-parallel group and another 2: "
        "states are divided over as many ranks on every node; write all, or degrees that fill "
        "whole nodes alike");
  for (const auto* ranks : {"1", "6"})
    CHECK(in_groups_of(ranks, "pipeline: 2, zero: 1") == "no complaint");
  CHECK(in_groups_of("0") ==
        "plan.shard_group: 0 is out of range; expected 1 to 1,000,000: ranks that share one copy");
  CHECK(in_groups_of("rack") ==
        "plan.shard_group: unknown value 'rack'; expected one of all, node or a whole number");
}

// Eight experts lie on eight of sixteen GPUs.
TEST_CASE("a shard group holds whole sets of experts") {
  const auto in_groups_of = [](const std::string& ranks, const std::string& more = "zero: 3") {
    return complaint({"model=mixtral-8x7b", "cluster.nodes=2", "training.global_batch=16",
                      "plan={expert: 8, shard_group: " + ranks + ", " + more + "}"});
  };
  for (const auto* ranks : {"8", "16", "node", "all"}) CHECK(in_groups_of(ranks) == "no complaint");
  CHECK(in_groups_of("4", "zero: 0") == "no complaint");
  CHECK(in_groups_of("4") ==
        "plan.shard_group: 4 ranks x tensor 1 = 4 GPUs hold no whole number of sets of experts, "
        "each on expert 8 x expert_tensor 1 = 8: each group keeps a copy of all experts; write "
        "more ranks, all, or a smaller expert degree");
}

// Two stages have 2 x 6 ranks each on three nodes of eight, so a group has 4 ranks on one node and
// 2 on another.
TEST_CASE("states are divided on nodes that have as many ranks of a group each") {
  const auto on_nodes = [](const std::string& degrees) {
    return complaint({"cluster.nodes=3", "training.global_batch=120", "plan=" + degrees});
  };
  const auto uneven = [&](const std::string& zero) {
    return on_nodes("{tensor: 2, pipeline: 2, shard_group: node, zero: " + zero + "}");
  };
  CHECK(uneven("1") ==
        "plan.shard_group: node, but some node has 4 ranks of a data-parallel group and another 2: "
        "states are divided over as many ranks on every node; write all, or degrees that fill "
        "whole nodes alike");
  CHECK(uneven("0") == "no complaint");
  CHECK(on_nodes("{tensor: 2, shard_group: node, zero: 1}") == "no complaint");
  CHECK(
      on_nodes("{tensor: 2, micro_batch: 2, shard_group: node, zero: 1, "
               "layers: [{from: 0, to: 0, tensor: 16}]}") ==
      "plan.layers: tensor 16 of some layers: the groups of the plan's tensor 2 fall into smaller "
      "ones; write a divisor of 2");
}

TEST_CASE("states leave the device in shares, to where they are used") {
  const auto offload = [](const std::string& states, const std::string& zero,
                          const std::string& optimizer = "adamw") {
    return complaint(
        {"plan.zero=" + zero, "plan.offload=" + states, "training.optimizer=" + optimizer});
  };
  CHECK(offload("{optimizer: nvme, gradients: cpu, parameters: nvme}", "3") == "no complaint");
  CHECK(offload("{optimizer: cpu, gradients: cpu}", "2") == "no complaint");
  CHECK(offload("{optimizer: cpu}", "0", "sgd") == "no complaint");
  CHECK(offload("{parameters: cpu}", "2") ==
        "plan.offload: parameters leave the device with zero: 3 only, which gathers them when they "
        "are needed, not 2; write zero: 3 or leave parameters out");
  CHECK(offload("{gradients: cpu}", "2") ==
        "plan.offload: gradients on the host are read by an optimizer that is there; write "
        "optimizer: cpu beside them or leave gradients out");
  CHECK(offload("{optimizer: cpu, gradients: cpu}", "1") ==
        "plan.offload: gradients leave the device with zero: 2 or 3, which reduce them after every "
        "microbatch, not 1; write zero: 2 or leave gradients out");
  CHECK(offload("{optimizer: cpu}", "1", "muon") ==
        "plan.offload: the host updates with adamw, adam or sgd, not muon; write one of them as "
        "training.optimizer or leave optimizer out");
}

TEST_CASE("sharding limits whether parameters can be gathered and gradients compressed") {
  CHECK(complaint({"plan.wrap=model", "plan.zero=2"}) ==
        "plan.wrap: parameters are gathered with zero: 3 only, not 2; write zero: 3 or leave wrap "
        "out");
  CHECK(complaint({"plan.gradient_compression=onebit", "plan.zero=1"}) == "no complaint");
  CHECK(complaint({"plan.gradient_compression=onebit", "plan.zero=2"}) ==
        "plan.gradient_compression: onebit keeps the error of a whole gradient on each rank, but "
        "zero 2 leaves no rank a whole gradient; write zero: 1 or gradient_compression: none");
  CHECK(complaint({"training.optimizer=onebit-adam", "plan.zero=3"}) ==
        "training.optimizer: onebit-adam keeps the error of a whole gradient on each rank, but "
        "zero 3 leaves no rank a whole gradient; write zero: 1 or optimizer: adam");
}

TEST_CASE("a precision needs a device that computes in it, a recipe needs fp8") {
  CHECK(complaint({"training.precision=fp8", "training.fp8_recipe=rowwise"}) == "no complaint");
  CHECK(complaint({"training.in_bf16.first_layers=1"}) ==
        "training.in_bf16: is for a precision of 8 or 4 bit (fp8, mxfp8, nvfp4), not bf16; leave "
        "it out (--set training.in_bf16=null) or change the precision");
  CHECK(complaint({"training.precision=fp8", "training.in_bf16.first_layers=78",
                   "training.in_bf16.last_layers=3"}) ==
        "training.in_bf16: first_layers 78 and last_layers 3 are more than the 80 layers of the "
        "model; write no more than there are");
  CHECK(complaint({"training.precision=fp8", "training.in_bf16.first_layers=78",
                   "training.in_bf16.last_layers=2"}) == "no complaint");
  CHECK(complaint({"training.fp8_recipe=rowwise"}) ==
        "training.fp8_recipe: is for precision: fp8, not bf16; leave it out (--set "
        "training.fp8_recipe=null) or change the precision");
  CHECK(complaint({"training.precision=mxfp8"}) ==
        "training.precision: h100-80gb-sxm has no rate for mxfp8; it has fp32, tf32, fp16, bf16, "
        "fp8");
  CHECK(complaint({"cluster.node=dgx-a100-80gb", "training.precision=fp8"}) ==
        "training.precision: a100-80gb-sxm has no rate for fp8; it has fp32, tf32, fp16, bf16");
}

TEST_CASE("FlashAttention-3 runs where it was measured") {
  CHECK(complaint({"software.attention=flash3"}) == "no complaint");
  CHECK(complaint({"software.attention=flash3", "cluster.node=dgx-a100-80gb"}) ==
        "software.attention: flash3 is written for Hopper GPUs and was not measured on "
        "a100-80gb-sxm; write flash");
  CHECK(
      complaint({"software.attention=flash2"}) ==
      "software.attention: unknown value 'flash2'; expected one of unfused, fused, flash, flash1, "
      "flash3, memory-efficient, fused-from-hopper, fused-from-blackwell; did you mean 'flash'?");
}

}  // namespace plan_mistakes_spec
