// SPDX-License-Identifier: Apache-2.0
// Jobs of NeMo 1.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace nemo_job_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;
using tests::value;

namespace {

std::string nemo(const std::string& more) {
  return "trainer: {devices: 8, num_nodes: 4, precision: bf16}\n"
         "model:\n  micro_batch_size: 1\n  global_batch_size: 64\n  encoder_seq_length: 2048\n"
         "  num_layers: 8\n  hidden_size: 512\n  num_attention_heads: 8\n"
         "  tokenizer: {library: megatron, type: GPT2BPETokenizer}\n" +
         more;
}

// Returns the places of all arguments that are written so.
std::string places_of(const scenarios::JobScenario& job, const std::string& text) {
  std::string places;
  for (const auto& one : job.account.arguments)
    if (one.text == text) places += (places.empty() ? "" : " ") + one.place;
  return places;
}

}  // namespace

TEST_CASE("jobs of NeMo and Megatron-Bridge are scenarios or are refused with a place") {
  for (const auto* folder : {"nemo1", "megatron_bridge", "nemo_automodel"})
    tests::check_jobs(folder, [](const scenarios::Error& wrong, const auto& file) {
      for (const auto& one : wrong.complaints)
        CHECK(one.place.starts_with(file.filename().string()));
    });
}

TEST_CASE("keys of NeMo 1 are arguments of Megatron-LM by other names") {
  CHECK(value(nemo(""), "cluster.gpus") == "32");
  CHECK(value(nemo(""), "training.sequence_length") == "2048");
  CHECK(value(nemo(""), "model.vocab") == "50257");
  CHECK(value(nemo(""), "model.biases") == "true");
  CHECK(value(nemo("  bias: false\n"), "model.biases") == "false");
  CHECK(value(nemo("  activation: fast-swiglu\n"), "model.activation") == "swiglu");
  CHECK(value(nemo("  normalization: layernorm1p\n"), "model.norm") == "layernorm");
  CHECK(value(nemo("  num_query_groups: 2\n"), "model.kv_heads") == "2");
  CHECK(value(nemo("  share_embeddings_and_output_weights: false\n"), "model.tied_embeddings") ==
        "false");
  CHECK(
      value(nemo("  pipeline_model_parallel_size: 2\n  virtual_pipeline_model_parallel_size: 2\n"),
            "plan.schedule") == "interleaved");
  CHECK(value(nemo("  optim: {name: mcore_distributed_optim}\n"), "plan.zero") == "1");
  CHECK(value(nemo("  optim: {name: fused_adam}\n"), "plan.zero") == "0");
  CHECK(value(nemo("  fp8: true\n  fp8_hybrid: true\n"), "training.precision") == "fp8");
}

TEST_CASE("references between keys of NeMo 1 are followed") {
  CHECK(value(nemo("  max_position_embeddings: ${.encoder_seq_length}\n"), "model.max_sequence") ==
        "2048");
  CHECK(value(nemo("  ffn_hidden_size: ${multiply:4, ${model.hidden_size}}\n"), "model.ffn") ==
        "2048");
  CHECK(value(nemo("  kv_channels: ${divide_ceil:${.hidden_size}, ${training.model."
                   "num_attention_heads}}\n"),
              "model.head_dim") == "64");
  CHECK(tests::refusal([&] {
          tests::job(nemo("  ffn_hidden_size: ${.nothing}\n"));
        }).find("model.ffn_hidden_size …: '${.nothing}' cannot be told from this file") !=
        std::string::npos);
}

TEST_CASE("a model of encoder and decoder, of state spaces or with adapters is refused") {
  const auto refused = [](const std::string& more) {
    return tests::refusal([&] { tests::job(nemo(more)); });
  };
  CHECK(refused("  encoder: {num_layers: 4}\n") ==
        "job:10:13: model.encoder.num_layers 4: encoder and decoder are two stacks; scenarios have "
        "one");
  CHECK(refused("  mamba_ssm_ngroups: 8\n").find("state-space layers") != std::string::npos);
  CHECK(refused("  peft: {peft_scheme: lora}\n").find("only adapters are trained") !=
        std::string::npos);
}

TEST_CASE("what a job of NeMo turns off is off, although the framework's profile has it") {
  const auto job =
      tests::job(nemo("  ub_tp_comm_overlap: false\n  cross_entropy_loss_fusion: False\n"
                      "  optim: {name: mcore_distributed_optim, grad_sync_dtype: fp32}\n"));
  CHECK(at(job.document, "software.tensor_overlap") == "async");
  CHECK(at(job.document, "software.fused_cross_entropy") == "false");
  CHECK(at(job.document, "plan.gradient_precision") == "fp32");
  CHECK(effect_of(job, "model.ub_tp_comm_overlap false") == Effect::read);
  CHECK(value(nemo("  tensor_model_parallel_size: 2\n"), "software.tensor_overlap") == "async");
  CHECK(value(nemo("  ub_tp_comm_overlap: true\n  tensor_model_parallel_size: 2\n"),
              "software.tensor_overlap") == "pipelined");
}

TEST_CASE("the loss of NeMo 1 is fused only where a file says so") {
  const auto fused = [](const std::string& more) {
    return value(nemo(more), "software.fused_cross_entropy");
  };
  CHECK(fused("") == "false");
  CHECK(fused("  cross_entropy_loss_fusion: null\n") == "false");
  CHECK(fused("  cross_entropy_loss_fusion: true\n") == "true");
}

TEST_CASE("virtual stages of NeMo 1 wait for their transfers unless a file overlaps these") {
  const std::string stages =
      "  pipeline_model_parallel_size: 2\n  virtual_pipeline_model_parallel_size: 2\n";
  const auto beside = [&](const std::string& more) {
    return value(nemo(stages + more), "plan.overlap.pipeline");
  };
  CHECK(beside("") == "false");
  CHECK(beside("  overlap_p2p_comm: false\n") == "false");
  CHECK(beside("  overlap_p2p_comm: true\n").empty());  // the profile has it
  const auto job = tests::beside(
      "python x.py --config-path=conf --config-name=llama trainer.devices=8 "
      "~model.overlap_p2p_comm\n",
      {{"conf/llama.yaml", nemo(stages + "  overlap_p2p_comm: true\n")}});
  CHECK(at(job.document, "plan.overlap.pipeline") == "false");
}

TEST_CASE("weights of NeMo 1 stay in fp32 unless megatron_amp_O2, which is not modelled") {
  const auto listed = [](std::string text, const std::string& name, const std::string& precision) {
    text.replace(text.find("bf16"), 4, precision);
    for (const auto& one : tests::job(text).account.arguments)
      if (one.text.starts_with(name)) return std::string(word_of(one.effect));
    return std::string("no");
  };
  const std::string name = "model.megatron_amp_O2";
  CHECK(listed(nemo(""), name, "bf16") == "not modelled");
  CHECK(listed(nemo(""), name, "16") == "not modelled");
  CHECK(listed(nemo("  megatron_amp_O2: false\n"), name, "bf16") == "not modelled");
  CHECK(listed(nemo("  megatron_amp_O2: true\n"), name, "bf16") == "without effect");
  CHECK(listed(nemo("  megatron_amp_O2: false\n"), name, "32") == "without effect");
  CHECK(listed(nemo(""), name, "32") == "no");
}

TEST_CASE("optimizers of NeMo 1 that are not distributed sum gradients of bf16 in fp32") {
  const auto gradients = [](const std::string& more) {
    return value(nemo(more), "plan.gradient_precision");
  };
  const std::string halves = "  megatron_amp_O2: true\n";
  CHECK(gradients(halves + "  optim: {name: fused_adam}\n") == "fp32");
  CHECK(gradients(halves + "  optim: {name: distributed_fused_adam}\n").empty());
  CHECK(gradients("  optim: {name: fused_adam}\n").empty());
  CHECK(effect_of(tests::job(nemo(halves + "  optim: {name: fused_adam}\n")),
                  "model.megatron_amp_O2 true") == Effect::read);
  auto fp16 = nemo(halves + "  optim: {name: fused_adam}\n");
  fp16.replace(fp16.find("bf16"), 4, "16");
  CHECK(value(fp16, "plan.gradient_precision").empty());
}

TEST_CASE("a command of NeMo 1 stands on the configuration that it names") {
  const std::string command =
      "python megatron_gpt_pretraining.py --config-path=conf --config-name=llama "
      "trainer.devices=8 trainer.num_nodes=2 model.hidden_size=1024 ++model.micro_batch_size=2\n";
  const auto config = nemo(
      "  activation: swiglu\n  ffn_hidden_size: ${multiply:3, "
      "${model.hidden_size}}\n");
  for (const auto* path : {"conf/llama.yaml", "llama.yaml"}) {
    INFO(path);
    const auto job = tests::beside(command, {{path, config}});
    CHECK(at(job.document, "cluster.gpus") == "16");
    CHECK(at(job.document, "model.layers") == "8");
    CHECK(at(job.document, "model.hidden") == "1024");
    CHECK(at(job.document, "model.ffn") == "3072");  // 3 x the command's width
    CHECK(at(job.document, "model.activation") == "swiglu");
    CHECK(at(job.document, "plan.micro_batch") == "2");
    CHECK(effect_of(job, "--config-name llama") == scenarios::Effect::none);
  }
  CHECK(tests::refusal([&] { tests::beside(command, {}); }) ==
        "job:1:55: --config-name llama: this file is not beside the job; what it trains stands "
        "there");
}

TEST_CASE("an override of NeMo 1 is listed once, where it stands") {
  const auto job = tests::beside(
      "python x.py --config-path=conf --config-name=llama trainer.devices=8 model.hidden_sise=4 "
      "model.ffn_hidden_size='${multiply:2, ${model.hidden_size}}'\n",
      {{"conf/llama.yaml", nemo("  hidden_seize: 3\n  ffn_hidden_size: 3\n  seed: 4\n")}});
  CHECK(places_of(job, "model.hidden_sise 4") == "job:1:70");
  CHECK(places_of(job, "model.hidden_seize 3") == "conf/llama.yaml:10:3");
  CHECK(places_of(job, "trainer.devices 8") == "job:1:52");
  CHECK(places_of(job, "trainer.num_nodes 4") == "conf/llama.yaml:1:23");
  CHECK(places_of(job, "model.ffn_hidden_size 3").empty());
  CHECK(at(job.document, "model.ffn") == "1024");  // 2 x 512
}

TEST_CASE("a key that a command of NeMo 1 deletes has its default, and is listed") {
  const auto job = tests::beside(
      "python x.py --config-path=conf --config-name=llama trainer.devices=8 "
      "~model.ffn_hidden_size ~model.optim ~model.bias=false ~model.nothing\n",
      {{"conf/llama.yaml", nemo("  ffn_hidden_size: 3\n  optim: {name: mcore_distributed_optim, "
                                "lr: 1}\n  bias: false\n")}});
  CHECK(at(job.document, "model.ffn") == "2048");  // 4 x 512
  CHECK(at(job.document, "model.biases") == "true");
  CHECK(at(job.document, "plan.zero") == "0");
  for (const auto* gone : {"~model.ffn_hidden_size", "~model.optim", "~model.bias=false"})
    CHECK(effect_of(job, gone) != Effect::unknown);
  CHECK(places_of(job, "~model.optim") == "job:1:93");
  CHECK(effect_of(job, "~model.nothing") == Effect::unknown);
  CHECK(places_of(job, "model.optim.name mcore_distributed_optim").empty());
}

TEST_CASE("a command that names a configuration of NeMo 1 and nothing else is a job of NeMo 1") {
  const auto config = nemo("");
  const auto job =
      tests::beside("srun python pretrain.py --config-name llama\n", {{"llama.yaml", config}});
  CHECK(job.account.framework == "nemo");
  CHECK(at(job.document, "cluster.gpus") == "32");
  const auto missing = [](const std::string& program) {
    return tests::refusal([&] { tests::beside("python " + program + " --config-name a\n", {}); });
  };
  CHECK(missing("megatron_gpt_pretraining.py")
            .ends_with("--config-name a: this file is not beside the job; what it trains stands "
                       "there"));
  CHECK(missing("main.py").find("is no program of a framework that is known") != std::string::npos);
}

}  // namespace nemo_job_spec
