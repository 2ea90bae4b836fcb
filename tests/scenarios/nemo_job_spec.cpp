// SPDX-License-Identifier: Apache-2.0
// Jobs of NeMo 1 and 2, NeMo-AutoModel and Megatron-Bridge.
#include <algorithm>
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace nemo_job_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;

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

std::string value(const std::string& text, const std::string& path) {
  return at(tests::job(text).document, path);
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

TEST_CASE("overrides of Megatron-Bridge leave the model to be asked for, or name its recipe") {
  const std::string text =
      "train: {train_iters: 10, global_batch_size: 8, micro_batch_size: 1}\n"
      "model: {seq_length: 4096, tensor_model_parallel_size: 2, sequence_parallel: true}\n"
      "checkpoint: {save: null}\n";
  const auto job = tests::job(text);
  CHECK(job.account.framework == "megatron-bridge");
  CHECK(job.wanted.front().path == "model");
  CHECK(at(job.document, "plan.tensor") == "2");
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(value("recipe: llama32_1b_pretrain_config\n" + text, "model.layers") == "16");
}

TEST_CASE("what a job of NeMo turns off is off, although the framework's profile has it") {
  const auto job =
      tests::job(nemo("  ub_tp_comm_overlap: false\n  cross_entropy_loss_fusion: False\n"
                      "  optim: {name: mcore_distributed_optim, grad_sync_dtype: fp32}\n"));
  CHECK(at(job.document, "software.tensor_overlap") == "async");
  CHECK(at(job.document, "software.fused_cross_entropy") == "false");
  CHECK(at(job.document, "plan.gradient_precision") == "fp32");
  CHECK(effect_of(job, "model.ub_tp_comm_overlap false") == Effect::read);
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

TEST_CASE("overrides without a dot, and unknown overrides, are accounted for") {
  const auto job = tests::job(
      "HYDRA_FULL_ERROR=1 torchrun --nproc_per_node 8 run_recipe.py --recipe "
      "llama3_8b_pretrain_config mixed_precision=bf16_with_fp8_current_scaling_mixed "
      "train.global_batch_size=128 train.micro_batch_size=1 model.seq_length=8192 "
      "train.micro_batch_sise=4 +precision_of=all\n");
  CHECK(at(job.document, "training.precision") == "fp8");
  CHECK(at(job.document, "training.fp8_recipe") == "tensorwise");
  CHECK(effect_of(job, "train.micro_batch_sise 4") == scenarios::Effect::unknown);
  CHECK(effect_of(job, "precision_of all") == scenarios::Effect::unknown);
}

TEST_CASE("a variable of the environment in front of a program is no override") {
  const auto job = tests::job(
      "HYDRA_FULL_ERROR=1 ./run_recipe --recipe llama3_8b_pretrain_config "
      "train.global_batch_size=128 train.micro_batch_size=1 train.train_iters=4 seed=1\n",
      {"WORLD_SIZE=8"});
  for (const auto& one : job.account.arguments) CHECK(one.text.find("HYDRA") == std::string::npos);
  CHECK(effect_of(job, "seed 1") == Effect::unknown);
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

TEST_CASE("a recipe of which only the model is known is listed as not modelled") {
  const std::string recipe = "--recipe llama3_8b_pretrain_config";
  const auto job = tests::job(
      "torchrun --nproc_per_node 8 run_recipe.py " + recipe +
      " model.tensor_model_parallel_size=2 train.global_batch_size=128 train.micro_batch_size=1\n");
  CHECK(tests::effect_of(job, recipe) == scenarios::Effect::not_modelled);
}

TEST_CASE("a command that names a recipe or its program is one of Bridge with a single override") {
  const std::string start = "torchrun --nproc_per_node 8 ";
  for (const std::string command :
       {"scripts/run_recipe.py --recipe llama3_8b_pretrain_config train.global_batch_size=128",
        "scripts/run_recipe.py --recipe llama3_8b_pretrain_config "
        "model.tensor_model_parallel_size=2",
        "mine.py --recipe=llama3_8b_pretrain_config train.micro_batch_size=1",
        "examples/recipes/llama/pretrain_llama3_8b.py model.pipeline_model_parallel_size=2"}) {
    INFO(command);
    const auto job = tests::job(start + command + "\n");
    CHECK(job.account.framework == "megatron-bridge");
    const bool named = command.find("--recipe") != std::string::npos;
    CHECK((at(job.document, "model.layers") == "32") == named);
    CHECK(std::ranges::count(job.wanted, "model", &scenarios::WantedKey::path) == (named ? 0 : 1));
    CHECK(std::ranges::count(job.wanted, "training.sequence_length", &scenarios::WantedKey::path) ==
          1);
  }
  const auto refused = [&](const std::string& command) {
    return tests::refusal([&] { tests::job(start + command + "\n"); });
  };
  CHECK(refused("run_recipe.py --recipe llama3_8b_pretrain_config").find("no program of") !=
        std::string::npos);
  CHECK(refused("mine.py train.global_batch_size=128").find("no program of") != std::string::npos);
  CHECK(refused("mine.py train.size=1 # run_recipe.py").find("no program of") != std::string::npos);
  CHECK(
      refused("mine.py model.num_layers=24\necho run_recipe.py --recipe a").find("no program of") !=
      std::string::npos);
  // programs of others with such names have keys that Bridge has not
  for (const std::string others :
       {"pretrain_mine.py model.hidden_dim=4096 train.train_iters=100",
        "finetune_gpt.py model.num_layers=24 model.hidden_size=1024 train.batch=3"}) {
    INFO(others);
    CHECK(refused(others).find("no program of") != std::string::npos);
  }
}

TEST_CASE("what NeMo 2 writes of a run is read with the model of its class") {
  const auto exported = [](const std::string& config, const std::string& more = {}) {
    return "_target_: nemo.collections.llm.api.pretrain\n_partial_: true\n"
           "model:\n  _target_: nemo.collections.llm.gpt.model.llama.LlamaModel\n"
           "  config:\n    _target_: nemo.collections.llm.gpt.model.llama." +
           config +
           "\n"
           "trainer:\n  _target_: nemo.lightning.pytorch.trainer.Trainer\n  accelerator: gpu\n"
           "  devices: 8\n  num_nodes: 2\n  plugins:\n"
           "    _target_: nemo.lightning.pytorch.plugins.mixed_precision.MegatronMixedPrecision\n"
           "    precision: bf16-mixed\n    params_dtype: {_call_: false, _target_: "
           "torch.bfloat16}\n"
           "  callbacks:\n  - _target_: nemo.utils.exp_manager.TimingCallback\n"
           "  - _target_: nemo.lightning.pytorch.callbacks.MegatronCommOverlapCallback\n"
           "    tp_comm_overlap: true\n"
           "  strategy:\n    _target_: nemo.lightning.pytorch.strategies.MegatronStrategy\n"
           "    tensor_model_parallel_size: 2\n    sequence_parallel: true\n"
           "data:\n  _target_: nemo.collections.llm.gpt.data.mock.MockDataModule\n"
           "  seq_length: 4096\n  micro_batch_size: 1\n  global_batch_size: 512\n"
           "optim:\n  config: {optimizer: adam, use_distributed_optimizer: true}\n" +
           more;
  };
  const auto job = tests::job(exported("Llama3Config8B"));
  CHECK(job.account.framework == "nemo2");
  CHECK(tests::wanted(job) == "cluster.node");
  CHECK(at(job.document, "model.layers") == "32");
  CHECK(at(job.document, "model.activation") == "swiglu");
  CHECK(at(job.document, "plan.tensor") == "2");
  CHECK(at(job.document, "plan.pipeline") == "1");
  CHECK(at(job.document, "plan.zero") == "1");
  CHECK(at(job.document, "plan.overlap.data") == "false");
  CHECK(at(job.document, "training.global_batch") == "512");
  CHECK(at(job.document, "training.sequence_length") == "4096");
  CHECK(at(job.document, "cluster.gpus") == "16");
  CHECK(at(job.document, "software.tensor_overlap") == "pipelined");
  for (const auto& one : job.account.arguments) {
    INFO(one.text);
    CHECK(one.effect != Effect::unknown);
  }
  const auto fewer =
      tests::job(exported("Llama31Config8B\n    num_layers: 4\n    hidden_size: 4096"));
  CHECK(at(fewer.document, "model.layers") == "4");
  CHECK(at(fewer.document, "model.ffn") == "14336");
  CHECK(tests::wanted(tests::job(exported("OwnConfig9B"))).starts_with("model "));
  const auto refused = [](const std::string& text) {
    return tests::refusal([&] { tests::job(text); });
  };
  CHECK(refused(exported("Llama3Config8B", "peft: {_target_: nemo.collections.llm.peft.LoRA}\n"))
            .find("only adapters are trained") != std::string::npos);
  auto other = exported("Llama3Config8B");
  other.replace(other.find("MegatronStrategy"), std::string("Megatron").size(), "FSDP2");
  CHECK(refused(other).find("strategies.FSDP2Strategy: only ") != std::string::npos);
}

// An export of Llama 3 8B with these lines of its trainer, and more of the job.
std::string export_of(const std::string& trainer, const std::string& more = {}) {
  return "_target_: nemo.collections.llm.api.pretrain\n"
         "model:\n  _target_: nemo.collections.llm.gpt.model.llama.LlamaModel\n"
         "  config: {_target_: nemo.collections.llm.gpt.model.llama.Llama3Config8B}\n"
         "trainer:\n  devices: 8\n  num_nodes: 2\n"
         "  strategy:\n    _target_: nemo.lightning.pytorch.strategies.MegatronStrategy\n"
         "    tensor_model_parallel_size: 2\n    gradient_as_bucket_view: true\n" +
         trainer + "data: {seq_length: 4096, micro_batch_size: 1, global_batch_size: 512}\n" + more;
}

TEST_CASE("the precision of an export of NeMo 2 is the same in a list of plugins and alone") {
  const std::string of_class =
      "_target_: nemo.lightning.pytorch.plugins.mixed_precision.MegatronMixedPrecision\n";
  const std::string alone = "  plugins:\n    " + of_class,
                    listed = "  plugins:\n  - _target_: a.OtherPlugin\n    precision: 32\n  - " +
                             of_class;
  for (const auto& plugins : {alone, listed}) {
    const auto mixed = plugins + "    precision: bf16-mixed\n";
    CHECK(value(export_of(mixed), "training.precision") == "bf16");
    CHECK(value(export_of(mixed + "    fp8: hybrid\n"), "training.precision") == "fp8");
    // MegatronMixedPrecision has grad_reduce_in_fp32: true
    CHECK(value(export_of(mixed), "plan.gradient_precision") == "fp32");
    CHECK(value(export_of(mixed + "    grad_reduce_in_fp32: true\n"), "plan.gradient_precision") ==
          "fp32");
    CHECK(value(export_of(mixed + "    grad_reduce_in_fp32: false\n"), "plan.gradient_precision") !=
          "fp32");
  }
}

TEST_CASE("keys of an export's callbacks are those of the callback that they stand in") {
  const auto job = tests::job(export_of(
      "  callbacks:\n"
      "  - _target_: nemo.lightning.pytorch.callbacks.MegatronCommOverlapCallback\n"
      "    tp_comm_overlap: true\n    tp_comm_overlap_cfg:\n"
      "      _target_: nemo.collections.llm.recipes.TransformerLayerTPOverlapCfg\n"
      "      qkv_dgrad: {_target_: nemo.collections.llm.recipes.BulkOverlapCfg, cga_size: 2}\n"
      "    defer_embedding_wgrad_compute: true\n    wgrad_deferral_limit: 22\n"
      "  - _target_: nemo.lightning.pytorch.callbacks.GarbageCollectionCallback\n"
      "    gc_interval_train: 100\n",
      "optim:\n  lr_scheduler: {_target_: nemo.CosineAnnealingScheduler, warmup_steps: 9}\n"));
  CHECK(at(job.document, "software.tensor_overlap") == "pipelined");
  for (const auto& one : job.account.arguments) {
    INFO(one.text);
    CHECK(one.effect != Effect::unknown);
  }
  CHECK(effect_of(job, "trainer.callbacks[].gc_interval_train 100") == Effect::none);
  CHECK(effect_of(job, "optim.lr_scheduler.warmup_steps 9") == Effect::none);
  CHECK(effect_of(job, "trainer.strategy.gradient_as_bucket_view true") == Effect::none);
}

TEST_CASE(
    "recipes of NeMo 2 and Bridge sum gradients in fp32, and the performance scripts in bf16") {
  const auto gradients = [](const std::string& command) {
    return value(command + "\n", "plan.gradient_precision");
  };
  const std::string nemo2 = "nemo llm pretrain --factory llama3_8b trainer.num_nodes=2",
                    bridge =
                        "torchrun --nproc_per_node 8 run_recipe.py --recipe "
                        "llama3_8b_pretrain_config train.micro_batch_size=1",
                    scripts =
                        "python setup_experiment.py -m llama3 -mr 8b -c bf16 -ng 8 -mb 1 -gb 128 "
                        "-tp 1 -pp 1 -cp 1";
  CHECK(gradients(nemo2) == "fp32");
  CHECK(gradients(nemo2 + " trainer.plugins.grad_reduce_in_fp32=false") == "bf16");
  CHECK(gradients(bridge) == "fp32");
  CHECK(gradients(bridge + " mixed_precision=bf16_with_fp8_current_scaling_mixed") == "fp32");
  CHECK(gradients(bridge + " mixed_precision.grad_reduce_in_fp32=false") == "bf16");
  CHECK(gradients(bridge + " ddp.grad_reduce_in_fp32=false") == "fp32");  // written over
  CHECK(gradients(bridge + " mixed_precision=fp16_mixed").empty());
  CHECK(value(bridge + " mixed_precision=fp16_mixed\n", "software.gradient_precision") == "fp16");
  CHECK(gradients(scripts) == "bf16");
  CHECK(gradients(scripts + " mixed_precision.grad_reduce_in_fp32=true") == "fp32");
}

TEST_CASE("tensor-parallel communication is cut into parts only where a job asks for it") {
  const auto overlap = [](const std::string& text) {
    return value(text, "software.tensor_overlap");
  };
  const std::string nemo2 =
      "nemo llm pretrain --factory llama3_8b trainer.strategy.tensor_model_parallel_size=2";
  const std::string bridge =
      "torchrun --nproc_per_node 8 run_recipe.py --recipe llama3_8b_pretrain_config "
      "model.tensor_model_parallel_size=2";
  CHECK(overlap(nemo2 + "\n") == "async");
  CHECK(overlap(nemo2 + " model.config.tp_comm_overlap=true\n") == "pipelined");
  CHECK(overlap(bridge + "\n") == "async");
  CHECK(overlap(bridge + " comm_overlap.tp_comm_overlap=true\n") == "pipelined");
  CHECK(overlap("python setup_experiment.py -m llama3 -mr 8b -ng 8 -mb 1 -gb 128 -tp 2\n") ==
        "pipelined");
  CHECK(overlap(nemo("  tensor_model_parallel_size: 2\n")) == "async");
}

TEST_CASE("overrides of a recipe are read from a command line") {
  const auto job = tests::job(
      "torchrun --nproc_per_node 8 --nnodes 2 pretrain.py --recipe llama3_8b_pretrain_config \\\n"
      "  train.global_batch_size=128 train.micro_batch_size=1 model.tensor_model_parallel_size=2 "
      "\\\n"
      "  +model.sequence_parallel=true dataset.sequence_length=8192\n");
  CHECK(job.account.framework == "megatron-bridge");
  CHECK(at(job.document, "cluster.gpus") == "16");
  CHECK(at(job.document, "plan.tensor") == "2");
  CHECK(at(job.document, "model.layers") == "32");
  CHECK(at(job.document, "training.sequence_length") == "8192");
}

TEST_CASE("sequence parallelism of a recipe is asked for beside tensor parallelism") {
  const auto asks = [](const std::string& overrides) {
    const auto job = tests::job("nemo llm pretrain --factory llama3_70b " + overrides + "\n");
    return std::ranges::count(job.wanted, "plan.sequence_parallel", &scenarios::WantedKey::path) ==
           1;
  };
  const std::string tensor = "trainer.strategy.tensor_model_parallel_size=";
  CHECK(asks(tensor + "4"));
  CHECK_FALSE(asks(tensor + "1"));
  CHECK_FALSE(asks(tensor + "4 trainer.strategy.sequence_parallel=true"));
  CHECK_FALSE(asks(tensor + "4 trainer.strategy.sequence_parallel=false"));
}

TEST_CASE("a command of NeMo 2 is known by its program, and its recipe may be a call") {
  const auto plain = tests::job("nemo llm pretrain --factory llama3_8b\n");
  CHECK(plain.account.framework == "nemo2");
  CHECK(at(plain.document, "model.layers") == "32");
  CHECK(std::ranges::count(plain.wanted, "plan.tensor", &scenarios::WantedKey::path) == 1);
  const auto call = tests::job(
      "nemo llm finetune -y peft=none --factory "
      "'llama3_8b( num_nodes = 2, num_gpus_per_node=8, foo=3)'\n");
  CHECK(at(call.document, "model.layers") == "32");
  CHECK(at(call.document, "cluster.gpus") == "16");
  CHECK(effect_of(call, "num_gpus_per_node=8") == Effect::read);
  CHECK(effect_of(call, "foo=3") == Effect::unknown);
  const auto gpus = [](const std::string& words) {
    return at(tests::job("nemo llm pretrain " + words + "\n").document, "cluster.gpus");
  };
  CHECK(gpus("trainer.num_nodes=4 --factory 'llama3_8b(num_nodes=2, num_gpus_per_node=8)'") ==
        "32");
  CHECK(gpus("--factory 'llama3_8b(num_nodes=\"2\", a=[1, 2], num_gpus_per_node=8)'") == "16");
}

TEST_CASE("a recipe of NeMo-AutoModel is a scenario") {
  const std::string text =
      "model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config, config: "
      "{pretrained_model_name_or_path: openai/gpt-oss-20b}, backend: {dispatcher: deepep}}\n"
      "step_scheduler: {global_batch_size: 256, local_batch_size: 4}\ndataset: {seq_len: 4096}\n"
      "distributed: {strategy: fsdp2, ep_size: 8, activation_checkpointing: true}\n";
  CHECK(value(text, "model.moe.experts") == "32");
  CHECK(value(text, "plan.expert") == "8");
  CHECK(value(text, "plan.micro_batch") == "4");
  CHECK(value(text, "plan.recompute") == "full");
  CHECK(value(text, "software.moe_dispatcher") == "deepep");
  auto copies = text;
  copies.insert(copies.find("fsdp2") + 5, ", dp_replicate_size: 2");
  CHECK(at(tests::job(copies, {"WORLD_SIZE=32"}).document, "plan.shard_group") == "16");
  CHECK(value(copies, "plan.shard_group").empty());
  auto older = text;
  older.replace(older.find("dispatcher: deepep"), 18, "enable_deepep: true");
  CHECK(value(older, "software.moe_dispatcher") == "deepep");
  older.replace(older.find("enable_deepep: true"), 19, "enable_deepep: false");
  CHECK(value(older, "software.moe_dispatcher") == "all-to-all");
}

TEST_CASE("a pipeline of NeMo-AutoModel stands in a section of its own in older recipes") {
  const std::string text =
      "model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config, config: "
      "{pretrained_model_name_or_path: Qwen/Qwen3-8B}}\n"
      "step_scheduler: {global_batch_size: 256, local_batch_size: 4}\ndataset: {seq_len: 4096}\n"
      "distributed: {strategy: fsdp2, pp_size: 2}\n"
      "autopipeline: {pp_schedule: gpipe, pp_microbatch_size: 2}\n";
  CHECK(value(text, "plan.schedule") == "gpipe");
  CHECK(value(text, "plan.micro_batch") == "2");
}

TEST_CASE("a job that gives nodes and not their GPUs runs on all GPUs of these nodes") {
  const std::string text =
      "nemo llm pretrain --factory llama3_8b trainer.num_nodes=4 data.global_batch_size=64 "
      "data.micro_batch_size=1 data.seq_length=8192 trainer.max_steps=1\n";
  const auto cluster = [&](std::vector<std::string> env, const char* key) {
    return at(tests::job(text, std::move(env)).document, std::string("cluster.") + key);
  };
  CHECK(cluster({}, "nodes") == "4");
  CHECK(cluster({}, "gpus").empty());
  CHECK(cluster({"WORLD_SIZE=16"}, "gpus") == "16");
  CHECK(cluster({"WORLD_SIZE=16"}, "nodes").empty());
  const auto torchrun = tests::job(
      "torchrun --nnodes 2 --nproc-per-node gpu pretrain_gpt.py --num-layers 4 --hidden-size 64 "
      "--num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 --micro-batch-size 1 "
      "--global-batch-size 16 --bf16\n");
  CHECK(at(torchrun.document, "cluster.nodes") == "2");
}

}  // namespace nemo_job_spec
