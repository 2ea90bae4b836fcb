// SPDX-License-Identifier: Apache-2.0
// Launchers that start a job's processes: the number of GPUs, and the effect of every option.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace launcher_spec {

using tests::at;
using tests::beside;

namespace {

const std::string sizes =
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --vocab-size 9 "
    "--max-position-embeddings 64 --micro-batch-size 1 --global-batch-size 1024 --bf16\n";

std::string gpus(const std::string& script) {
  return at(tests::job(script).document, "cluster.gpus");
}

// The number of GPUs of a command that starts Megatron-LM's program.
std::string started(const std::string& launcher) {
  return gpus(launcher + " pretrain_gpt.py " + sizes);
}

// The account of all arguments but those of the program, one line each: "--nnodes 2: read".
std::string account(const std::string& script, std::size_t count) {
  std::string all;
  const auto job = tests::job(script);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& one = job.account.arguments.at(i);
    all += one.text + ": " + std::string(scenarios::word_of(one.effect)) +
           (one.why.empty() ? "" : ", " + one.why) + "\n";
  }
  return all;
}

const std::string axolotl =
    "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 4096\nsample_packing: true\n"
    "micro_batch_size: 2\ngradient_accumulation_steps: 3\nbf16: auto\n";
const std::string accelerate =
    "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\nfsdp_config: {fsdp_version: "
    "2, fsdp_reshard_after_forward: true}\n";

}  // namespace

TEST_CASE("options of a launcher that only a shell can tell are named where GPUs rest on them") {
  const auto asked = [](const std::string& script) {
    for (const auto& one : tests::job(script).wanted)
      if (one.path == "cluster.nodes") return one.text;
    return std::string();
  };
  const std::string nodes =
      "if [ \"$NODES\" -gt 1 ]; then\nDIST=\"--nnodes $NODES --nproc_per_node 8\"\nelse\n"
      "DIST=\"--standalone --nproc_per_node 8\"\nfi\ntorchrun $DIST pretrain_gpt.py ";
  CHECK(asked(nodes + sizes)
            .starts_with("the number of GPUs rests on options of torchrun: DIST is set"));
  CHECK(asked(nodes + sizes).find("add --env NODES=VALUE") != std::string::npos);
  CHECK(started("torchrun --nproc_per_node 8") == "8");
  CHECK(started("torchrun --nproc_per_node 8 $MORE").empty());
  CHECK(started("torchrun --nproc_per_node 8 --nnodes 2 $MORE") == "16");
  CHECK(started("torchrun $MORE --nproc_per_node 8 --nnodes 2") == "16");
  CHECK(started("srun $MORE torchrun --nproc_per_node 8") == "8");
  CHECK(started("deepspeed --num_gpus 8 $MORE").empty());
  CHECK(account("torchrun --nproc_per_node 8 --nnodes 2 $MORE pretrain_gpt.py " + sizes, 3)
            .find("options of torchrun: not modelled, MORE has no value in this file") !=
        std::string::npos);
}

TEST_CASE("GPUS_PER_NODE counts before the script of Primus that EXP gives its job") {
  const auto counted = [](const std::string& variables) {
    const std::string file =
        "work_group: a\nuser_name: a\nexp_name: a\nworkspace: ./output\nmodules:\n"
        "  pre_trainer:\n    framework: megatron\n    model: llama3_8B.yaml\n    overrides:\n"
        "      micro_batch_size: 1\n      global_batch_size: 64\n      seq_length: 8192\n";
    return at(beside(variables + " bash ./examples/run_pretrain.sh\n", {{"a.yaml", file}}).document,
              "cluster.gpus");
  };
  CHECK(counted("NNODES=4 GPUS_PER_NODE=8 EXP=a.yaml") == "32");
  CHECK(counted("EXP=a.yaml GPUS_PER_NODE=8") == "8");
  CHECK(counted("EXP=a.yaml").empty());
  CHECK(counted("NNODES=4 EXP=a.yaml").empty());
}

TEST_CASE("a number of GPUs that is none is named where it stands") {
  const auto named = [](const std::string& script) {
    for (const auto& one :
         beside(script, {{"a.toml", "[training]\nlocal_batch_size = 1\n"}}).wanted)
      if (one.path == "cluster.nodes") return one.text;
    return std::string("nothing");
  };
  CHECK(named("CONFIG_FILE=a.toml NGPU=x ./run_train.sh\n")
            .starts_with("the number of GPUs rests on NGPU=x: expected a whole number above zero"));
  CHECK(named("CONFIG_FILE=a.toml NGPU=8 ./run_train.sh\n") == "nothing");
  const std::string train = " pretrain_gpt.py " + sizes + "\n";
  CHECK(named("torchrun --nproc_per_node 8 --nnodes two" + train)
            .starts_with("the number of GPUs rests on --nnodes two: expected"));
  CHECK(named("torchrun --nproc_per_node gpu --nnodes 2" + train) == "nothing");
}

TEST_CASE("nodes of which all GPUs are used are read") {
  CHECK(account("torchrun --nnodes 2 --nproc_per_node gpu pretrain_gpt.py " + sizes, 1) ==
        "--nnodes 2: read\n");
}

TEST_CASE("GPUs count among resources, the most nodes of a range count, and nonsense does not") {
  CHECK(started("srun -N 2 --gres=gpu:8,nvme:1 python") == "16");
  CHECK(started("srun -N 2 --gres=nvme:1,gpu:h100:4 python") == "8");
  CHECK(started("srun -N 2 --gres='gpu:h100:8(S:0-1)' python") == "16");
  CHECK(started("srun -N2-4 --gpus-per-node=h100:8 python") == "32");
  CHECK(started("srun --nodes=4 --ntasks-per-node=1 --gpus-per-task=8 python") == "32");
  for (const auto* without :
       {"srun -N 2 --gres=craynetwork:1 python", "torchrun --nproc_per_node 8 --nnodes -1",
        "torchrun --nproc_per_node 8 --nnodes x:4"})
    CHECK(started(without).empty());
}

TEST_CASE("every launcher says on how many GPUs it starts a job") {
  CHECK(started("torchrun --nproc_per_node 8 --nnodes=4") == "32");
  CHECK(started("torchrun --standalone --nproc-per-node=4") == "4");
  CHECK(started("torchrun --nnodes 1:4 --nproc_per_node 8") == "32");
  CHECK(started("python -m torch.distributed.run --nproc_per_node 2 --nnodes 2") == "4");
  CHECK(started("python -m torch.distributed.launch --use_env --nproc_per_node 2 --nnodes 2") ==
        "4");
  CHECK(started("deepspeed --num_gpus 8 --num_nodes 2") == "16");
  CHECK(started("deepspeed --num_gpus=8") == "8");
  CHECK(started("deepspeed --hostfile hosts --num_gpus 8").empty());  // the file lists the nodes
  CHECK(started("deepspeed --include localhost:0,1,2") == "3");
  CHECK(started("deepspeed --include worker-0:0,1@worker-1:2") == "3");
  CHECK(started("mpirun -np 16 --bind-to none -x PATH -mca pml ob1 python") == "16");
  CHECK(started("srun -N4 --ntasks-per-node=8 python -u") == "32");
  CHECK(started("srun -n 24 --container-image a/b:c python") == "24");
  CHECK(started("srun --nodes=2 --ntasks-per-node=1 --gpus-per-node 8 python") == "16");
  CHECK(started("srun --gres=gpu:h100:8 -N 2 python") == "16");
  CHECK(started("accelerate launch --multi_gpu --num_machines 2 --num_processes 16") == "16");
}

TEST_CASE("the launcher next to the program decides, and Slurm's variables have its values") {
  CHECK(started("srun -N 4 --ntasks-per-node 1 torchrun --nproc_per_node 8 --nnodes 4") == "32");
  CHECK(gpus("#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nsrun torchrun --nnodes $SLURM_NNODES "
             "--nproc_per_node $SLURM_GPUS_ON_NODE pretrain_gpt.py " +
             sizes) == "32");
  CHECK(gpus("#SBATCH -N 3\n#SBATCH --gres=gpu:8\nsrun torchrun --nnodes $SLURM_JOB_NUM_NODES "
             "--nproc_per_node gpu pretrain_gpt.py " +
             sizes) == "24");
  CHECK(gpus("#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\nsrun bash -c \"python "
             "pretrain_gpt.py " +
             sizes + "\"\n") == "16");
  CHECK(gpus("srun -N 2 --ntasks-per-node 4 bash -c \"python pretrain_gpt.py " + sizes + "\"\n") ==
        "8");
}

TEST_CASE("no option of a launcher is dropped") {
  CHECK(
      account("srun -N 2 --mpi=pmix torchrun --nnodes 2 --nproc_per_node 8 --master_port 1 --nodes "
              "2 pretrain_gpt.py " +
                  sizes,
              6) ==
      "-N 2: without effect, the number of GPUs is that of --nproc_per_node 8, --nnodes 2\n"
      "--mpi=pmix: without effect, how processes are started, not how many\n"
      "--nnodes 2: read\n"
      "--nproc_per_node 8: read\n"
      "--master_port 1: without effect, how processes find each other\n"
      "--nodes 2: unknown, did you mean --nnodes?\n");
  CHECK(account("mpirun -np 16 -x A -H a:8,b:8 python pretrain_gpt.py " + sizes, 3) ==
        "-np 16: read\n-x A: without effect, how processes are started, not how many\n"
        "-H a:8,b:8: without effect, which machines they run on, not how many\n");
}

TEST_CASE(
    "options of accelerate are keys of its configuration, and override the file that they name") {
  const std::string program =
      " run_clm.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2 --block_size "
      "4096\n";
  const auto job = tests::job(
      "accelerate launch --num_machines 4 --num_processes 32 --mixed_precision bf16 --use_fsdp "
      "--fsdp_sharding_strategy SHARD_GRAD_OP --fsdp_activation_checkpointing true" +
      program);
  CHECK(at(job.document, "cluster.gpus") == "32");
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(at(job.document, "plan.zero") == "2");
  CHECK(at(job.document, "plan.recompute") == "full");
  CHECK(at(job.document, "training.global_batch") == "64");
  const auto file = beside("accelerate launch --config_file a.yaml --num_processes 16" + program,
                           {{"a.yaml", accelerate}});
  CHECK(at(file.document, "cluster.gpus") == "16");
  CHECK(at(file.document, "plan.zero") == "3");
  CHECK(at(file.document, "training.precision") == "bf16");
  const auto none = beside("accelerate launch --config_file b.yaml" + program, {});
  CHECK(std::ranges::count(none.wanted, "plan.zero", &scenarios::WantedKey::path) == 1);
}

TEST_CASE("keys that accelerate leaves to an unread program are asked for") {
  const auto job = tests::job(
      "accelerate launch --use_deepspeed --zero_stage 3 --num_processes 8 finetune.py --lr 1e-5\n");
  CHECK(job.account.framework == "accelerate");
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(at(job.document, "cluster.gpus") == "8");
  CHECK(job.wanted.front().path == "model");
  CHECK(job.account.arguments.back().text == "--lr 1e-5");
  CHECK(job.account.arguments.back().effect == scenarios::Effect::not_modelled);
}

TEST_CASE("a script whose program has its arguments in a file is the job of that file") {
  const auto job =
      beside("#!/bin/bash\ntorchrun --nproc_per_node 8 -m axolotl.cli.train conf/a.yml --debug 3\n",
             {{"conf/a.yml", axolotl}});
  CHECK(job.account.framework == "axolotl");
  CHECK(at(job.document, "cluster.gpus") == "8");
  CHECK(at(job.document, "training.global_batch") == "48");  // 2 x 3 x 8 GPUs
  CHECK(job.comments.at("cluster.gpus") == "--nproc_per_node 8 on one node");
  CHECK(job.account.arguments.front().text == "--nproc_per_node 8");
  CHECK(tests::effect_of(job, "--debug 3") == scenarios::Effect::none);
}

TEST_CASE("a script that starts no program of a framework is refused with the readable ones") {
  const auto refused = [](const std::string& text) {
    return tests::refusal([&] { tests::job(text); });
  };
  CHECK(
      refused("torchrun --nproc_per_node 8 train.py --batch 3\n")
          .starts_with("job:1:38: train.py is no program of a framework that is known; expected a "
                       "scenario, or a job of megatron, torchtitan, deepspeed"));
  CHECK(
      refused("torchrun --nproc_per_node 8 $ARGS\n") ==
      "job:1:29: its command has no program that can be read: ARGS has no value in this file; add "
      "--env ARGS=VALUE");
  CHECK(refused("axolotl=1 torchrun -m axolotl.cli.train a.yml\n") ==
        "job:1:41: axolotl.cli.train is given a.yml, which is not beside this file; what it trains "
        "stands there");
  CHECK(refused("python -m verl.trainer.main_ppo a.b=3\n")
            .starts_with("job:1:33: it is reinforcement learning (verl)"));
  CHECK(refused("torchrun --nproc_per_node 8 -m verl.trainer.fsdp_sft_trainer a.b=3\n")
            .find("it is fine-tuning with verl, which is not read") != std::string::npos);
  CHECK(refused("deepspeed --module openrlhf.cli.train_sft --max_len 2048\n")
            .find("it is fine-tuning with OpenRLHF, which is not read") != std::string::npos);
  CHECK(refused("python metaseq/cli/train.py --arch transformer_lm_megatron --batch-size 2\n")
            .find("it is a job of metaseq, which is not read") != std::string::npos);
}

TEST_CASE("options of launchers may be shortened as long as no other begins so") {
  CHECK(started("torchrun --nproc 8 --nnode=2") == "16");
  CHECK(started("torchrun --nproc-per 4 --nn 2 --rdzv_end a:1") == "8");
  CHECK(started("deepspeed --num_g 8 --num_no 2") == "16");
  CHECK(started("srun --gpus-per-n 8 --nodes 2 python") == "16");
  CHECK(account("torchrun --nproc_per_node 8 --no 3 pretrain_gpt.py " + sizes, 2) ==
        "--nproc_per_node 8: read\n"
        "--no 3: unknown, it may be --no_python or --node_rank\n");
  CHECK(account("mpirun --map 3 -np 2 pretrain_gpt.py " + sizes, 1) ==
        "--map 3: unknown, it may be --map_by\n");  // Open MPI takes whole names
}

TEST_CASE("two hyphens end the options of a launcher") {
  CHECK(started("torchrun --nproc_per_node 8 --nnodes 2 --") == "16");
  CHECK(started("srun -N 2 --ntasks-per-node 8 -- python") == "16");
  CHECK(account("torchrun --nproc_per_node 8 -- pretrain_gpt.py " + sizes, 2) ==
        "--nproc_per_node 8: read\n--num-layers 2: read\n");
}

TEST_CASE("variables count for the program that reads them") {
  CHECK(started("NNODES=4 torchrun --nproc_per_node 8") == "8");  // torchrun reads PET_NNODES
  CHECK(started("NNODES=4 torchrun --nproc_per_node 8 --nnodes 2") == "16");
  CHECK(started("PET_NNODES=4 torchrun --nproc_per_node 8") == "32");
  CHECK(started("PET_NNODES=4 torchrun --nproc_per_node 8 --nnodes 2") == "16");
  CHECK(started("PET_NNODES=4 NPROC_PER_NODE=8 bash run.sh") == "8");
  CHECK(started("NNODES=4 NPROC_PER_NODE=8 bash run.sh") == "32");
  CHECK(account("NNODES=4 torchrun --nproc_per_node 8 pretrain_gpt.py " + sizes, 2) ==
        "NNODES=4: without effect, the launcher behind it has its own options and does not read "
        "it\n--nproc_per_node 8: read\n");
}

TEST_CASE("an option that accelerate does not have is unknown, whatever it starts") {
  const std::string start = "accelerate launch --num_processes 8 --bogus --fsdp_versoin 2 ";
  for (const auto& program : {std::string("finetune.py --lr 3\n"), "pretrain_gpt.py " + sizes}) {
    const auto job = tests::job(start + "--main_process_port 1 " + program);
    CHECK(tests::effect_of(job, "--bogus") == scenarios::Effect::unknown);
    CHECK(tests::effect_of(job, "--main_process_port 1") == scenarios::Effect::none);
    const auto mistyped = std::ranges::find(job.account.arguments, "--fsdp_versoin 2",
                                            &scenarios::JudgedArgument::text);
    CHECK(mistyped->effect == scenarios::Effect::unknown);
    CHECK(mistyped->why == "did you mean --fsdp_version?");
  }
  CHECK(account("accelerate launch --num_processes 8 --learning_rate 3 pretrain_gpt.py " + sizes,
                2) == "--num_processes 8: read\n--learning_rate 3: unknown\n");
}

TEST_CASE("where Slurm gives other GPUs than the launcher starts processes on, both are named") {
  const auto first = [](const std::string& launcher) {
    return account(launcher + " pretrain_gpt.py " + sizes, 1);
  };
  CHECK(first("srun -N 4 --gpus-per-node=8 torchrun --nproc_per_node 8 --nnodes 2") ==
        "-N 4: not modelled, -N 4, --gpus-per-node=8 are 32 GPUs and --nproc_per_node 8, --nnodes "
        "2 are 16, which the forecast has\n");
  CHECK(first("srun -N 4 torchrun --nproc_per_node 8") ==
        "-N 4: not modelled, -N 4 with 8 each are 32 GPUs and --nproc_per_node 8 on one node are "
        "8, which the forecast has\n");
  CHECK(first("srun -N 4 --gres=gpu:8 torchrun --nproc_per_node 8 --nnodes 4")
            .starts_with("-N 4: without effect"));
  CHECK(first("srun --gres=gpu:8 torchrun --nproc_per_node 8 --nnodes 4")
            .starts_with("--gres=gpu:8: without effect"));  // another option says the nodes
}

TEST_CASE(
    "WORLD_SIZE is the number of nodes where the script makes nodes of it, and else of GPUs") {
  const auto under = [](const std::string& script, const std::vector<std::string>& env) {
    return at(tests::job(script + " pretrain_gpt.py " + sizes, env).document, "cluster.gpus");
  };
  const std::string nodes = "NNODES=$WORLD_SIZE\ntorchrun --nproc_per_node 8 --nnodes $NNODES";
  CHECK(under(nodes, {"WORLD_SIZE=4"}) == "32");
  CHECK(under(nodes, {"WORLD_SIZE=64", "WORLD_SIZE=4"}) == "32");  // the last one counts
  CHECK(under("torchrun --nproc_per_node 8 --nnodes $((WORLD_SIZE / 8))", {"WORLD_SIZE=32"}) ==
        "32");
  CHECK(under("torchrun --nproc_per_node 8 --nnodes 2", {"WORLD_SIZE=4"}) == "4");
  CHECK(under("torchrun --nproc_per_node 8 --nnodes $NODES", {"WORLD_SIZE=4"}) == "4");
  CHECK(under("torchrun --nproc_per_node 8 --nnodes 2", {"WORLD_SIZE=64", "WORLD_SIZE=4"}) == "4");
}

TEST_CASE("a script whose WORLD_SIZE is its nodes has the nodes of the scenario over it") {
  const auto folder = std::filesystem::temp_directory_path() / "stepcast_world";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "w.sh") << "NNODES=${WORLD_SIZE:-1}\n"
                                    "torchrun --nproc_per_node 8 --nnodes $NNODES pretrain_gpt.py "
                                    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 "
                                    "--seq-length 64 --vocab-size 9 --max-position-embeddings 64 "
                                    "--micro-batch-size 1 --global-batch-size $((NNODES * 32)) "
                                    "--bf16\n";
  const auto under = [&](const std::vector<std::string>& sets,
                         const std::vector<std::string>& env) {
    const auto scenario =
        scenarios::load_placed_scenario(folder / "w.sh", sets, {.as = {}, .env = env}).value;
    return std::pair(scenario.cluster.gpus, scenario.training.global_batch);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  CHECK(under({"cluster.node=dgx-h100"}, {"WORLD_SIZE=4"}) == Pair(32, 128));
  CHECK(under({"cluster.node=dgx-h100", "cluster.nodes=4"}, {"WORLD_SIZE=4"}) == Pair(32, 128));
  CHECK(under({"cluster.node=dgx-h100", "cluster.nodes=2"}, {}) == Pair(16, 64));
  std::filesystem::remove_all(folder);
}

TEST_CASE("arguments behind two hyphens are for the launcher that axolotl starts") {
  const auto gpus_of = [](const std::string& command) {
    const auto job = beside(command + "\n", {{"a.yaml", axolotl}});
    for (const auto& one : job.account.arguments) {
      INFO(one.text);
      CHECK(one.effect != scenarios::Effect::unknown);
      CHECK(one.effect != scenarios::Effect::not_modelled);
    }
    return at(job.document, "cluster.gpus") + " " + at(job.document, "training.global_batch");
  };
  CHECK(gpus_of("axolotl train a.yaml --launcher torchrun -- --nproc_per_node 8 --nnodes 2") ==
        "16 96");  // 2 x 3 x 16 GPUs
  CHECK(gpus_of("axolotl train a.yaml --launcher=torchrun -- --nproc_per_node=4") == "4 24");
  CHECK(gpus_of("axolotl train a.yaml -- --num_processes 2") == "2 12");
  CHECK(gpus_of("axolotl train a.yaml --launcher torchrun") == " ");
  CHECK(gpus_of("time -- env --launcher x axolotl train a.yaml -- --num_processes 2") == "2 12");
}

TEST_CASE(
    "a key that a named file lacks is asked for where the script names it, with its own place") {
  const auto job =
      beside("llamafactory-cli train a.yaml\n", {{"a.yaml",
                                                  "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\n"
                                                  "finetuning_type: full\ndeepspeed: z3.json\n"}});
  const auto wanted = std::ranges::find(job.wanted, "plan.zero", &scenarios::WantedKey::path);
  REQUIRE(wanted != job.wanted.end());
  CHECK(wanted->text.starts_with("a.yaml:4:1: the ZeRO stage stands in z3.json"));
  CHECK(wanted->at.line == 1);
  CHECK(wanted->at.column == 24);
  CHECK(job.document.find("model")->line == 1);
  const auto node = std::ranges::find(job.wanted, "cluster.node", &scenarios::WantedKey::path);
  CHECK(node->text.starts_with("a job does not say"));
}

TEST_CASE("a program of Python is refused with the file to give instead") {
  const auto refused = [](const std::string& text) {
    return tests::refusal([&] { tests::job(text); });
  };
  CHECK(
      refused("import nemo_run as run\nfrom nemo.collections import llm\n\ndef f(nodes: int = 1):\n"
              "  return llm.llama3_8b.pretrain_recipe(num_nodes=nodes)\n")
          .starts_with("job:1:1: it is a program of Python, which is not run; give the command"));
  CHECK(tests::job("import -window root a\npython x.py " + sizes).account.framework == "megatron");
  CHECK(tests::job("#!/bin/bash\npython - <<EOF\nimport torch\nEOF\npython x.py " + sizes)
            .account.framework == "megatron");
  CHECK(refused("#!/usr/bin/env python3\nimport torch\n").find("it is a program of Python") !=
        std::string::npos);
}

TEST_CASE("a makefile is refused with the file to give instead") {
  const auto refused = [](const std::string& text) {
    return tests::refusal([&] { tests::job(text); });
  };
  CHECK(refused("N ?= 8\nM = --num-layers 2 --hidden-size 64 --seq-length 9\n\n.PHONY: train\n"
                "train:\n\ttorchrun --nproc_per_node $(N) pretrain_gpt.py $(M)\n") ==
        "job:1:1: it is a makefile; give the commands that make runs: make -n TARGET > train.sh");
  const auto script = "for h in a; do\n\techo $(hostname):3\ndone\n" + ("python x.py " + sizes);
  CHECK(tests::job(script).account.framework == "megatron");
}

TEST_CASE("an option of the launcher that nobody can tell is named where GPUs are asked for") {
  const auto job = tests::job("torchrun --nproc_per_node=${N} --nnodes 2 pretrain_gpt.py " + sizes);
  const auto wanted = std::ranges::find(job.wanted, "cluster.nodes", &scenarios::WantedKey::path);
  REQUIRE(wanted != job.wanted.end());
  CHECK(wanted->text ==
        "the number of GPUs rests on --nproc_per_node=…: N has no value in this file; add --env "
        "N=VALUE, or --set cluster.nodes=N, or --env WORLD_SIZE=N");
  CHECK(wanted->at.column == 10);
}

TEST_CASE("words of a command that no argument takes are unknown, and other dashes are refused") {
  const std::string command =
      "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 12 --hidden-size 512 "
      "--num-attention-heads 8 --seq-length 1024 --global-batch-size 32 --micro-batch-size 4 "
      "--vocab-size 1000 --bf16 ";
  struct Case {
    std::string words, unknown;
  };
  const Case cases[]{{"use-distributed-optimizer", "use-distributed-optimizer"},
                     {"-use-distributed-optimizer", "-use-distributed-optimizer"},
                     {"--tensor-model-parallel-size 2 4", "4"},
                     {"--recompute-activations False", "False"},
                     {"\"\"", "\"\""}};
  for (const auto& [words, unknown] : cases) {
    INFO(words);
    const auto job = tests::job(command + words + "\n");
    CHECK(tests::effect_of(job, unknown) == scenarios::Effect::unknown);
    CHECK(tests::at(job.document, "plan.zero") == "0");
  }
  for (const std::string dash : {"\u2010", "\u2013", "\u2014", "\u2212"})
    CHECK(tests::refused(command + dash + "use-distributed-optimizer\n")
              .find("it begins with a dash that is no hyphen; write --use-distributed-optimizer") !=
          std::string::npos);
}

TEST_CASE("lines that fall out of a command are no part of it, and are listed") {
  const std::string command =
      "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 12 --hidden-size 512 \\\n"
      "--num-attention-heads 8 --seq-length 1024 --global-batch-size 32 --micro-batch-size 4 \\\n"
      "--tensor-model-parallel-size 2 --vocab-size 1000 --bf16 ";
  const auto job =
      tests::job(command + "\\\n# --use-distributed-optimizer \\\n--sequence-parallel\n");
  CHECK(tests::at(job.document, "plan.sequence_parallel") == "false");
  CHECK(tests::effect_of(job, "--sequence-parallel") == scenarios::Effect::unknown);
}

}  // namespace launcher_spec
