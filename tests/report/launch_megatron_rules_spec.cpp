// SPDX-License-Identifier: Apache-2.0
// Megatron-LM's script holds what Megatron-LM and Transformer Engine accept together.
#include "report/launch/framework_limits.hpp"
#include "report/launch/launch.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace launch_megatron_rules_spec {

using report::Framework;

namespace {

struct Asked {
  std::string model, plan, training = {}, software = {};

  forecast::Scenario scenario() const {
    return scenarios::read_scenario("model: " + model +
                                        "\ncluster: {node: dgx-h100, nodes: 4}\n"
                                        "training: {sequence_length: 4096, global_batch: 128" +
                                        (training.empty() ? "" : ", " + training) +
                                        "}\nsoftware: {base: megatron-core, overlap_pipeline: "
                                        "false, overlap_expert: false" +
                                        (software.empty() ? "" : ", " + software) + "}\nplan: {" +
                                        plan + "}\n",
                                    "s");
  }
};

// The launch file that is written, and the sentences about it.
struct Written {
  std::string text;
  std::vector<std::string> lost;

  explicit Written(const Asked& asked) {
    auto launch = report::launch(asked.scenario(), Framework::megatron);
    text = std::move(launch.text);
    lost = report::sentences_of(launch.not_expressed);
  }
  bool has(const std::string& words) const {
    return golden::contains(text, words + " ") || golden::contains(text, words + "\n");
  }
};

using Lost = std::vector<std::string>;
constexpr const char* queues = "CUDA_DEVICE_MAX_CONNECTIONS";

}  // namespace

TEST_CASE("tokens of experts travel beside computation where a dispatcher sends them") {
  const std::string flag = "--overlap-moe-expert-parallel-comm", plan = "expert: 4, overlap: ";
  const Written sent({"mixtral-8x7b", plan + "{expert: true}"});
  CHECK(golden::contains(sent.text, flag));
  CHECK(sent.lost.empty());
  const Written gathered(
      {"mixtral-8x7b", plan + "{expert: true}", "", "moe_dispatcher: all-gather"});
  CHECK_FALSE(golden::contains(gathered.text, flag));
  CHECK(gathered.lost == Lost{"overlap.expert true: Megatron-LM refuses it where moe_dispatcher is "
                              "all-gather; here layers wait for tokens"});
}

TEST_CASE("kernels start in one queue for tensor ranks, unless tokens travel beside computation") {
  const std::string plan = "tensor: 2, sequence_parallel: true, expert: 4, overlap: ";
  CHECK(golden::contains(Written({"mixtral-8x7b", plan + "{expert: false}"}).text, queues));
  CHECK_FALSE(golden::contains(Written({"mixtral-8x7b", plan + "{expert: true}"}).text, queues));
}

TEST_CASE("weights are in 8 bit alone where the distributed optimizer gathers them") {
  const std::string precision = "precision: fp8, optimizer: ", narrow = "narrow_weights: true";
  CHECK(Written({"llama3-8b", "zero: 1", precision + "adamw", narrow}).has("--fp8-param-gather"));
  CHECK(Written({"llama3-8b", "zero: 3", precision + "adamw", narrow}).has("--fp8-param-gather"));
  const Lost sentence{
      "software.narrow_weights: Megatron-LM keeps 16-bit weights without the distributed optimizer "
      "(zero 1)"};
  const Written replicas({"llama3-8b", "zero: 0", precision + "adamw", narrow});
  CHECK_FALSE(replicas.has("--fp8-param-gather"));
  CHECK(replicas.lost == sentence);
  CHECK(Written({"llama3-8b", "zero: 0", precision + "muon", narrow}).lost == sentence);
}

TEST_CASE("a graph of the whole step comes without checks of losses, and without offloading") {
  const std::string graph = "--cuda-graph-impl full_iteration",
                    unchecked = "--no-check-for-nan-in-loss-and-grad";
  const Written graphed({"llama3-8b", "zero: 1", "", "cuda_graphs: true"});
  CHECK(graphed.has(graph));
  CHECK(graphed.has(unchecked));
  CHECK_FALSE(Written({"llama3-8b", "zero: 1"}).has(unchecked));
  const Written offloads(
      {"llama3-8b", "zero: 1, offload: {activations: cpu}", "", "cuda_graphs: true"});
  CHECK_FALSE(offloads.has(graph));
  CHECK(offloads.lost.front() ==
        "software.cuda_graphs true: Megatron-LM graphs no step that offloads activations");
}

TEST_CASE("tensor ranks divide no experts with biases") {
  const std::string biased =
      "{base: mixtral-8x7b, biases: true, qkv_biases: true, moe: {expert_biases: true}}";
  const Asked divided{biased, "tensor: 2, sequence_parallel: true, expert: 2, expert_tensor: 2"};
  const Written written(divided);
  CHECK(written.has("--expert-tensor-parallel-size 1"));
  const Lost sentence{
      "expert_tensor 2: Megatron-LM divides no experts with biases; 1 is written instead"};
  CHECK(report::beyond(divided.scenario(), Framework::megatron) == sentence);
  const Asked plain{"mixtral-8x7b",
                    "tensor: 2, sequence_parallel: true, expert: 2, expert_tensor: 2"};
  CHECK(Written(plain).has("--expert-tensor-parallel-size 2"));
  const auto most = [](const Asked& asked) {
    search::Question question;
    question.scenario = asked.scenario();
    return report::within_limits(question, Framework::megatron).space.expert_tensor.most;
  };
  CHECK(most(divided) == 1);
  CHECK(most(plain) > 1);
}

TEST_CASE("Megatron-LM builds prediction modules for rotary positions, or none") {
  const Written rotary({"{base: llama3-8b, multi_token_prediction: 1}", "zero: 1"});
  CHECK(rotary.has("--mtp-num-layers 1"));
  CHECK(rotary.lost.empty());
  const Written learned({"{base: gpt3-175b, multi_token_prediction: 1}",
                         "tensor: 8, pipeline: 4, zero: 1, layers_per_stage: [25, 24, 24, 23]"});
  CHECK_FALSE(learned.has("--mtp-num-layers 1"));
  CHECK(golden::contains(learned.text, ",t*23L'"));
  CHECK(learned.lost == Lost{"model.multi_token_prediction 1: Megatron-LM builds no such modules "
                             "for learned positions; none are written"});
}

TEST_CASE("delayed scaling recomputes no norms and no activation of experts by themselves") {
  const std::string plan = "zero: 1, recompute: {selective: [layernorm]}";
  const Written delayed({"llama3-8b", plan, "precision: fp8, fp8_recipe: delayed"});
  CHECK(delayed.has("--recompute-method uniform"));
  CHECK(delayed.lost == Lost{"recompute: with fp8_recipe delayed Megatron-LM recomputes neither "
                             "layernorm nor moe_act by itself; all layers whole is written "
                             "instead"});
  const Written tensorwise({"llama3-8b", plan, "precision: fp8, fp8_recipe: tensorwise"});
  CHECK(tensorwise.has("--recompute-modules layernorm"));
  CHECK(tensorwise.lost.empty());
  const Written core(
      {"llama3-8b", "zero: 1, recompute: selective", "precision: fp8, fp8_recipe: delayed"});
  CHECK(core.has("--recompute-modules core_attn"));
}

TEST_CASE("a dispatcher of its own kernels stands where ranks send tokens") {
  const std::string deepep = "moe_dispatcher: deepep";
  CHECK(Written({"mixtral-8x7b", "expert: 4", "", deepep}).has("--moe-token-dispatcher-type flex"));
  const Written alone({"mixtral-8x7b", "zero: 3", "", deepep});
  CHECK(alone.has("--moe-token-dispatcher-type alltoall"));
  CHECK(alone.lost.empty());
  const std::string tensor = "tensor: 2, sequence_parallel: true, expert_tensor: 2, zero: 3";
  CHECK(Written({"mixtral-8x7b", tensor, "", deepep}).has("--moe-token-dispatcher-type flex"));
}

TEST_CASE("all-to-all drops tokens beyond a capacity, and all-gather drops none") {
  const std::string model = "{base: mixtral-8x7b, moe: {capacity_factor: 1.0}}";
  const Written gathered({model, "expert: 4", "", "moe_dispatcher: all-gather"});
  CHECK(gathered.has("--moe-token-dispatcher-type alltoall"));
  CHECK(gathered.lost == Lost{"software.moe_dispatcher all-gather: Megatron-LM has "
                              "model.moe.capacity_factor with all-to-all, which is written "
                              "instead"});
  CHECK(Written({"mixtral-8x7b", "expert: 4", "", "moe_dispatcher: all-gather"})
            .has("--moe-token-dispatcher-type allgather"));
}

TEST_CASE("windows go with gathered keys, and no ring") {
  const Asked ring{"{base: llama3-8b, attention_window: {size: 1024}}",
                   "context: 2, context_method: ring"};
  CHECK(Written(ring).has("--cp-comm-type all_gather"));
  CHECK(report::beyond(ring.scenario(), Framework::megatron) ==
        Lost{"context_method ring: Transformer Engine's ring knows no attention_window; all-gather "
             "is written instead"});
  CHECK(Written({"llama3-8b", "context: 2, context_method: ring"}).has("--cp-comm-type p2p"));
  search::Question question;
  question.scenario = ring.scenario();
  CHECK(report::within_limits(question, Framework::megatron).space.context.most == 1);
}

TEST_CASE("all-to-all of sequences wants key heads for each of their ranks") {
  const auto plan = [](int tensor) {
    return "context: 4, context_method: ulysses, tensor: " + std::to_string(tensor) +
           (tensor > 1 ? ", sequence_parallel: true" : "");
  };
  CHECK(Written({"llama3-8b", plan(2)}).has("--cp-comm-type a2a"));  // 4 of 8 key heads
  const Asked thin{"llama3-8b", plan(4)};
  CHECK(Written(thin).has("--cp-comm-type p2p"));
  CHECK(report::beyond(thin.scenario(), Framework::megatron) ==
        Lost{"context_method ulysses: Transformer Engine does not divide 2 key heads of a rank by "
             "context 4; ring is written instead"});
}

TEST_CASE("attention has the kernels of its precision, and those that take divided sequences") {
  const std::string unfused = "attention: unfused";
  CHECK(Written({"llama3-8b", "zero: 1", "", unfused}).has("--attention-backend unfused"));
  const Written divided({"llama3-8b", "context: 2, context_method: ring", "", unfused});
  CHECK(divided.has("--attention-backend flash"));
  CHECK(divided.lost == Lost{"software.attention unfused: Transformer Engine divides no sequences "
                             "for it, and flash is written instead"});
  const Written wide({"llama3-8b", "zero: 1", "precision: fp32"});
  CHECK(wide.has("--attention-backend unfused"));
  CHECK(wide.lost == Lost{"software.attention fused: in 32 bit Transformer Engine has unfused "
                          "alone, and unfused is written instead"});
  const Asked both{"llama3-8b", "context: 2, context_method: ring", "precision: fp32"};
  CHECK(report::beyond(both.scenario(), Framework::megatron) ==
        Lost{"context_method ring: Transformer Engine has no attention in fp32 for divided "
             "sequences, and refuses to start"});
}

TEST_CASE("Muon runs in bf16 where fp16 is asked") {
  const Written muon({"llama3-8b", "zero: 0", "precision: fp16, optimizer: muon"});
  CHECK(muon.has("--bf16"));
  CHECK_FALSE(muon.has("--fp16"));
  CHECK(muon.lost == Lost{"training.precision fp16: Megatron-LM has no Muon in it; bf16 is written "
                          "instead"});
  CHECK(Written({"llama3-8b", "zero: 0", "precision: fp16"}).has("--fp16"));
}

TEST_CASE("a squared ReLU has its biases by themselves") {
  const std::string model = "{base: gpt2-xl, activation: squared_relu}";
  const Written fused({model, "zero: 1"});
  CHECK(fused.has("--no-bias-gelu-fusion"));
  CHECK(fused.lost == Lost{"software.fused_bias_activation true: Megatron-LM fuses biases with "
                           "GELU and gated activations only"});
  CHECK(Written({model, "zero: 1", "", "fused_bias_activation: false"}).lost.empty());
  CHECK_FALSE(Written({"gpt2-xl", "zero: 1"}).has("--no-bias-gelu-fusion"));
  CHECK_FALSE(Written({"{base: gpt2-xl, activation: squared_relu, biases: false, qkv_biases: "
                       "false, output_bias: false}",
                       "zero: 1"})
                  .has("--no-bias-gelu-fusion"));
}

}  // namespace launch_megatron_rules_spec
