// SPDX-License-Identifier: Apache-2.0
// Defaults of frameworks where a job says nothing, and the other words for what it says.
#include <map>
#include <string>

#include "scenarios/jobs/scripts/shell_script.hpp"
#include "tests/scenarios/jobs.hpp"

namespace job_defaults_spec {

using scenarios::Effect;

std::string read(const std::string& text, const std::string& key, const std::string& as = {}) {
  return tests::at(tests::job(text, {}, as).document, key);
}

std::string refusal(const std::string& text) {
  try {
    tests::job(text);
  } catch (const scenarios::Error& wrong) {
    return wrong.complaints.front().text;
  }
  return {};
}

const std::string megatron =
    "pretrain_gpt.py --num-layers 4 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
    "--vocab-size 3200 --max-position-embeddings 1024 --bf16 --micro-batch-size 2 ";
const std::string eight = "torchrun --nproc_per_node 8 --nnodes 2 ";

TEST_CASE("without a global batch Megatron-LM takes one microbatch of every replica") {
  const auto batch = [](const std::string& more) {
    return read(eight + megatron + more + "\n", "training.global_batch");
  };
  CHECK(batch("") == "32");  // 2 for each of 16
  CHECK(batch("--tensor-model-parallel-size 4") == "8");
  CHECK(batch("--global-batch-size 64") == "64");
}

TEST_CASE("arguments of Megatron-LM's first releases name their software") {
  const auto base = [](const std::string& more) {
    return read(eight + megatron + more + "\n", "software.base");
  };
  CHECK(base("") == "megatron-core");
  CHECK(base("--DDP-impl torch") == "megatron-2021");
  CHECK(base("--activations-checkpoint-method uniform") == "megatron-2021");
}

TEST_CASE("Megatron-LM's first releases have no FlashAttention unless it is asked for") {
  const auto kernel = [](const std::string& more) {
    return read(eight + megatron + more + "\n", "software.attention");
  };
  CHECK(kernel("") == "fused-from-hopper");
  CHECK(kernel("--DDP-impl local") == "unfused");
  CHECK(kernel("--activations-checkpoint-method uniform") == "unfused");
  CHECK(kernel("--DDP-impl local --use-flash-attn") == "flash");
}

TEST_CASE("switches of 2023 for fp8 are the format and the delayed recipe") {
  for (const std::string format : {"--fp8-hybrid", "--fp8-e4m3", "--fp8-format hybrid"}) {
    CHECK(read(eight + megatron + format + "\n", "training.precision") == "fp8");
    CHECK(read(eight + megatron + format + "\n", "training.fp8_recipe") == "delayed");
  }
}

TEST_CASE("heads that are exchanged in smaller groups are forecast as a ring, and it is said") {
  const auto job = tests::job(eight + megatron +
                              "--context-parallel-size 4 --cp-comm-type a2a+p2p "
                              "--hierarchical-context-parallel-sizes 2 2\n");
  CHECK(tests::at(job.document, "plan.context_method") == "ring");
  CHECK(tests::effect_of(job, "--cp-comm-type a2a+p2p") == Effect::not_modelled);
}

const std::string clm =
    "run_clm.py --model_name_or_path meta-llama/Llama-2-7b-hf --block_size 2048 --bf16 "
    "--per_device_train_batch_size 1 ";

TEST_CASE("the Trainer reduces FSDP's gradients once a step, however many microbatches it has") {
  const auto sync = [](const std::string& more) {
    return read("torchrun --nproc_per_node 8 " + clm + more + "\n", "plan.gradient_sync");
  };
  CHECK(sync("--fsdp full_shard --gradient_accumulation_steps 4") == "step");
  CHECK(sync("--fsdp shard_grad_op --gradient_accumulation_steps 4") == "step");
  CHECK(sync("--fsdp full_shard") == "step");
  CHECK(sync("--gradient_accumulation_steps 4").empty());  // replicas reduce once in any case
}

TEST_CASE("FSDP under the Trainer reduces gradients in the type that it computes in") {
  const auto reduced = [](const std::string& more) {
    return read("torchrun --nproc_per_node 8 " + clm + more + "\n", "software.gradient_precision");
  };
  CHECK(reduced("--fsdp full_shard") == "bf16");
  CHECK(reduced("--fsdp full_shard --bf16 false --fp16") == "fp16");
  CHECK(reduced("--fsdp full_shard --bf16 false").empty());
  CHECK(reduced("").empty());  // replicas of fp32 weights have fp32 gradients
}

TEST_CASE("the Trainer's older switch for Adafactor counts unless --optim is given") {
  const auto optimizer = [](const std::string& more) {
    return read("torchrun --nproc_per_node 8 " + clm + more + "\n", "training.optimizer");
  };
  CHECK(optimizer("--adafactor") == "adafactor");
  CHECK(optimizer("--adafactor --optim adamw_torch") == "adamw");
  CHECK(optimizer("") == "adamw");
}

TEST_CASE("TRL's SFTConfig recomputes, trains in bf16 and cuts sequences at 1,024 tokens") {
  const std::string sft =
      "torchrun --nproc_per_node 8 trl/scripts/sft.py --model_name_or_path "
      "Qwen/Qwen2.5-7B --dataset_name a --per_device_train_batch_size 2 ";
  CHECK(read(sft + "\n", "plan.recompute") == "full");
  CHECK(read(sft + "\n", "training.precision") == "bf16");
  CHECK(read(sft + "\n", "training.sequence_length") == "1024");
  CHECK(read(sft + "--gradient_checkpointing false\n", "plan.recompute").empty());
  CHECK(read(sft + "--fp16\n", "training.precision") == "fp16");
  CHECK(read(sft + "--max_length 4096\n", "training.sequence_length") == "4096");
}

TEST_CASE("ms-swift trains one sequence at once, and accumulates sixteen") {
  const auto batch = [](const std::string& gpus, const std::string& more) {
    const auto job = tests::job("NPROC_PER_NODE=" + gpus +
                                " swift sft --train_type full --max_length 4096 --model "
                                "Qwen/Qwen2.5-7B-Instruct " +
                                more + "\n");
    return tests::at(job.document, "plan.micro_batch") + " " +
           tests::at(job.document, "training.global_batch");
  };
  CHECK(batch("8", "") == "1 16");
  CHECK(batch("1", "") == "1 16");
  CHECK(batch("8", "--per_device_train_batch_size 4") == "4 32");
  CHECK(batch("8", "--gradient_accumulation_steps 4") == "1 32");
}

TEST_CASE("weights that a framework loads in bf16 stay so unless FSDP or DeepSpeed keeps others") {
  const std::string axolotl =
      "base_model: NousResearch/Meta-Llama-3.1-8B\nsequence_len: 2048\nmicro_batch_size: 1\n"
      "gradient_accumulation_steps: 2\noptimizer: adamw_torch\nbf16: auto\ndatasets: []\n";
  const auto bytes = [&](const std::string& more) {
    return read(axolotl + more, "plan.gradient_precision", "axolotl") + " " +
           read(axolotl + more, "software.optimizer_bytes", "axolotl") + " " +
           read(axolotl + more, "software.optimizer_traffic", "axolotl");
  };
  CHECK(bytes("") == "bf16 4 14");
  CHECK(bytes("fsdp: [full_shard]\n") == "  ");
  CHECK(bytes("deepspeed: zero1.json\n") == "  ");
}

// The framework's own bytes and traffic of states are those of the catalog.
TEST_CASE("moments of 8 bit are a byte each, read and written, beside what is kept of weights") {
  const auto states = [](const std::string& more) {
    const auto job = tests::job("torchrun --nproc_per_node 8 " + clm + more + "\n");
    return tests::at(job.document, "software.optimizer_bytes") + " " +
           tests::at(job.document, "software.optimizer_traffic");
  };
  const auto usual = [](const std::string& base) {
    const auto software = scenarios::parse_yaml(
        scenarios::read_file(std::filesystem::path(STEPCAST_SOURCE_DIR) /
                             ("scenarios/catalog/software/" + base + ".yaml")),
        base);
    return std::pair{std::stoi(software.find("optimizer_bytes")->text),
                     std::stoi(software.find("optimizer_traffic")->text)};
  };
  const auto less = [&](const std::string& base) {  // 3 bytes of each moment
    const auto [bytes, traffic] = usual(base);
    return std::to_string(bytes - 6) + " " + std::to_string(traffic - 12);
  };
  CHECK(states("--fsdp full_shard").starts_with(" "));
  CHECK(states("--fsdp full_shard --optim adamw_8bit") == less("fsdp"));
  CHECK(states("--optim paged_adamw_8bit") == less("fsdp"));
  CHECK(states("--optim adamw_bnb_8bit --deepspeed ds.json") == less("deepspeed"));
  CHECK(states("--optim adamw_8bit --bf16 false") == "6 28");  // 4 of them are no copy of weights
  const auto llama = [](const std::string& optimizer) {
    return tests::job(
        "model_name_or_path: meta-llama/Llama-3.2-1B\nstage: pt\nfinetuning_type: full\n"
        "cutoff_len: 2048\nper_device_train_batch_size: 8\npure_bf16: true\noptim: " +
        optimizer + "\n");
  };
  const auto pure = llama("adamw_torch_8bit");
  CHECK(tests::at(pure.document, "software.optimizer_bytes") == "2");
  CHECK(tests::at(pure.document, "software.optimizer_traffic") == "10");
  CHECK(tests::effect_of(pure, "optim adamw_torch_8bit") == Effect::read);
  const auto words = [&](const std::string& optimizer) {
    const auto job = llama(optimizer);
    for (const auto& one : job.account.arguments)
      if (one.text.starts_with("optim ")) return one.why;
    return std::string();
  };
  CHECK(words("adamw_8bit") ==
        "moments of the embedding stay in fp32; the forecast has them in 8 bit, too");
  CHECK(words("adamw_torch_4bit") == "moments in few bits; the forecast has them in bf16");
}

TEST_CASE("an optimizer in DeepSpeed's file is taken instead of the Trainer's") {
  const auto job = tests::beside(
      "torchrun --nproc_per_node 8 " + clm + "--optim adamw_8bit --deepspeed ds.json\n",
      {{"ds.json", R"({"optimizer": {"type": "AdamW"}, "zero_optimization": {"stage": 2}})"}});
  CHECK(tests::at(job.document, "software.optimizer_bytes").empty());
  CHECK(tests::effect_of(job, "--optim adamw_8bit") == Effect::none);
}

TEST_CASE("jobs of the Trainer that ask for bf16 and fp16 are refused") {
  CHECK_THAT(refusal("base_model: NousResearch/Meta-Llama-3.1-8B\nsequence_len: 2048\n"
                     "micro_batch_size: 1\noptimizer: adamw_torch\ndatasets: []\nbf16: true\n"
                     "fp16: true\n"),
             STEPCAST_HOLDS("bf16 is asked for, too"));
}

TEST_CASE("axolotl's recomputation may keep inputs of layers on the host") {
  const std::string axolotl =
      "base_model: NousResearch/Meta-Llama-3.1-8B\nsequence_len: 2048\nmicro_batch_size: 1\n"
      "gradient_accumulation_steps: 2\noptimizer: adamw_torch\nbf16: auto\ndatasets: []\n";
  const auto offload = axolotl + "gradient_checkpointing: offload\n";
  CHECK(read(offload, "plan.recompute") == "full");
  CHECK(read(offload, "plan.offload.activations") == "cpu");
  CHECK(read(axolotl + "gradient_checkpointing: true\n", "plan.offload.activations").empty());
  CHECK(refusal(axolotl + "gradient_checkpointing: offload_disk\n")
            .find("inputs of layers on a disk are not modelled") != std::string::npos);
}

TEST_CASE("a part of DeepSpeed's optimizer that stays on the GPU is not modelled") {
  const auto ratio = [](const std::string& share, const std::string& device) {
    const auto job = tests::job(
        R"({"train_batch_size": 8, "zero_optimization": {"stage": 3, "offload_optimizer": {)"
        R"("device": ")" +
        device + R"(", "nvme_path": "/x", "ratio": )" + share + "}}}");
    CHECK(tests::effect_of(job, "zero_optimization.offload_optimizer.nvme_path /x") ==
          Effect::none);
    return tests::effect_of(job, "zero_optimization.offload_optimizer.ratio " + share);
  };
  CHECK(ratio("0.8", "cpu") == Effect::not_modelled);
  CHECK(ratio("1.0", "cpu") == Effect::none);
  CHECK(ratio("0.8", "none") == Effect::none);
}

TEST_CASE("an overlap of shared experts has no effect on a model without them") {
  const auto effect = [](const std::string& command) {
    for (const auto& one : tests::job(command + "\n", {"WORLD_SIZE=8"}).account.arguments)
      if (one.text.find("overlap") != std::string::npos) return one.effect;
    return Effect::unknown;
  };
  const auto experts = eight + megatron +
                       "--num-experts 8 --moe-token-dispatcher-type alltoall "
                       "--moe-shared-expert-overlap ";
  CHECK(effect(experts) == Effect::none);
  CHECK(effect(experts + "--moe-shared-expert-intermediate-size 64") == Effect::not_modelled);
  const std::string swift =
      "megatron sft --max_length 64 --moe_shared_expert_overlap true --model ";
  CHECK(effect(swift + "Qwen/Qwen3-30B-A3B") == Effect::none);
  CHECK(effect(swift + "deepseek-ai/DeepSeek-V3") == Effect::not_modelled);
}

TEST_CASE("a batch that GPT-NeoX's file leaves out is asked for by its own keys") {
  const auto job = tests::job(
      "pipe-parallel-size: 1\nnum-layers: 12\nhidden-size: 768\nnum-attention-heads: 12\n"
      "seq-length: 2048\nmax-position-embeddings: 2048\ntrain_micro_batch_size_per_gpu: 4\n");
  const auto batch =
      std::ranges::find(job.wanted, "training.global_batch", &scenarios::WantedKey::path);
  REQUIRE(batch != job.wanted.end());
  CHECK(
      batch->text.starts_with("train_batch_size is not given, so it is "
                              "train_micro_batch_size_per_gpu x gradient_accumulation_steps x"));
  CHECK(batch->text.find("num_gpus x num_nodes or --env WORLD_SIZE=N") != std::string::npos);
}

TEST_CASE("an unknown argument that leaves out a word of a known one is taken for that") {
  const auto job = tests::job(eight + megatron + "--tensor-parallel-size 8\n");
  const auto unknown =
      std::ranges::find(job.account.arguments, Effect::unknown, &scenarios::JudgedArgument::effect);
  REQUIRE(unknown != job.account.arguments.end());
  CHECK(unknown->why == "did you mean --tensor-model-parallel-size?");
}

TEST_CASE("LLaMA-Factory starts a process for each GPU that it is shown") {
  const std::string command =
      "llamafactory-cli train --model_name_or_path meta-llama/Llama-2-7b-hf "
      "--stage sft --finetuning_type full --do_train --bf16 "
      "--per_device_train_batch_size 1 --cutoff_len 2048 --dataset a\n";
  const auto gpus = [&](const std::string& before) {
    return read(before + command, "cluster.gpus");
  };
  CHECK(gpus("CUDA_VISIBLE_DEVICES=0,1,2,3 ") == "4");
  CHECK(gpus("export CUDA_VISIBLE_DEVICES=0,1\n") == "2");
  CHECK(gpus("CUDA_VISIBLE_DEVICES=0,1,2,3 NPROC_PER_NODE=2 ") == "2");
}

TEST_CASE("GPT-NeoX's half precision may be bfloat16, its gated MLP is told as silu") {
  const std::string neox =
      "pipe-parallel-size: 1\nmodel-parallel-size: 1\nnum-layers: 12\nhidden-size: 768\n"
      "num-attention-heads: 12\nseq-length: 2048\nmax-position-embeddings: 2048\n"
      "train_micro_batch_size_per_gpu: 4\n";
  const auto of = [&](const std::string& more, const std::string& key) {
    return read(neox + more, key);
  };
  CHECK(of("fp16: {enabled: true, type: bfloat16}\n", "training.precision") == "bf16");
  CHECK(of("fp16: {enabled: true}\n", "training.precision") == "fp16");
  CHECK(of("activation: silu\nmlp_type: llama\n", "model.activation") == "swiglu");
  CHECK(of("zero_optimization: {stage: 3}\n", "plan.overlap.parameters") == "true");
}

TEST_CASE("torchtitan takes tyro's negative switches, and stages that divide among ranks") {
  const std::string run =
      "NGPU=8 torchrun --nproc_per_node=8 -m torchtitan.train --model.name llama3 --model.flavor "
      "8B --training.seq_len 8192 --training.local_batch_size 1 ";
  CHECK(read(run + "--compile.enable\n", "software.compile") == "true");
  CHECK(read(run + "--compile.enable --compile.no-enable\n", "software.compile") == "false");
  const scenarios::JobFiles toml = [](const std::string&) {
    return std::optional<std::string>(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n"
        "local_batch_size = 1\n[compile]\nenable = true\n");
  };
  const auto over = scenarios::read_job(
      "torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file a.toml "
      "--compile.no-enable\n",
      "job", {}, toml);
  CHECK(tests::at(over->document, "software.compile") == "false");
  const auto stages = run +
                      "--parallelism.pipeline_parallel_degree 4 "
                      "--parallelism.pipeline_parallel_schedule Interleaved1F1B "
                      "--parallelism.pipeline_parallel_layers_per_stage ";
  CHECK(read(stages + "3\n", "plan.virtual_stages") == "3");  // 34 make twelve stages
  CHECK(refusal(stages + "5\n")
            .ends_with("5 layers make 7 stages, with embedding and head as "
                       "layers, which do not divide among 4 pipeline ranks"));
}

TEST_CASE("recipes of fine-tuning train adapters unless they are told otherwise") {
  const auto adapters = "only adapters are trained; weights that stay as they are are not modelled";
  CHECK(refusal("nemo llm finetune --factory llama3_8b\n").ends_with(adapters));
  CHECK(refusal("nemo llm finetune --factory llama3_8b peft=none\n").empty());
  CHECK(refusal("nemo llm pretrain --factory llama3_8b\n").empty());
  CHECK(refusal("nemo llm finetune --factory llama3_8b peft.dim=16\n").ends_with(adapters));
  CHECK(refusal("nemo llm finetune --factory llama3_8b peft.dim=16 peft=none\n").empty());
  CHECK(refusal(
            "nemo llm finetune --factory llama3_8b peft._target_=nemo.collections.llm.peft.DoRA\n")
            .ends_with(adapters));
  CHECK(refusal("nemo llm finetune --factory 'llama3_8b(peft_scheme=none)'\n").empty());
  CHECK(refusal("nemo llm finetune --factory 'llama3_8b(peft_scheme=\"lora\")'\n")
            .ends_with(adapters));
  const std::string bridge = "torchrun --nproc_per_node=8 run_recipe.py --recipe llama32_1b_";
  const std::string sizes =
      " model.seq_length=2048 train.global_batch_size=128 train.micro_batch_size=1\n";
  CHECK(refusal(bridge + "peft_config" + sizes).ends_with(adapters));
  CHECK(refusal(bridge + "finetune_config" + sizes).ends_with(adapters));
  CHECK(refusal(bridge + "peft_config peft.dim=8" + sizes).ends_with(adapters));
  CHECK(refusal(bridge + "pretrain_config --peft_scheme lora" + sizes).ends_with(adapters));
  CHECK(refusal(bridge + "finetune_config --peft_scheme none" + sizes).empty());
  CHECK(refusal(bridge + "sft_config" + sizes).empty());
}

TEST_CASE("recipes whose names say state-space layers are refused unless another model is given") {
  const std::string why = "state-space layers are not modelled";
  for (const std::string name : {"mamba2_1_3b", "nemotronh_56b", "nemotron_3_nano_30b_a3b"})
    CHECK(refusal("nemo llm pretrain --factory " + name + " trainer.devices=8\n").ends_with(why));
  CHECK(refusal("torchrun run_recipe.py --recipe nemotron_nano_9b_v2_pretrain_config "
                "model.seq_length=64\n")
            .ends_with(why));
  for (const std::string name : {"nemotron4_15b", "llama31_nemotron_nano_8b"})
    CHECK(refusal("nemo llm pretrain --factory " + name + " trainer.devices=8\n").empty());
}

TEST_CASE("the length of Megatron-Bridge's data is that of its model") {
  const std::string bridge =
      "torchrun --nproc_per_node=8 run_recipe.py --recipe llama32_1b_pretrain_config "
      "model.tensor_model_parallel_size=1 train.global_batch_size=128 train.micro_batch_size=1 ";
  CHECK(read(bridge + "dataset.seq_length=8192\n", "training.sequence_length") == "8192");
  CHECK(read(bridge + "dataset.seq_length=8192 model.seq_length=8192\n",
             "training.sequence_length") == "8192");
  CHECK(
      refusal(bridge + "dataset.seq_length=8192 model.seq_length=4096\n") ==
      "dataset.seq_length 8192: the model has model.seq_length 4096, and Megatron-Bridge does not "
      "start where they differ; write the same");
}

// --- jobs of a framework that is asked for

TEST_CASE("a file is no job of a framework that knows none of its arguments") {
  const auto asked = [](const std::string& text, const std::string& framework) {
    return tests::refusal([&] { tests::job(text, {}, framework); });
  };
  const std::string nothing = "job:1:1: it has no argument that ";
  CHECK(asked("hello this is a readme\n", "megatron").starts_with(nothing + "megatron knows; exp"));
  CHECK(asked("a: 1\nb: {c: 2}\n", "megatron").starts_with(nothing));
  CHECK(asked("JOB = \"7b\"\nSIZE = dict(a=4)\n", "deepspeed").starts_with(nothing));
  CHECK(asked("NNODES=8 bash run.sh --micro 2\n", "nemo2").starts_with(nothing));
  CHECK(asked("from a import b\nb()\n", "trainer")
            .starts_with("job:1:1: it is a program of Python, which is not run; give the command"));
  CHECK(asked("a: 1\n# llmfoundry\n", "trainer").find("LLM Foundry, which is not read") !=
        std::string::npos);
  CHECK(read("--num-layers 4\n", "model.layers", "megatron") == "4");  // one argument is enough
  CHECK(read("torchrun a.py --bf16\n", "training.precision", "trainer") == "bf16");
}

TEST_CASE("a command asked for as DeepSpeed's is the job of the file that it names") {
  const std::string start = "deepspeed --num_gpus 8 --num_nodes 2 train.py";
  const std::string command = " --deepspeed --deepspeed_config ds.json\n";
  const scenarios::JobFiles files = [](const std::string& name) -> std::optional<std::string> {
    if (name.ends_with(".yaml")) return "tokens: 4\n";
    return R"({"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 2}})";
  };
  for (const auto* as : {"", "deepspeed"})
    for (const std::string before : {"", " --tokens a.yaml"}) {
      const auto job = scenarios::read_job(start + before + command, "train.sh", {as, {}}, files);
      CHECK(tests::at(job->document, "plan.zero") == "2");
      CHECK(tests::at(job->document, "cluster.gpus") == "16");
    }
}

// --- scripts

std::string tensor_of(const std::string& script,
                      const std::map<std::string, std::string>& files = {}) {
  const scenarios::JobFiles beside = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  const auto made = scenarios::read_job(script, "train.sh", {}, beside);
  return tests::at(made->document, "plan.tensor");
}

TEST_CASE("a file that a script sources sets its variables") {
  const auto script = "TP=1\nsource ./big.sh\n" + eight + megatron +
                      "--global-batch-size 64 --tensor-model-parallel-size $TP\n";
  CHECK(tensor_of(script, {{"./big.sh", "# sizes\nTP=8\n"}}) == "8");
  CHECK(tensor_of(script) == "1");
  const auto alone = tests::job(script);
  CHECK(tests::effect_of(alone, "source ./big.sh") == Effect::not_modelled);
}

TEST_CASE("a script that only starts another one beside it is that one's job") {
  const std::map<std::string, std::string> files{
      {"run.sh", eight + megatron + "--global-batch-size 64 --tensor-model-parallel-size $TP\n"}};
  auto both = files;
  both["./run.sh"] = files.at("run.sh");
  for (const std::string start :
       {"TP=4 bash run.sh", "export TP=4\nnohup bash run.sh",
        "export TP=4\nsrun -N 1 bash ./run.sh", "export TP=4\nexec bash run.sh"})
    CHECK(tensor_of("#!/bin/bash\n" + start + "\n", both) == "4");
  CHECK_THAT(tests::refusal([&] { tensor_of("#!/bin/bash\nTP=4\nbash run.sh\n", both); }),
             STEPCAST_HOLDS("TP has no value in this file"));
}

TEST_CASE("files that are sourced under conditions that are not known leave variables unknown") {
  const auto told = [](const std::string& before) {
    return tests::refusal([&] {
      tensor_of(
          before + eight + megatron + "--global-batch-size 64 --tensor-model-parallel-size $TP\n",
          {{"a.sh", "TP=2\n"}, {"b.sh", "TP=4\n"}});
    });
  };
  CHECK_THAT(told("if nvidia-smi; then source a.sh; else source b.sh; fi\n"),
             STEPCAST_HOLDS("add --env TP="));
  CHECK_THAT(told("[ \"$CLUSTER\" = h100 ] && source b.sh\n"), STEPCAST_HOLDS("add --env"));
  CHECK_THAT(told("TP=$(expr length \"ab\")\n"), STEPCAST_HOLDS("needs a shell"));
}

TEST_CASE("a loop whose condition fails at once, and tests of nothing, are as a shell has them") {
  const auto after = [](const std::string& before) {
    return tensor_of(before + eight + megatron +
                     "--global-batch-size 64 --tensor-model-parallel-size $TP\n");
  };
  CHECK(after("TP=2\nwhile [[ $# -gt 0 ]]; do\n case $1 in --tp) TP=$2; shift ;; esac\n"
              "done\n") == "2");
  CHECK(after("TP=2\nuntil [ $# -eq 0 ]; do TP=$1; shift; done\n") == "2");
  CHECK(after("N=\nif [ -z ${N} ]; then TP=4; else TP=8; fi\n") == "4");
  CHECK(after("N=3\nif [ -z ${N} ]; then TP=4; else TP=8; fi\n") == "8");
  CHECK(after("N=4\nTP=$(expr 16 / $N)\n") == "4");
  CHECK(after("N=2\nTP=`expr $N \\* 2`\n") == "4");
}

TEST_CASE("options of sbatch stand for those in its script") {
  CHECK(read("sbatch --nodes=4 --ntasks-per-node=8 --gpus-per-node=8 <<EOT\n#!/bin/bash\n"
             "srun python " +
                 megatron + "--global-batch-size 64\nEOT\n",
             "cluster.gpus") == "32");
}

TEST_CASE("values of a job that a script submits turn by turn are all of one turn") {
  const std::string run = "srun python " + megatron +
                          "--global-batch-size $((64*N)) --tensor-model-parallel-size $N\n",
                    submit = "sbatch --nodes=$N --gpus-per-node=8 --ntasks-per-node=8 ";
  for (const auto& script :
       {"for N in 2 4; do\n" + submit + "<<EOT\n" + run + "EOT\ndone\n",
        "go() {\nN=$1\n" + submit + "<<EOT\n" + run + "EOT\n}\ngo 2\ngo 4\n",
        "for N in 2 4; do\n" + submit + "--wrap \"" + run + "\"\ndone\n",
        "for N in 2 4; do\ncat > $N.sh <<EOT\n#!/bin/bash\n#SBATCH --nodes=$N\n"
        "#SBATCH --gpus-per-node=8\n#SBATCH --ntasks-per-node=8\n" +
            run + "EOT\nsbatch $N.sh\ndone\n",
        "for N in 2 4; do\ncat > x.sh <<EOT\n" + run + "EOT\n" + submit + "x.sh\ndone\n"}) {
    INFO(script);
    CHECK(read(script, "cluster.gpus") == "16");
    CHECK(read(script, "training.global_batch") == "128");
    CHECK(read(script, "plan.tensor") == "2");
  }
  CHECK(read("#SBATCH --nodes=2 --gpus-per-node=8 --ntasks-per-node=8\n"
             "sbatch --nodes=4 <<EOT\nhostname\nEOT\nsrun python " +
                 megatron + "--global-batch-size 64\n",
             "cluster.gpus") == "16");
}

}  // namespace job_defaults_spec
