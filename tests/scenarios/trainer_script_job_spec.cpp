// SPDX-License-Identifier: Apache-2.0
// Commands of training scripts of Hugging Face's Trainer, and the files that they name.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace trainer_script_job_spec {

using scenarios::Effect;
using tests::at;
using tests::beside;
using tests::effect_of;
using tests::wanted;

namespace {

const std::string start = "torchrun --nproc_per_node 8 ";
const std::string sizes =
    " --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 4 --max_length 1024 --bf16";
const std::string recipe =
    "model_name_or_path: Qwen/Qwen3-8B\nmax_length: 2048\npacking: true\nbf16: true\n"
    "gradient_accumulation_steps: 4\nper_device_train_batch_size: 16\n";

const std::string plain_factory =
    "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\nfinetuning_type: full\ncutoff_len: 2048\n"
    "per_device_train_batch_size: 1\ngradient_accumulation_steps: 2\n";
const std::string factory = plain_factory + "overwrite_cache: true\ndeepspeed: ds.json\n";

std::string place_of(const scenarios::JobScenario& job, const std::string& text) {
  for (const auto& one : job.account.arguments)
    if (one.text == text) return one.place;
  throw std::logic_error("no argument " + text);
}

std::string batch(const scenarios::JobScenario& job) {
  return at(job.document, "training.global_batch");
}

}  // namespace

TEST_CASE("FSDP's file is read as its keys in the job are") {
  const auto text =
      start + "train.py" + sizes + " --fsdp \"full_shard auto_wrap\" --fsdp_config fsdp.json\n";
  const std::string keys = R"({"activation_checkpointing": true, "offload_params": "true"})";
  const auto job = beside(text, {{"fsdp.json", keys}});
  CHECK(at(job.document, "plan.recompute") == "full");
  CHECK(at(job.document, "plan.offload.optimizer") == "cpu");
  CHECK(effect_of(job, "--fsdp_config fsdp.json") == Effect::none);
  const auto above = beside(text, {{"../fsdp.json", keys}});
  CHECK(at(above.document, "plan.recompute") == "full");
  const auto inside =
      beside(start + "train.py" + sizes + " --fsdp full_shard --fsdp_config '" + keys + "'\n", {});
  CHECK(at(inside.document, "plan.recompute") == "full");
  CHECK(wanted(beside(text, {})) == "plan.recompute plan.offload cluster.node");
  const auto known = text.substr(0, text.size() - 1) + " --gradient_checkpointing\n";
  CHECK(wanted(beside(known, {})) == "plan.recompute plan.offload cluster.node");
}

TEST_CASE("FSDP gathers the whole model at once where nothing divides it") {
  const auto wrap = [](const std::string& words, const std::string& keys = "{}") {
    const auto job =
        beside(start + "train.py" + sizes + " --fsdp \"" + words + "\" --fsdp_config f.json\n",
               {{"f.json", keys}});
    return at(job.document, "plan.wrap");
  };
  CHECK(wrap("full_shard") == "model");
  CHECK(wrap("full_shard auto_wrap").empty());
  CHECK(wrap("shard_grad_op").empty());  // ZeRO 2 gathers nothing layer by layer
  const std::string named = R"({"transformer_layer_cls_to_wrap": "Qwen3DecoderLayer"})";
  CHECK(wrap("full_shard", named) == "model");  // which counts beside auto_wrap alone
  CHECK(wrap("full_shard auto_wrap", named).empty());
  const auto plugin = [](const std::string& policy) {
    return at(tests::job("distributed_type: FSDP\nnum_processes: 8\nmixed_precision: bf16\n"
                         "fsdp_config: {fsdp_version: 2, " +
                         policy + "}\n")
                  .document,
              "plan.wrap");
  };
  CHECK(plugin("fsdp_auto_wrap_policy: NO_WRAP") == "model");
  CHECK(plugin("fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP").empty());
  CHECK(plugin("fsdp_auto_wrap_policy: SIZE_BASED_WRAP").empty());
  CHECK(plugin("fsdp_offload_params: false") == "model");
}

TEST_CASE("the Trainer does not recompute beside FSDP, whose switch any file may have") {
  const std::string both = " --gradient_checkpointing --fsdp full_shard --fsdp_config f.json\n";
  const auto refused = [](const std::string& text, const std::string& name,
                          const std::string& file) {
    return tests::refusal([&] { beside(text, {{name, file}}); });
  };
  const auto text = start + "train.py" + sizes + both;
  const std::string keys = R"({"activation_checkpointing": true})";
  CHECK(refused(text, "f.json", keys) ==
        "job:1:130: --gradient_checkpointing: FSDP recomputes, too "
        "(fsdp_config.activation_checkpointing true), and the Trainer does not start with both; "
        "leave this one out, which would gather parameters once more");
  CHECK(refused(text, "f.json", R"({"fsdp_activation_checkpointing": true})")
            .find("FSDP recomputes, too") != std::string::npos);
  CHECK(refused(text, "f.json", R"({"activation_checkpointing": false})") == "accepted");
  CHECK(refused(start + "train.py" + sizes + " --fsdp full_shard --fsdp_config f.json\n", "f.json",
                keys) == "accepted");
  const auto launched = "accelerate launch --config_file a.yaml train.py" + sizes;
  const std::string plugin = "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n";
  CHECK(refused(launched + " --gradient_checkpointing true\n", "a.yaml",
                plugin + "  fsdp_activation_checkpointing: true\n")
            .find("FSDP recomputes, too") != std::string::npos);
  CHECK(refused(launched + " --gradient_checkpointing true\n", "a.yaml", plugin) == "accepted");
}

TEST_CASE("the Trainer reads fsdp_config beside fsdp alone") {
  const std::string keys = R"({"activation_checkpointing": true, "offload_params": true})";
  const auto job_of = [&](const std::string& more) {
    return beside(start + "train.py" + sizes + " --fsdp_config f.json" + more + "\n",
                  {{"f.json", keys}});
  };
  for (const std::string off : {"", " --fsdp ''"}) {
    INFO(off);
    const auto job = job_of(off);
    CHECK(at(job.document, "plan.zero") == "0");
    CHECK(at(job.document, "plan.recompute") != "full");
    CHECK(at(job.document, "plan.offload.optimizer").empty());
    const auto recomputed = job_of(off + " --gradient_checkpointing");
    CHECK(at(recomputed.document, "plan.recompute") == "full");
    CHECK(at(recomputed.document, "plan.zero") == "0");
  }
  CHECK(at(job_of(" --fsdp full_shard").document, "plan.zero") == "3");
  const auto missing = beside(start + "train.py" + sizes + " --fsdp_config f.json\n", {});
  CHECK(wanted(missing) == "cluster.node");
}

TEST_CASE("a mistake in FSDP's keys on the command line has the place of the argument") {
  const auto refused = [](const std::string& keys) {
    return tests::refusal(
        [&] { beside(start + "train.py --fsdp_config '" + keys + "'" + sizes + "\n", {}); });
  };
  CHECK(refused(R"({"a": [1, "b": 2})") ==
        "job:1:38: --fsdp_config {\"a\": [1, \"b\": 2}: at 1:17 of this text, this is not YAML: "
        "illegal flow end");
}

TEST_CASE("a kind of model with overrides is a new model of these sizes") {
  const std::string clm =
      "torchrun --nproc_per_node 8 run_clm.py --do_train --block_size 1024 --fp16 "
      "--per_device_train_batch_size 8 ";
  const auto size = [&](const std::string& words, const std::string& key) {
    return at(beside(clm + words + "\n", {}).document, "model." + key);
  };
  const std::string kind = "--model_type gpt2", more = kind + " --config_overrides ";
  CHECK(size(kind, "hidden") == "768");
  CHECK(size(kind, "layers") == "12");
  const std::string large = more + "n_embd=1024,n_head=16,n_layer=48,n_positions=2048";
  CHECK(size(large, "hidden") == "1024");
  CHECK(size(large, "ffn") == "4096");
  CHECK(size(large, "head_dim") == "64");
  CHECK(size(large, "layers") == "48");
  CHECK(size(large, "max_sequence") == "2048");
  CHECK(size(more + "n_inner=2048", "ffn") == "2048");
  CHECK(wanted(beside(clm + more + "n_embed=1024\n", {})).starts_with("model "));
  const auto refused = [&](const std::string& words) {
    return tests::refusal([&] { beside(clm + words + "\n", {}); });
  };
  CHECK(refused(more + "n_embd=1000,n_head=16").find("n_head must divide") != std::string::npos);
  CHECK(refused("--model_name_or_path gpt2 --config_overrides n_layer=48")
            .ends_with("--config_overrides n_layer=48: beside --model_name_or_path the script does "
                       "not start (run_clm.py); name a kind of model by --model_type instead, or "
                       "leave it out"));
}

TEST_CASE("a command that names a configuration and a folder is the Trainer's with its own batch") {
  const auto job = tests::job(
      "torchrun --nproc_per_node 8 run_clm.py --config_name gpt2 --tokenizer_name gpt2 "
      "--output_dir o --do_train --block_size 512 --fp16");
  CHECK(tests::at(job.document, "plan.micro_batch") == "8");
  CHECK(tests::at(job.document, "training.global_batch") == "64");
}

TEST_CASE("a command of TRL is a job of the Trainer that accelerate starts") {
  const auto job = beside("trl sft" + sizes + " --accelerate_config zero3 --num_machines 2\n", {});
  CHECK(job.account.framework == "trainer");
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(at(job.document, "software.base") == "deepspeed");
  CHECK(at(job.document, "cluster.gpus") == "8");
  CHECK(at(job.document, "plan.micro_batch") == "4");
  CHECK(effect_of(job, "--accelerate_config zero3") == Effect::read);
  CHECK(effect_of(job, "--num_machines 2") == Effect::none);
  const auto more = beside("trl sft --config r.yaml --num_processes 16\n", {{"r.yaml", recipe}});
  CHECK(at(more.document, "cluster.gpus") == "16");
  CHECK(batch(more) == "1024");  // 16 x 4 x 16
  const auto own = beside("trl sft" + sizes + " --accelerate_config a.yaml\n",
                          {{"a.yaml", "distributed_type: FSDP\nnum_processes: 4\n"}});
  CHECK(at(own.document, "cluster.gpus") == "4");
  CHECK(at(own.document, "plan.zero") == "3");
  CHECK(wanted(beside("trl sft" + sizes + " --accelerate_config b.yaml\n", {})).find("plan.zero") !=
        std::string::npos);
  CHECK(tests::refusal([&] { beside("trl dpo" + sizes + "\n", {}); }).find("a step of dpo") !=
        std::string::npos);
}

TEST_CASE("a recipe that a training script is given stands below the script's arguments") {
  const std::string over = " --per_device_train_batch_size=8 --gradient_accumulation_steps=2\n";
  for (const auto* name : {"r.yaml", "--config r.yaml", "--config=r.yaml"}) {
    INFO(name);
    const auto job = beside(start + "run_sft.py " + name + over, {{"r.yaml", recipe}});
    CHECK(batch(job) == "128");  // 8 x 2 x 8
    CHECK(at(job.document, "training.sequence_length") == "2048");
    CHECK(at(job.document, "model.layers") == "36");
    CHECK(tests::refusal([&] {
            beside(start + "run_sft.py " + name + over, {});
          }).ends_with("this file is not beside the job; what it trains stands there"));
  }
}

TEST_CASE("a recipe that accelerate's script is given stands on accelerate's configuration") {
  const std::string sharding =
      "distributed_type: DEEPSPEED\nnum_processes: 16\ndeepspeed_config: {zero_stage: 3}\n";
  for (const auto* name : {"r.yaml", "--config r.yaml", "--config=r.yaml"}) {
    INFO(name);
    const auto job = beside("accelerate launch --config_file a.yaml sft.py " + std::string(name),
                            {{"a.yaml", sharding}, {"r.yaml", recipe}});
    CHECK(at(job.document, "plan.zero") == "3");
    CHECK(at(job.document, "plan.micro_batch") == "16");
    CHECK(batch(job) == "1024");  // 16 x 4 x 16
  }
}

TEST_CASE("the file behind --config is a command's recipe, whatever files are named before it") {
  const std::string stage = R"({"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}})";
  for (const auto* name : {"--config r.yaml", "--config=r.yaml", "--config_file r.yaml"}) {
    INFO(name);
    const auto job = beside(start + "sft.py --deepspeed ds.json " + name,
                            {{"ds.json", stage}, {"r.yaml", recipe}});
    CHECK(job.account.framework == "trainer");
    CHECK(batch(job) == "512");  // 16 x 4 x 8
    CHECK(at(job.document, "plan.zero") == "2");
    CHECK(at(job.document, "training.precision") == "bf16");
    CHECK(effect_of(job, std::string(name).starts_with("--config=") ? "--config r.yaml" : name) ==
          Effect::none);
  }
  const auto data = beside(start + "sft.py" + sizes + " --data one.json two.json\n", {});
  CHECK(at(data.document, "plan.micro_batch") == "4");  // neither of the two is a recipe
}

TEST_CASE("arguments behind LLaMA-Factory's file stand over the file's") {
  const auto job = beside(
      "llamafactory-cli train a.yaml per_device_train_batch_size=4 learning_rate=1e-5 \\\n"
      "  cutoff_lens=1 deepspeed=null --packing true\n",
      {{"a.yaml", factory}}, {"WORLD_SIZE=8"});
  CHECK(job.account.framework == "llamafactory");
  CHECK(at(job.document, "plan.micro_batch") == "4");
  CHECK(batch(job) == "64");  // 4 x 2 x 8
  CHECK(at(job.document, "training.sequence_length") == "2048");
  CHECK(at(job.document, "plan.zero") == "0");  // without DeepSpeed
  CHECK(place_of(job, "per_device_train_batch_size 4") == "job:1:31");
  CHECK(place_of(job, "cutoff_len 2048") == "a.yaml:4:1");
  CHECK(effect_of(job, "per_device_train_batch_size 1") == Effect::none);  // given again
  CHECK(effect_of(job, "learning_rate 1e-5") == Effect::none);
  CHECK(effect_of(job, "cutoff_lens 1") == Effect::unknown);
  CHECK(effect_of(job, "--packing true") == Effect::unknown);  // it takes no options there
  CHECK(effect_of(job, "overwrite_cache true") == Effect::none);
  const auto full = beside("llamafactory-cli train a.yaml finetuning_type=full deepspeed=null\n",
                           {{"a.yaml", "finetuning_type: lora\n" + factory}});
  CHECK(at(full.document, "model.layers") == "36");
}

TEST_CASE("a file and arguments that come from one variable are told apart") {
  const auto job =
      beside("ARGS=\"a.yaml per_device_train_batch_size=4\"\nllamafactory-cli train $ARGS\n",
             {{"a.yaml", factory}}, {"WORLD_SIZE=8"});
  CHECK(at(job.document, "plan.micro_batch") == "4");
  CHECK(at(job.document, "training.sequence_length") == "2048");
  const auto trainer = beside(
      "ARGS=(--per_device_train_batch_size 3 --config r.yaml)\n"
      "torchrun --nproc_per_node 8 sft.py \"${ARGS[@]}\"\n",
      {{"r.yaml", "max_seq_length: 512\nbf16: true\n"}});
  CHECK(at(trainer.document, "plan.micro_batch") == "3");
  CHECK(at(trainer.document, "training.sequence_length") == "512");
}

TEST_CASE("options behind axolotl's file stand over the file's") {
  const std::string axolotl =
      "base_model: Qwen/Qwen3-8B\nsequence_len: 4096\nsample_packing: true\n"
      "micro_batch_size: 2\ngradient_accumulation_steps: 3\nbf16: auto\nflash_attention: true\n";
  const auto job = beside(
      "axolotl train a.yaml --micro-batch-size=4 --gradient-accumulation-steps 1 "
      "--no-sample-packing --weight-decay 0.1 --micro-batch-sise 3 --debug -- --num_processes 2\n",
      {{"a.yaml", axolotl}});
  CHECK(job.account.framework == "axolotl");
  CHECK(at(job.document, "plan.micro_batch") == "4");
  CHECK(batch(job) == "8");  // 4 x 1 x 2
  CHECK(place_of(job, "--micro-batch-size 4") == "job:1:22");
  CHECK(effect_of(job, "sequence_len 4096") == Effect::not_modelled);  // it is not packed
  CHECK(effect_of(job, "--weight-decay 0.1") == Effect::none);
  CHECK(effect_of(job, "--micro-batch-sise 3") == Effect::unknown);
  CHECK(effect_of(job, "--debug") == Effect::none);
}

TEST_CASE("accelerate's configuration lies under the file of LLaMA-Factory or axolotl") {
  const std::string sharding =
      "distributed_type: FSDP\nnum_processes: 16\nnum_machines: 2\n"
      "fsdp_config: {fsdp_sharding_strategy: FULL_SHARD, fsdp_cpu_offload: true}\n";
  const std::string axolotl =
      "base_model: Qwen/Qwen3-8B\nsequence_len: 4096\nmicro_batch_size: 2\n";
  const auto of = [&](const std::string& program) {
    return beside("accelerate launch --config_file acc.yaml " + program,
                  {{"acc.yaml", sharding}, {"f.yaml", plain_factory}, {"a.yaml", axolotl}});
  };
  for (const auto* program : {"src/train.py f.yaml bf16=true", "-m axolotl.cli.train a.yaml --bf16",
                              "src/train.py --stage sft --finetuning_type full --bf16"}) {
    INFO(program);
    const auto job = of(program);
    CHECK(at(job.document, "cluster.gpus") == "16");
    CHECK(at(job.document, "plan.zero") == "3");
    CHECK(at(job.document, "plan.offload.optimizer") == "cpu");
    CHECK(at(job.document, "training.precision") == "bf16");
    CHECK(effect_of(job, "num_machines 2") == Effect::none);
    CHECK(wanted(job).find("plan.zero") == std::string::npos);
  }
}

TEST_CASE("scripts that learn from preferences and rewards are refused by their name") {
  const std::string why =
      " is more than one of a language model: it compares, rewards or generates";
  const auto refused = [](const std::string& command) {
    return tests::refusal([&] { beside(command, {{"r.yaml", recipe}}); });
  };
  CHECK(refused(start + "src/grpo.py --config r.yaml\n") ==
        "job:1:41: grpo.py: a step of grpo" + why);
  CHECK(refused(start + "run_dpo.py" + sizes + "\n") ==
        "job:1:40: run_dpo.py: a step of dpo" + why);
  CHECK(refused("accelerate launch --num_processes 8 PPO-train.py --learning_rate 1\n")
            .ends_with("a step of ppo" + why));
  CHECK(refused(start + "-m open.rloo --config r.yaml\n").ends_with("a step of rloo" + why));
  CHECK(refused(start + "reward_modeling.py r.yaml\n").ends_with("a step of reward" + why));
  CHECK(refused(start + "supported.py" + sizes + "\n") == "accepted");
}

TEST_CASE("LLaMA-Factory's arguments on a command line are its own") {
  const std::string command =
      start +
      "src/train.py --stage sft --model_name_or_path Qwen/Qwen3-8B --cutoff_len 4096 "
      "--per_device_train_batch_size 4 --bf16 --overwrite_cache ";
  const auto job = tests::job(command + "--finetuning_type full --template qwen\n");
  CHECK(job.account.framework == "llamafactory");
  CHECK(at(job.document, "training.sequence_length") == "4096");
  CHECK(at(job.document, "plan.recompute") == "full");  // unless it is disabled
  CHECK(batch(job) == "32");
  CHECK(tests::refused(command + "--template qwen\n").find("which means lora") !=
        std::string::npos);
  CHECK(tests::refused(start + "src/train.py --stage dpo --model_name_or_path a "
                               "--finetuning_type full\n")
            .find("a step of dpo") != std::string::npos);
}

TEST_CASE("a script that gives DeepSpeed its file itself has the precision and plan of that file") {
  const std::string file = R"({"train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": true},)"
                           R"( "zero_optimization": {"stage": 2}})";
  const std::string command =
      "deepspeed --num_gpus 8 finetune.py --model_name_or_path Qwen/Qwen3-8B --max_seq_length 2048 "
      "--per_device_train_batch_size 4 --gradient_accumulation_steps 8 ";
  for (const std::string named :
       {"--deepspeed_config ds.json", "--deepspeed --deepspeed_config ds.json",
        "--deepspeed_config ds.json --deepspeed"}) {
    INFO(named);
    const auto job = beside(command + named + "\n", {{"ds.json", file}});
    CHECK(at(job.document, "plan.zero") == "2");
    CHECK(at(job.document, "training.precision") == "bf16");
    CHECK(at(job.document, "software.base") == "deepspeed");
    CHECK(batch(job) == "256");  // 4 x 8 x 8
    CHECK(effect_of(job, "--deepspeed_config ds.json") == Effect::read);
    CHECK(wanted(job) == "cluster.node");
  }
  const auto missing = beside(command + "--deepspeed_config ds.json\n", {});
  CHECK(wanted(missing) == "plan.zero plan.offload cluster.node");
  const auto other = tests::refusal([&] {
    beside(command + "--deepspeed_config ds.json\n",
           {{"ds.json", R"({"train_micro_batch_size_per_gpu": 2})"}});
  });
  CHECK(
      other ==
      "ds.json:1:2: train_micro_batch_size_per_gpu 2: the job says per_device_train_batch_size 4, "
      "which the loader of the data takes, and DeepSpeed the file's; write the same");
  const auto half = beside(command + "--deepspeed_config ds.json --fp16\n", {{"ds.json", file}});
  CHECK(at(half.document, "training.precision") == "bf16");
  CHECK(half.comments.at("training.precision") == "bf16.enabled true");
  CHECK(effect_of(half, "--fp16") == Effect::none);
  CHECK(tests::refusal([&] {
          beside(command + "--deepspeed_config\n", {});
        }).find("--deepspeed_config: expected a file") != std::string::npos);
}

TEST_CASE("degrees of DeepSpeed's file divide the ranks of the Trainer's batch") {
  const std::string script =
      "deepspeed --num_gpus 8 --num_nodes 2 train.py --model_name_or_path Qwen/Qwen3-8B "
      "--deepspeed ds.json --per_device_train_batch_size 1 --gradient_accumulation_steps 8 "
      "--bf16 True --max_seq_length 32768\n";
  const auto job = beside(
      script, {{"ds.json",
                R"({"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 2},
                    "sequence_parallel_size": 4, "tensor_parallel": {"autotp_size": 2}})"}});
  CHECK(at(job.document, "plan.context") == "4");
  CHECK(at(job.document, "plan.context_method") == "ulysses");
  CHECK(at(job.document, "plan.tensor") == "2");
  CHECK(batch(job) == "16");  // 1 x 8 x 16 / (4 x 2)
  CHECK(job.comments.at("plan.context") == "sequence_parallel_size 4");
  const auto plain = beside(script, {{"ds.json", R"({"zero_optimization": {"stage": 3}})"}});
  CHECK(at(plain.document, "plan.context") == "1");
  CHECK(batch(plain) == "128");
}

TEST_CASE("a configuration that the Trainer's script names is the model") {
  const auto job = beside(
      "torchrun --nproc_per_node 8 run_clm.py --config_name config.json --block_size 1024 "
      "--per_device_train_batch_size 1 --bf16\n",
      {{"config.json", "{}"}});
  CHECK(at(job.document, "model.huggingface") == "config.json");
  CHECK(wanted(job) == "cluster.node");
}

TEST_CASE("TRL's configurations of FSDP gather a layer at once") {
  for (const std::string name : {"fsdp1", "fsdp2"}) {
    const auto job = beside("trl sft" + sizes + " --accelerate_config " + name + "\n", {});
    CHECK(at(job.document, "plan.zero") == "3");
    CHECK(at(job.document, "plan.wrap").empty());
    CHECK(at(job.document, "software.copies_parameters") == (name == "fsdp2" ? "true" : ""));
  }
}

TEST_CASE("torchao scales products of 8 bit by what tensors or rows hold") {
  const auto scaling = [](const std::string& text) {
    return at(tests::job(text, {"WORLD_SIZE=8"}).document, "training.fp8_recipe");
  };
  const std::string axolotl =
      "base_model: Qwen/Qwen2.5-7B\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n"
      "sequence_len: 2048\nsample_packing: true\ndatasets: [{path: a}]\n";
  CHECK(scaling(axolotl + "fp8: true\n") == "tensorwise");
  CHECK(scaling(axolotl + "bf16: true\n").empty());
  const std::string tuned =
      "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\ncutoff_len: 2048\n"
      "template: qwen\nper_device_train_batch_size: 1\nfp8: true\n";
  CHECK(scaling(tuned) == "rowwise");
  CHECK(scaling(tuned + "fp8_backend: te\n").empty());
}

}  // namespace trainer_script_job_spec
