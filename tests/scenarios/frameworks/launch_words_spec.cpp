// SPDX-License-Identifier: Apache-2.0
// Commands of launchers taken apart: their options, the program, and the numbers that they give.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/jobs/launcher.hpp"
#include "tests/catch.hpp"

namespace launch_words_spec {

namespace {

std::vector<scenarios::ShellWord> words_of(const std::string& line) {
  std::vector<scenarios::ShellWord> words;
  for (std::size_t begin = 0; begin < line.size();) {
    const auto end = std::min(line.find(' ', begin), line.size());
    words.push_back({line.substr(begin, end - begin), {}, {}});
    begin = end + 1;
  }
  return words;
}

// The options as "torchrun.nnodes=2", and behind a bar the words from the program on.
std::string apart(const std::string& line) {
  const auto words = words_of(line);
  const auto command = scenarios::launched_command(words, {});
  std::string all;
  for (const auto& option : command.options) {
    all += option.name;
    for (std::size_t i = 0; i < option.values.size(); ++i)
      all += (i == 0 ? "=" : ",") + option.values[i].text;
    all += ' ';
  }
  all += '|';
  for (auto i = command.rest; i < words.size(); ++i) all += ' ' + words[i].text;
  return command.launched ? all : "not launched";
}

// The GPUs that the command starts; 0: it gives no number.
std::int64_t gpus(const std::string& line) {
  const auto command = scenarios::launched_command(words_of(line), {});
  const auto launched = scenarios::launched_gpus(command.options);
  return launched ? launched->gpus : 0;
}

struct Case {
  const char *line, *shown;
};

void check_apart(const std::vector<Case>& cases) {
  for (const auto& one : cases) {
    INFO(one.line);
    CHECK(apart(one.line) == one.shown);
  }
}

}  // namespace

TEST_CASE("a launcher's options end where its program begins") {
  check_apart(
      {{"torchrun --nnodes 2 --nproc_per_node=8 train.py --lr 1",
        "torchrun.nnodes=2 torchrun.nproc_per_node=8 | train.py --lr 1"},
       {"python -u -m torch.distributed.run --nnodes 2 train.py", "torchrun.nnodes=2 | train.py"},
       {"/opt/bin/torchrun --standalone train.py", "torchrun.standalone | train.py"},
       {"torchrun -m pkg.train --nnodes 2", "torchrun.module | pkg.train --nnodes 2"},
       {"accelerate launch --num_processes 8 train.py --a",
        "accelerate.num_processes=8 | train.py --a"},
       {"accelerate-launch --num_processes 8 train.py", "accelerate.num_processes=8 | train.py"},
       {"deepspeed --num_gpus 8 -- train.py", "deepspeed.num_gpus=8 | train.py"},
       {"srun -N 2 torchrun --nnodes 2 train.py", "slurm.nodes=2 torchrun.nnodes=2 | train.py"},
       {"NPROC_PER_NODE=8 swift sft --model a", "torchrun.nproc_per_node=8 | swift sft --model a"},
       {"python train.py", "not launched"},
       {"sudo env A=1 python train.py", "not launched"}});
}

TEST_CASE("all words behind a launcher are left where it starts another starter of programs") {
  check_apart({{"srun -N2 python train.py", "slurm.nodes=2 | -N2 python train.py"},
               {"srun --nodes 2 numactl --membind 0 python train.py",
                "slurm.nodes=2 | --nodes 2 numactl --membind 0 python train.py"},
               {"mpiexec -np 16 python train.py", "mpirun.np=16 | -np 16 python train.py"},
               {"mpirun -x A -np 16 python train.py",
                "mpirun.x=A mpirun.np=16 | -x A -np 16 python train.py"}});
}

TEST_CASE("every launcher starts as many GPUs as its options say") {
  struct Started {
    const char* line;
    std::int64_t gpus;
  };
  for (const auto& one : std::vector<Started>{
           {"torchrun --nnodes 2 --nproc_per_node 8 a.py", 16},
           {"torchrun --nproc_per_node 8 a.py", 8},
           {"torchrun --nnodes 2 a.py", 0},
           {"torchrun --nnodes 2 --nproc_per_node gpu a.py", 0},
           {"srun --gpus-per-node=4 torchrun --nnodes 2 --nproc_per_node gpu a.py", 8},
           {"torchrun --nnodes 4 --nnodes 2 --nproc_per_node 8 a.py", 16},  // the last counts
           {"horovodrun -np 12 a.py", 12},
           {"mpiexec.hydra -n 6 a.py", 6},
           {"srun -n 24 a.py", 24},
           {"srun -n 2 --gpus-per-task 4 a.py", 2},  // two tasks are two processes
           {"srun -n 1 --gpus-per-task 4 a.py", 4},
           {"srun -N 2 --ntasks-per-node 1 --gpus-per-node 8 a.py", 16},
           {"srun -N 2 --ntasks-per-node 4 --gpus-per-node 8 a.py", 8},
           {"srun --gpus 12 a.py", 12},
           {"srun --gpus-per-node 8 a.py", 8},
           {"srun a.py", 0},
           {"deepspeed --num_nodes 2 --num_gpus 4 a.py", 8},
           {"deepspeed --num_nodes 2 a.py", 0},
           {"deepspeed --include a:0,1@b:0 a.py", 3},
           {"deepspeed --include a@b:0 a.py", 0},  // a is chosen whole
           {"NNODES=2 NPROC_PER_NODE=4 swift sft", 8},
           {"NGPU=4 ./run_train.sh", 4},
           {"PET_NNODES=2 PET_NPROC_PER_NODE=4 torchrun a.py", 8},
           {"NPROC_PER_NODE=4 torchrun a.py", 0},  // which torchrun does not read
           {"accelerate launch --num_processes 12 --num_machines 2 a.py", 12}}) {
    INFO(one.line);
    CHECK(gpus(one.line) == one.gpus);
  }
}

TEST_CASE("Slurm gives a job the variables that follow from its options") {
  const auto variables = [](const std::string& line) {
    std::string all;
    const auto command = scenarios::launched_command(words_of(line), {});
    for (const auto& one : scenarios::slurm_variables(command.options))
      all += (all.empty() ? "" : " ") + one;
    return all;
  };
  for (const auto& one : std::vector<Case>{
           {"sbatch -N 2 a.sh", "SLURM_NNODES=2 SLURM_JOB_NUM_NODES=2"},
           {"sbatch -N 2 --ntasks-per-node=4 a.sh",
            "SLURM_NNODES=2 SLURM_JOB_NUM_NODES=2 SLURM_NTASKS_PER_NODE=4 SLURM_NTASKS=8 "
            "SLURM_NPROCS=8"},
           {"sbatch -n 6 a.sh", "SLURM_NTASKS=6 SLURM_NPROCS=6"},
           {"sbatch --gres=gpu:h100:8 a.sh", "SLURM_GPUS_PER_NODE=8 SLURM_GPUS_ON_NODE=8"},
           {"sbatch --gpus-per-node=4 --gres=gpu:8 a.sh",
            "SLURM_GPUS_PER_NODE=4 SLURM_GPUS_ON_NODE=4"},
           {"sbatch -N 2-4 a.sh", "SLURM_NNODES=4 SLURM_JOB_NUM_NODES=4"},
           {"sbatch a.sh", ""}}) {
    INFO(one.line);
    CHECK(variables(one.line) == one.shown);
  }
}

TEST_CASE("numbers of launchers are whole, above zero, and in the spellings of Slurm") {
  const auto number = [](const std::string& name, const std::string& value) {
    const auto read = scenarios::launched_number({name, {{value, {}, {}}}, {}});
    return read ? std::to_string(*read) : "none";
  };
  struct Number {
    const char *name, *value, *read;
  };
  for (const auto& one : std::vector<Number>{{"torchrun.nnodes", "4", "4"},
                                             {"torchrun.nnodes", "1:4", "4"},
                                             {"slurm.nodes", "2-4", "4"},
                                             {"torchrun.nnodes", "a:4", "none"},
                                             {"torchrun.nnodes", "0", "none"},
                                             {"torchrun.nnodes", "-1", "none"},
                                             {"torchrun.nnodes", "4x", "none"},
                                             {"torchrun.nnodes", "", "none"},
                                             {"torchrun.nproc_per_node", "1:4", "none"},
                                             {"torchrun.nproc_per_node", "10000000", "10000000"},
                                             {"torchrun.nproc_per_node", "10000001", "none"},
                                             {"slurm.gpus", "h100:8", "8"},
                                             {"slurm.gpus_per_node", "8", "8"},
                                             {"slurm.gres", "gpu:8", "8"},
                                             {"slurm.gres", "gpu", "none"},
                                             {"slurm.gres", "nvme:1,gpu:a100:4", "4"},
                                             {"slurm.gres", "gpu:a100:4,nvme:1", "4"},
                                             {"slurm.gres", "gpu:8(S:0-1)", "8"},
                                             {"slurm.gres", "nvme:1", "none"}}) {
    INFO(one.name << " " << one.value);
    CHECK(number(one.name, one.value) == one.read);
  }
  CHECK_FALSE(scenarios::launched_number({"torchrun.nnodes", {}, {}}));
  CHECK_FALSE(scenarios::launched_number({"torchrun.nnodes", {{"2", "unknown", {}}}, {}}));
}

TEST_CASE("products of degrees end at a million million") {
  CHECK(scenarios::product_of({2, 3, 4}) == 24);
  CHECK(scenarios::product_of({}) == 1);
  CHECK(scenarios::product_of({1'000'000, 1'000'000}) == 1'000'000'000'000);
  CHECK(scenarios::product_of({1'000'000, 1'000'001}) == 1'000'000'000'000);
  CHECK(scenarios::product_of({std::int64_t{1} << 62, 4}) == 1'000'000'000'000);
}

}  // namespace launch_words_spec
