// SPDX-License-Identifier: Apache-2.0
// Jobs of Hugging Face's Trainer, LLaMA-Factory, axolotl and accelerate.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace trainer_job_spec {

using tests::at;
using tests::refused;
using tests::wanted;

namespace {

const std::string axolotl =
    "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 4096\nsample_packing: true\n"
    "micro_batch_size: 2\ngradient_accumulation_steps: 3\nbf16: auto\noptimizer: adamw_torch\n";
const std::string factory =
    "model_name_or_path: Qwen/Qwen3-4B-Instruct-2507\nstage: sft\nfinetuning_type: full\n"
    "cutoff_len: 2048\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 2\nbf16: "
    "true\n";

std::string value(const std::string& text, const std::string& path) {
  return at(tests::job(text, {"WORLD_SIZE=8"}).document, path);
}

}  // namespace

TEST_CASE("jobs of the Trainer and of its drivers are scenarios or are refused with a place") {
  for (const auto* folder : {"llamafactory", "axolotl", "accelerate"})
    tests::check_jobs(folder, [](const scenarios::Error& wrong, const auto& file) {
      for (const auto& one : wrong.complaints)
        CHECK(one.place.starts_with(file.filename().string()));
    });
}

TEST_CASE("a job of axolotl or LLaMA-Factory has its batch, its length and a model by its name") {
  CHECK(value(axolotl, "model.layers") == "32");
  CHECK(value(axolotl, "model.vocab") == "128256");
  CHECK(value(axolotl, "training.sequence_length") == "4096");
  CHECK(value(axolotl, "plan.micro_batch") == "2");
  CHECK(value(axolotl, "training.global_batch") == "48");  // 2 x 3 x 8 GPUs
  CHECK(value(axolotl, "training.precision") == "bf16");
  CHECK(value(axolotl, "plan.recompute").empty());
  CHECK(value(factory, "model.hidden") == "2560");
  CHECK(value(factory, "training.global_batch") == "16");  // 1 x 2 x 8 GPUs
  CHECK(value(factory, "plan.recompute") == "full");       // unless it is disabled
  CHECK(value(factory + "disable_gradient_checkpointing: true\n", "plan.recompute").empty());
}

TEST_CASE("fused linear losses have no whole logits; other fused losses have them in 16 bit") {
  const std::string chunks = "software.loss_chunks", fused = "software.fused_cross_entropy";
  CHECK(value(axolotl, chunks).empty());
  CHECK(value(axolotl + "liger_fused_linear_cross_entropy: true\n", chunks) == "liger");
  CHECK(value(axolotl + "liger_cross_entropy: true\n", chunks).empty());
  CHECK(value(axolotl + "liger_cross_entropy: true\n", fused) == "true");
  CHECK(value(axolotl + "chunked_cross_entropy: true\n", chunks).empty());
  CHECK(value(factory + "enable_liger_kernel: true\n", chunks) == "liger");
  const auto cut = tests::job(axolotl + "cut_cross_entropy: true\n", {"WORLD_SIZE=8"});
  CHECK(at(cut.document, chunks) == "liger");
  CHECK(tests::effect_of(cut, "cut_cross_entropy true") == scenarios::Effect::not_modelled);
}

TEST_CASE("the plugin of cut cross entropy switches it on, and Liger's nothing") {
  const std::string plugins = axolotl + "plugins:\n  - axolotl.integrations.";
  const std::string cut = plugins + "cut_cross_entropy.CutCrossEntropyPlugin\n",
                    liger = plugins + "liger.LigerPlugin\n";
  const std::string chunks = "software.loss_chunks", fused = "software.fused_cross_entropy";
  CHECK(value(cut, chunks) == "liger");
  CHECK(value(cut, fused) == "true");
  CHECK(value(cut + "cut_cross_entropy: false\n", chunks).empty());
  CHECK(value(liger, chunks).empty());
  CHECK(value(liger, fused).empty());
  CHECK(value(liger, "software.fused_rotary").empty());
  const auto effect = [](const std::string& text, const std::string& name) {
    for (const auto& one : tests::job(text, {"WORLD_SIZE=8"}).account.arguments)
      if (one.text.starts_with(name)) return one.effect;
    return scenarios::Effect::unknown;
  };
  CHECK(effect(cut, "plugins") == scenarios::Effect::not_modelled);
  CHECK(effect(cut + "cut_cross_entropy: true\n", "plugins") == scenarios::Effect::read);
  CHECK(effect(liger, "plugins") == scenarios::Effect::none);
}

TEST_CASE("a job that trains a part of the weights is refused") {
  CHECK(refused(axolotl + "adapter: qlora\n") ==
        "job:8:1: adapter qlora: only adapters are trained; weights that stay as they are are not "
        "modelled");
  CHECK(refused("model_name_or_path: a\nstage: dpo\nfinetuning_type: full\n") ==
        "job:2:1: stage dpo: a step of dpo is more than one of a language model: it compares, "
        "rewards or generates");
  const std::string trains = "model_name_or_path: a\nper_device_train_batch_size: 8\nbf16: true\n";
  CHECK(
      refused(trains + "beta: 0.01\nmax_prompt_length: 512\n") ==
      "job:4:1: beta 0.01: a step that compares, rewards or generates is more than one of a "
      "language model\njob:5:1: max_prompt_length 512: a step that compares, rewards or generates "
      "is more than one of a language model");
  for (const auto* key : {"reward_funcs: [accuracy]", "num_generations: 16",
                          "desirable_weight: 1.0", "gamma_beta_ratio: 0.5"})
    CHECK(refused(trains + key + "\n").find("compares, rewards or generates") != std::string::npos);
  CHECK(refused("model_name_or_path: a\ncutoff_len: 9\n").find("which means lora") !=
        std::string::npos);
  CHECK(refused("model_name_or_path: Qwen/Qwen2.5-VL-7B\nstage: sft\nfinetuning_type: full\n") ==
        "job:1:1: model_name_or_path Qwen/Qwen2.5-VL-7B: a vision tower is not modelled");
}

TEST_CASE("FSDP of PyTorch is a ZeRO stage") {
  const auto zero = [](const std::string& more) { return value(axolotl + more, "plan.zero"); };
  CHECK(zero("") == "0");
  CHECK(zero("fsdp: [full_shard, auto_wrap]\n") == "3");
  CHECK(zero("fsdp: [shard_grad_op, auto_wrap]\n") == "2");
  const std::string kept = "fsdp_version: 2\nfsdp_config: {reshard_after_forward: false}\n";
  CHECK(zero(kept) == "3");
  CHECK(value(axolotl + kept, "plan.reshard_after_forward") == "false");
  CHECK(value(axolotl + kept, "software.copies_parameters") == "true");  // FSDP 2 alone does
  CHECK(value(axolotl + "fsdp: [full_shard]\n", "software.copies_parameters").empty());
  CHECK(zero("fsdp_config: {fsdp_sharding_strategy: NO_SHARD}\n") == "0");
  CHECK(value(axolotl + "fsdp: [hybrid_shard]\n", "plan.shard_group") == "node");
  const std::string copies = axolotl + "fsdp_version: 2\ndp_replicate_size: 2\n";
  CHECK(value(copies, "plan.shard_group") == "4");  // of 8 GPUs
  CHECK(value(copies + "tensor_parallel_size: 2\n", "plan.shard_group") == "2");
  CHECK(value(copies + "dp_shard_size: 2\ncontext_parallel_size: 2\n", "plan.shard_group") == "4");
  CHECK(value(axolotl + "fsdp: [full_shard]\nfsdp_config: {fsdp_offload_params: true}\n",
              "plan.offload.parameters") == "cpu");
}

TEST_CASE("accelerate says ranks, sharding and precision, and leaves the rest to the script") {
  const auto job = tests::job(
      "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 16\nfsdp_config: "
      "{fsdp_version: 2, fsdp_reshard_after_forward: true, fsdp_activation_checkpointing: true}\n");
  CHECK(at(job.document, "cluster.gpus") == "16");
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(at(job.document, "plan.recompute") == "full");
  CHECK(wanted(job) ==
        "model training.sequence_length plan.micro_batch training.global_batch cluster.node");
  CHECK(value("distributed_type: DEEPSPEED\nmixed_precision: bf16\ndeepspeed_config: {zero_stage: "
              "3, offload_optimizer_device: cpu}\n",
              "plan.offload.optimizer") == "cpu");
}

TEST_CASE("accelerate's jobs of Megatron-LM are refused with the scenario to write instead") {
  CHECK(refused("distributed_type: MEGATRON_LM\nmixed_precision: bf16\nnum_processes: 8\n")
            .find("write a scenario with software.base: megatron-core") != std::string::npos);
}

TEST_CASE("the Trainer's precision holds where DeepSpeed's file has a section of the other alone") {
  const auto precision = [](std::string job, const std::string& section) {
    return at(tests::beside(job + "deepspeed: z.json\n",
                            {{"z.json", "{" + section + R"("zero_optimization": {"stage": 2}})"}},
                            {"WORLD_SIZE=8"})
                  .document,
              "training.precision");
  };
  const std::string fp16 = R"("fp16": {"enabled": "auto"},)",
                    bf16 = R"("bf16": {"enabled": "auto"},)";
  CHECK(precision(factory, fp16) == "bf16");
  CHECK(precision(factory, bf16) == "bf16");
  CHECK(precision(factory, fp16 + bf16) == "bf16");
  CHECK(precision(factory, "") == "bf16");
  auto half = factory;
  half.replace(half.find("bf16: true"), 4, "fp16");
  CHECK(precision(half, bf16) == "fp16");
  auto neither = factory;
  neither.erase(neither.find("bf16: true"));
  CHECK(precision(neither, fp16) == "fp32");
}

TEST_CASE("the job says the values that DeepSpeed's file leaves to the Trainer") {
  const std::string speed =
      R"({"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
          "train_batch_size": "auto", "bf16": {"enabled": "auto"},
          "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto",
          "offload_optimizer": {"device": "cpu"}}})";
  const auto job = tests::beside(factory + "deepspeed: examples/z3.json\n",
                                 {{"../examples/z3.json", speed}}, {"WORLD_SIZE=8"});
  CHECK(at(job.document, "software.base") == "deepspeed");
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(at(job.document, "plan.offload.optimizer") == "cpu");
  CHECK(at(job.document, "plan.bucket.reduce") == std::to_string(2 * 2560 * 2560));
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(at(job.document, "training.global_batch") == "16");
  CHECK(wanted(job) == "cluster.node");
  CHECK(job.account.arguments.back().place.starts_with("../examples/z3.json:"));
}

TEST_CASE("accelerate's precision stands for \"auto\" in DeepSpeed's file") {
  const std::string speed = R"({"train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled":
      "auto"}, "fp16": {"enabled": "auto"}, "zero_optimization": {"stage": 3}})";
  const auto precision = [&](const std::string& word) {
    const auto job = tests::beside("accelerate launch --mixed_precision " + word +
                                       " --num_processes 8 --use_deepspeed "
                                       "--deepspeed_config_file z.json train.py "
                                       "--model_name_or_path Qwen/Qwen3-8B --max_seq_length 64 "
                                       "--per_device_train_batch_size 1\n",
                                   {{"z.json", speed}});
    return at(job.document, "training.precision");
  };
  CHECK(precision("bf16") == "bf16");
  CHECK(precision("fp16") == "fp16");
  CHECK(precision("no") == "fp32");
}

TEST_CASE("a script of DeepSpeed-Chat has a precision of its own") {
  const std::string text =
      "deepspeed --num_gpus 8 main.py --model_name_or_path facebook/opt-1.3b --zero_stage 2 "
      "--max_seq_len 512 --per_device_train_batch_size 4 --deepspeed ";
  CHECK(value(text + "\n", "training.precision") == "fp16");
  CHECK(value(text + "--dtype bf16\n", "training.precision") == "bf16");
}

TEST_CASE("what a Trainer's job rests on is named as the job writes it") {
  const std::string run =
      "torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen3-8B "
      "--max_length 64 --per_device_train_batch_size 1 --bf16 ";
  const auto comment = [&](const std::string& more, const std::string& path) {
    return tests::beside(run + more, {{"z.json", "{\"zero_optimization\": {\"stage\": 2}}"}})
        .comments.at(path);
  };
  CHECK(comment("--deepspeed z.json", "software.base") == "the framework");
  CHECK(comment("--deepspeed gone.json", "software.base") == "--deepspeed gone.json");
  CHECK(comment("", "software.base") == "PyTorch");
  CHECK(comment("", "plan.zero") ==
        "without fsdp, deepspeed, distributed_type, fsdp_config: replicas");
}

TEST_CASE("a vision tower beside the model is refused") {
  CHECK(tests::refusal([&] {
          tests::job(
              "deepspeed --num_gpus 8 train.py --model_name_or_path Qwen/Qwen3-8B "
              "--max_length 64 --per_device_train_batch_size 1 --bf16 "
              "--vision_tower openai/clip-vit-large-patch14\n");
        }).find("--vision_tower openai/clip-vit-large-patch14: a vision tower is not modelled") !=
        std::string::npos);
}

TEST_CASE("a DeepSpeed file that contradicts the Trainer is refused, as the Trainer refuses it") {
  const auto with = [](const std::string& speed) {
    return tests::refusal([&] {
      tests::beside(factory + "deepspeed: z.json\n",
                    {{"z.json", "{\"zero_optimization\": {\"stage\": 3}, " + speed + "}"}},
                    {"WORLD_SIZE=8"});
    });
  };
  CHECK(with("\"bf16\": {\"enabled\": true}, \"train_micro_batch_size_per_gpu\": 1") == "accepted");
  CHECK(with("\"fp16\": {\"enabled\": false}, \"gradient_accumulation_steps\": 2") == "accepted");
  CHECK(
      with("\"train_micro_batch_size_per_gpu\": 4") ==
      "z.json:1:37: train_micro_batch_size_per_gpu 4: the job says per_device_train_batch_size 1, "
      "and the Trainer does not start where they differ; write \"auto\" or the same");
  CHECK(with("\"fp16\": {\"enabled\": true}").find("the job says fp16 false") != std::string::npos);
}

TEST_CASE("a DeepSpeed file that is not there leaves its stage and offloading to be asked for") {
  const auto job = tests::beside(factory + "deepspeed: z3.json\n", {}, {"WORLD_SIZE=8"});
  CHECK(wanted(job) == "plan.zero plan.offload cluster.node");
  CHECK(at(job.document, "software.base") == "deepspeed");
}

TEST_CASE("arguments of the Trainer are read from a command line") {
  const std::string text =
      "torchrun --nproc_per_node 8 --nnodes 2 run_clm.py --model_name_or_path Qwen/Qwen3-8B "
      "--per_device_train_batch_size 4 --block_size 1024 --bf16 --fsdp \"full_shard auto_wrap\" "
      "--gradient_checkpointing True --seed 3\n";
  const auto job = tests::job(text);
  CHECK(job.account.framework == "trainer");
  CHECK(at(job.document, "cluster.gpus") == "16");
  CHECK(at(job.document, "training.global_batch") == "64");  // 4 x 16 GPUs
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(at(job.document, "plan.recompute") == "full");
}

TEST_CASE("precision that is off is off, and products of fp32 may be in TF32") {
  const std::string wide =
      "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 4096\nmicro_batch_size: 2\n";
  CHECK(value(wide, "training.precision") == "bf16");
  CHECK(value(wide + "bf16: false\nfp16: false\n", "training.precision") == "fp32");
  CHECK(value(wide + "bf16: false\ntf32: true\n", "training.precision") == "tf32");
  CHECK(value(wide + "bf16: true\ntf32: true\n", "training.precision") == "bf16");
}

TEST_CASE("attention that stays inside of the texts of a packed sequence is not modelled") {
  using scenarios::Effect;
  const auto effect = [](const std::string& text, const std::string& argument) {
    return tests::effect_of(tests::job(text, {"WORLD_SIZE=8"}), argument);
  };
  const auto both = factory + "packing: true\nneat_packing: true\n";
  CHECK(effect(both, "neat_packing true") == Effect::not_modelled);
  for (const auto& one : tests::job(both, {"WORLD_SIZE=8"}).account.arguments)
    CHECK(one.why.find("given again") == std::string::npos);
  CHECK(effect(factory + "neat_packing: true\n", "cutoff_len 2048") == Effect::read);
  CHECK(effect(axolotl + "flash_attention: true\n", "sample_packing true") == Effect::not_modelled);
  CHECK(effect(axolotl + "sdp_attention: true\n", "sample_packing true") == Effect::none);
  const std::string trl =
      "torchrun --nproc_per_node 8 sft.py --model_name_or_path Qwen/Qwen3-8B --packing "
      "--max_length 2048 --attn_implementation ";
  CHECK(effect(trl + "flash_attention_2\n", "--packing") == Effect::not_modelled);
  CHECK(effect(trl + "flash_attention_2 --packing_strategy wrapped\n", "--packing") ==
        Effect::none);
  CHECK(effect(trl + "sdpa\n", "--packing") == Effect::none);
}

TEST_CASE("the older name of FSDP's backward prefetch is known") {
  const auto job = tests::job(
      "distributed_type: FSDP\nnum_processes: 8\nmixed_precision: bf16\n"
      "fsdp_config: {fsdp_sharding_strategy: FULL_SHARD, fsdp_backward_prefetch_policy: "
      "BACKWARD_PRE}\n");
  CHECK(tests::effect_of(job, "fsdp_config.fsdp_backward_prefetch_policy BACKWARD_PRE") ==
        scenarios::Effect::not_modelled);
}

TEST_CASE("words and degrees that do not exist are refused") {
  CHECK(refused(axolotl + "fsdp: [full_shart]\n")
            .ends_with(
                "fsdp full_shart: expected full_shard, shard_grad_op, no_shard, hybrid_shard or "
                "hybrid_shard_zero2"));
  CHECK(refused("distributed_type: FSDP\nnum_processes: 8\n"
                "fsdp_config: {fsdp_sharding_strategy: NO_SHART}\n")
            .find("NO_SHART: expected full_shard") != std::string::npos);
  CHECK(refused("distributed_type: FSDP\nnum_processes: 8\n"
                "parallelism_config: {parallelism_config_cp_size: 0}\n")
            .ends_with("a degree is at least 1"));
}

TEST_CASE("an unknown argument of axolotl is told with the nearest name") {
  const auto job = tests::job(axolotl + "sequence_lens: 1\n");
  const auto& last = job.account.arguments.back();
  CHECK(last.effect == scenarios::Effect::unknown);
  CHECK(last.why == "did you mean sequence_len?");
}

TEST_CASE("a script read as a job of any framework is a job, or wrong with a reason") {
  const scenarios::JobFiles files = [](const std::string& path) -> std::optional<std::string> {
    if (path == "factory.yaml") return factory;
    if (path == "axolotl.yaml") return axolotl;
    return {};
  };
  for (const auto framework : scenarios::job_frameworks())
    for (const auto* script :
         {"accelerate launch --num_processes 8 -m axolotl.cli.train", "axolotl train",
          "accelerate launch -m axolotl.cli.train none.yaml", "python train.py --fsdp x",
          "llamafactory-cli train --stage sft", "torchrun run.py --config-file none.yaml",
          "deepspeed main.py --deepspeed none.json", "torchrun pretrain_gpt.py --num-layers 2",
          "torchrun --nproc_per_node 8 src/train.py factory.yaml",
          "torchrun src/train.py --config factory.yaml", "torchrun train.py axolotl.yaml",
          "accelerate launch --config_file none.yaml src/train.py factory.yaml"}) {
      INFO(framework << ": " << script);
      try {
        const auto made = scenarios::read_job(script, "job", {std::string(framework), {}}, files);
        CHECK(made);
      } catch (const scenarios::Error& wrong) {
        CHECK_FALSE(std::string_view(wrong.what()).empty());
      }
    }
}

TEST_CASE("a script that names a job is that job, recognised or asked for") {
  const scenarios::JobFiles files = [](const std::string& path) -> std::optional<std::string> {
    if (path != "a.yaml") return {};
    return axolotl;
  };
  const std::string script = "accelerate launch --num_processes 8 -m axolotl.cli.train a.yaml\n";
  const auto seen = scenarios::read_job(script, "run.sh", {}, files);
  const auto asked = scenarios::read_job(script, "run.sh", {"axolotl", {}}, files);
  REQUIRE((seen && asked));
  CHECK(asked->account.framework == "axolotl");
  CHECK(scenarios::scenario_text(*asked) == scenarios::scenario_text(*seen));
}

}  // namespace trainer_job_spec
