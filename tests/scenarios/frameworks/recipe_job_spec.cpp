// SPDX-License-Identifier: Apache-2.0
// Recipes of NeMo, NeMo-AutoModel and Primus that a command changes or starts by another name.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace recipe_job_spec {
using tests::at;
using tests::wanted;

TEST_CASE("a bundle of precision that a command of NeMo 2 names is the precision") {
  const std::string command =
      "nemo llm pretrain --factory llama3_8b trainer.num_nodes=2 trainer.devices=8";
  const auto fp8 = tests::job(command + " trainer.plugins=bf16_with_fp8_mixed\n");
  CHECK(at(fp8.document, "training.precision") == "fp8");
  CHECK(at(fp8.document, "training.fp8_recipe") == "delayed");
  CHECK(tests::effect_of(fp8, "trainer.plugins bf16_with_fp8_mixed") == scenarios::Effect::read);
  CHECK(at(tests::job(command + " trainer.plugins=bf16_mixed\n").document, "training.precision") ==
        "bf16");
  CHECK(tests::refused(command + " trainer.plugins=mixed\n").find("expected bf16_mixed") !=
        std::string::npos);
}

TEST_CASE("fine-tuning of NeMo 1 asks for the model that stands in its checkpoint") {
  const std::string command =
      "torchrun --nproc_per_node=8 megatron_gpt_finetuning.py trainer.precision=bf16 "
      "trainer.devices=8 trainer.num_nodes=1 model.restore_from_path=/models/a.nemo "
      "model.micro_batch_size=1 model.global_batch_size=128 model.tensor_model_parallel_size=4 "
      "model.peft.peft_scheme=none model.data.train_ds.max_seq_length=2048";
  const auto job = tests::job(command + "\n");
  CHECK(wanted(job) == "model cluster.node");
  CHECK(job.document.find("model") == nullptr);
  CHECK(at(job.document, "training.sequence_length") == "2048");
  CHECK(at(job.document, "plan.tensor") == "4");
  CHECK(tests::effect_of(job, "model.data.train_ds.max_seq_length 2048") ==
        scenarios::Effect::not_modelled);
  const auto longer = tests::job(command + " model.encoder_seq_length=4096\n");
  CHECK(at(longer.document, "training.sequence_length") == "4096");
  const auto sized =
      tests::job(command +
                 " model.num_layers=8 model.hidden_size=512 model.num_attention_heads=8 "
                 "model.max_position_embeddings=2048\n");
  CHECK(at(sized.document, "model.layers") == "8");
}

TEST_CASE("arguments behind Primus's file stand over the file's overrides") {
  const std::string recipe =
      "work_group: amd\nuser_name: root\nexp_name: a\nworkspace: ./output\nmodules:\n"
      "  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n"
      "    model: llama2_7B.yaml\n    overrides:\n      micro_batch_size: 4\n"
      "      global_batch_size: 256\n      seq_length: 4096\n      max_position_embeddings: 4096\n";
  const auto read = [&](const std::string& command) {
    return tests::beside(command + "\n", {{"a.yaml", recipe}}, {"WORLD_SIZE=8"});
  };
  const std::string plain = "torchrun main.py train pretrain --config a.yaml";
  CHECK(at(read(plain).document, "plan.micro_batch") == "4");
  const auto changed = read(plain + " --micro_batch_size 2 --overlap_grad_reduce true");
  CHECK(at(changed.document, "plan.micro_batch") == "2");
  CHECK(at(changed.document, "plan.overlap.data") == "true");
  CHECK(at(changed.document, "training.global_batch") == "256");
  const auto own = read("./primus-cli direct -- train pretrain --config a.yaml --seq_length 2048");
  CHECK(own.account.framework == "primus");
  CHECK(at(own.document, "training.sequence_length") == "2048");
}

TEST_CASE("GPT-NeoX's starter names files by a folder, and without their ending") {
  const std::string config =
      "{\"pipe-parallel-size\": 2, \"model-parallel-size\": 1, \"num-layers\": 4, "
      "\"hidden-size\": 96, \"num-attention-heads\": 8, \"seq-length\": 128, "
      "\"max-position-embeddings\": 128, \"train_micro_batch_size_per_gpu\": 2}";
  const auto read = [&](const std::string& command) {
    return tests::beside(command + "\n",
                         {{"configs/125M.yml", config}, {"configs/b.yml", "{}"}, {"a.yml", config}},
                         {"WORLD_SIZE=16"});
  };
  for (const std::string arguments :
       {"train.py configs/125M.yml", "train.py -d configs 125M.yml b.yml",
        "train.py --conf_dir configs 125M b", "train.py configs/125M", "train.py -d configs a"})
    CHECK(at(read("python ./deepy.py " + arguments).document, "plan.pipeline") == "2");
  const auto both = read("./deepy.py train.py -d configs 125M b");
  CHECK(tests::effect_of(both, "configs/b.yml") == scenarios::Effect::not_modelled);
  CHECK(tests::refusal([&] { read("python deepy.py train.py -d configs c.yml"); }) ==
        "job:1:17: deepy.py is given configs/c.yml, which is not beside this file; what it trains "
        "stands there");
}

TEST_CASE("a recipe of NeMo 2 may be named by the option's letter, with arguments of its own") {
  const std::string rest = " trainer.devices=8 data.global_batch_size=64\n";
  const auto plain = tests::job("nemo llm pretrain -f llama3_8b trainer.num_nodes=2" + rest);
  CHECK(at(plain.document, "model.layers") == "32");
  CHECK(at(plain.document, "cluster.gpus") == "16");
  const auto tuned =
      tests::job("nemo llm finetune -f \"llama3_8b(num_nodes=1, peft_scheme=none)\"" + rest);
  CHECK(at(tuned.document, "model.layers") == "32");
  CHECK(at(tuned.document, "cluster.gpus") == "8");
  CHECK(tests::refused("nemo llm finetune -f llama3_8b" + rest).find("only adapters are trained") !=
        std::string::npos);
}

TEST_CASE("a command of NeMo's launcher is answered with the file of its job") {
  CHECK(tests::refused("python3 main.py training=gpt3/5b stages=[training]\n") ==
        "job:1:17: NeMo's launcher makes the job of conf/training/gpt3/5b.yaml; give that file, "
        "with the values of this command by --set");
}

// A recipe of Bridge, Qwen3-30B-A3B: 48 layers, 128 experts of which tokens choose 8, 151,936 rows.
TEST_CASE("what a command says of the model lies over the model that its recipe names") {
  struct Case {
    std::string more, key, value;
  };
  const Case bridge[]{{"", "moe.experts", "128"},
                      {"", "dropout", "0"},
                      {"model.num_layers=12", "layers", "12"},
                      {"model.num_layers=12", "hidden", "2048"},
                      {"model.num_moe_experts=64", "moe.experts", "64"},
                      {"model.num_moe_experts=64", "moe.expert_ffn", "768"},
                      {"model.moe_router_topk=4", "moe.top_k", "4"},
                      {"model.moe_ffn_hidden_size=1024", "moe.expert_ffn", "1024"},
                      {"model.moe_shared_expert_intermediate_size=512", "moe.shared_ffn", "512"},
                      {"model.moe_layer_freq=2", "moe.every", "2"},
                      {"model.moe_router_enable_expert_bias=true", "moe.router_bias", "true"},
                      {"model.hidden_dropout=0.1", "dropout", "0.1"},
                      {"model.vocab_size=160000", "vocab", "160000"},
                      {"tokenizer.vocab_size=32000", "vocab", "151936"},
                      {"model.vocab_size=160000 tokenizer.vocab_size=32000", "vocab", "160000"},
                      {"model.share_embeddings_and_output_weights=true", "tied_embeddings", "true"},
                      {"model.normalization=LayerNorm", "norm", "layernorm"},
                      {"model.add_bias_linear=true", "biases", "true"},
                      {"model.position_embedding_type=none", "position", "none"},
                      {"model.gated_linear_unit=false", "activation", "gelu"},
                      {"model.qk_layernorm=false", "query_key_norm", "false"},
                      {"model.num_query_groups=8", "kv_heads", "8"}};
  for (const auto& [more, key, expected] : bridge) {
    INFO(more);
    const auto job = tests::job(
        "torchrun --nproc-per-node 8 run_recipe.py --recipe "
        "qwen3_30b_a3b_pretrain_config train.micro_batch_size=1 " +
        more + "\n");
    CHECK(at(job.document, "model." + key) == expected);
    for (const auto& one : job.account.arguments)
      if (one.text.starts_with("model.")) CHECK(one.effect == scenarios::Effect::read);
  }
  const Case nemo[]{
      {"model.config.vocab_size=150000", "vocab", "150000"},
      {"model.config.hidden_dropout=0.1", "dropout", "0.1"},
      {"model.config.share_embeddings_and_output_weights=true", "tied_embeddings", "true"}};
  for (const auto& [more, key, expected] : nemo)
    CHECK(at(tests::job("nemo llm pretrain --factory llama3_8b trainer.num_nodes=1 "
                        "trainer.devices=8 " +
                        more + "\n")
                 .document,
             "model." + key) == expected);
}

TEST_CASE("family and size of a model of Bridge's performance scripts name it together") {
  const auto job = tests::job(
      "python scripts/performance/run_script.py -m qwen3 -mr 235b_a22b -g h100 -ng 256 -c bf16 -tp "
      "2 -pp 8 -ep 32 -cp 1 -mb 1 -gb 2048\n");
  CHECK(at(job.document, "model.layers") == "94");
  CHECK(at(job.document, "model.moe.experts") == "128");
}

TEST_CASE("a command switches parts of a recipe's model off, or says that it cannot") {
  const std::string command = "torchrun --nproc_per_node 8 run_recipe.py --recipe ";
  const auto value = [&](const std::string& recipe, const std::string& more, const char* key) {
    return at(tests::job(command + recipe + " " + more + "\n").document, key);
  };
  const std::string qwen = "qwen15_moe_a27b_pretrain_config", gpt = "gpt_oss_120b_pretrain_config";
  CHECK(value(gpt, "train.micro_batch_size=1", "model.attention_sinks") == "true");
  CHECK(value(gpt, "model.softmax_type=vanilla", "model.attention_sinks") == "false");
  CHECK(tests::refused(command + "deepseek_v3_pretrain_config model.multi_latent_attention=false\n")
            .find("is not modelled without; leave this out") != std::string::npos);
}

TEST_CASE("a switch that says neither yes nor no is refused") {
  const std::string command =
      "torchrun --nproc_per_node 8 run_recipe.py --recipe llama3_8b_pretrain_config ";
  CHECK(tests::refused(command + "model.sequence_parallel=maybe\n")
            .find("model.sequence_parallel maybe: 'maybe' is neither true nor false") !=
        std::string::npos);
  CHECK(tests::refused(command + "model.sequence_parallel=$SP\n").find("SP has no value") !=
        std::string::npos);
  CHECK(at(tests::job(command + "model.sequence_parallel=null\n").document,
           "plan.sequence_parallel") != "true");
}

TEST_CASE(
    "a recipe's degrees and micro-batch are asked for, those of experts with a model of them") {
  const auto asked = [](const std::string& recipe, const std::string& more) {
    return wanted(tests::job("torchrun --nproc_per_node 8 run_recipe.py --recipe " + recipe +
                             "_pretrain_config model.seq_length=4096 dataset.seq_length=4096 "
                             "train.global_batch_size=64 " +
                             more + "\n"));
  };
  const std::string plan = "plan.tensor plan.pipeline plan.context plan.micro_batch";
  CHECK(asked("llama3_8b", "") == plan + " cluster.node");
  CHECK(asked("qwen3_30b_a3b", "") == plan + " plan.expert plan.expert_tensor cluster.node");
  CHECK(asked("qwen3_30b_a3b",
              "train.micro_batch_size=1 model.expert_model_parallel_size=4 "
              "model.expert_tensor_parallel_size=1 model.tensor_model_parallel_size=1 "
              "model.pipeline_model_parallel_size=1 model.context_parallel_size=1") ==
        "cluster.node");
}

// Megatron-Bridge's profile moves 36 bytes a parameter, Megatron-Core's 46; each moment of two
// bytes less saves four.
TEST_CASE("narrow moments save what the profile of the framework moves of wide ones") {
  const std::string bridge =
      "torchrun --nproc_per_node 8 run_recipe.py --recipe llama3_8b_pretrain_config "
      "train.micro_batch_size=1 optimizer.use_precision_aware_optimizer=true "
      "optimizer.exp_avg_dtype=torch.bfloat16 "
      "optimizer.exp_avg_sq_dtype=bf16\n";
  CHECK(tests::value(bridge, "software.optimizer_bytes") == "8");
  CHECK(tests::value(bridge, "software.optimizer_traffic") == "28");
}

}  // namespace recipe_job_spec
