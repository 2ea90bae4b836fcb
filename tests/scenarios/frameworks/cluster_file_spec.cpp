// SPDX-License-Identifier: Apache-2.0
// Files of SkyPilot and Kubernetes, whose commands are read as scripts.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace cluster_file_spec {
using tests::at;

const std::string arguments =
    "pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 64 "
    "--max-position-embeddings 64 --micro-batch-size 1 --global-batch-size 64 --vocab-size 320 "
    "--bf16";

TEST_CASE("the commands of a task of SkyPilot are a script with the variables of the file") {
  const std::string task =
      "resources:\n  accelerators: H100:8\nnum_nodes: 2\nenvs:\n  TP: 4\nrun: |\n  cd .\n"
      "  torchrun --nnodes $SKYPILOT_NUM_NODES --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE " +
      arguments + " --tensor-model-parallel-size $TP";
  const auto job = tests::job(task + "\n");
  CHECK(job.account.framework == "megatron");
  CHECK(at(job.document, "cluster.gpus") == "16");
  CHECK(at(job.document, "plan.tensor") == "4");
  const auto wrong = tests::refused(task + " --swiglu --quick-geglu\n");
  CHECK(wrong.starts_with("job:8:"));  // the line of the file
}

TEST_CASE("the commands of a container of Kubernetes are a script") {
  const auto object = [](const std::string& container) {
    return "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  containers:\n    - name: a\n" +
           container;
  };
  const auto inside =
      tests::job(object("      env: [{name: TP, value: \"2\"}]\n"
                        "      command: [/bin/bash, -c]\n      args:\n        - |\n"
                        "          torchrun --nnodes 4 --nproc_per_node 8 " +
                        arguments + " --tensor-model-parallel-size $TP\n"));
  CHECK(at(inside.document, "cluster.gpus") == "32");
  CHECK(at(inside.document, "plan.tensor") == "2");
  std::string words;
  const std::string command = "--nproc_per_node=8 " + arguments + " ";
  for (std::size_t begin = 0; begin < command.size();) {
    const auto end = command.find(' ', begin);
    words += ", \"" + command.substr(begin, end - begin) + "\"";
    begin = end + 1;
  }
  const auto alone = tests::job(object("      command: [torchrun" + words + "]\n"));
  CHECK(at(alone.document, "cluster.gpus") == "8");
  CHECK(at(alone.document, "model.layers") == "4");
}

const std::string object = "apiVersion: v1\nkind: Pod\nspec:\n";
const std::string trains = "[bash, -ec, \"torchrun --nproc_per_node 8 " + arguments;

TEST_CASE("Kubernetes puts the values of a container's variables into its command") {
  const auto tensor = [](const std::string& asked) {
    return at(tests::job(object +
                         "  containers:\n  - env: [{name: TP, value: \"2\"}, "
                         "{name: BOTH, value: $(TP)}]\n    command: " +
                         trains + " --tensor-model-parallel-size " + asked + "\"]\n")
                  .document,
              "plan.tensor");
  };
  CHECK(tensor("$(TP)") == "2");
  CHECK(tensor("$(BOTH)") == "2");
  CHECK(tensor("$$(echo 4)") == "4");  // the shell's own
}

TEST_CASE("containers that prepare others are no job, however long their script is") {
  const auto job =
      tests::job(object + "  initContainers:\n  - command: [bash, -c, \"echo " +
                 std::string(1'000, 'x') + "\"]\n  containers:\n  - command: " + trains + "\"]\n");
  CHECK(at(job.document, "model.layers") == "4");
}

TEST_CASE("of several documents of Kubernetes the one that has a script is the job") {
  const std::string service = "apiVersion: v1\nkind: Service\nspec: {clusterIP: None}\n---\n";
  const auto pod = service + object + "  containers:\n  - command: " + trains;
  CHECK(at(tests::job(pod + "\"]\n").document, "model.layers") == "4");
  CHECK(tests::refused(pod + " --swiglu --quick-geglu\"]\n").starts_with("job:9:"));  // its line
}

TEST_CASE("-c is the option of a shell where the command is one") {
  const std::string config =
      "recipe: TrainFinetuneRecipeForNextTokenPrediction\n"
      "model:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
      "  pretrained_model_name_or_path: Qwen/Qwen3-8B\n"
      "step_scheduler:\n  global_batch_size: 64\n  local_batch_size: 1\n"
      "distributed:\n  strategy: fsdp2\n";
  const auto job =
      tests::beside(object + "  containers:\n  - command: [automodel, finetune, llm, -c, a.yaml]\n",
                    {{"a.yaml", config}});
  CHECK(job.account.framework == "automodel");
  CHECK(at(job.document, "training.global_batch") == "64");
}

TEST_CASE("Kubeflow's operator tells torchrun the nodes and the processes of each") {
  const auto gpus = [](const std::string& spec, const std::string& options) {
    return at(tests::job("apiVersion: kubeflow.org/v1\n" + spec +
                         "command: [bash, -c, \"torchrun " + options + arguments + "\"]\n")
                  .document,
              "cluster.gpus");
  };
  const auto job = [](const std::string& each) {
    return "kind: PyTorchJob\nspec:\n" + each +
           "  pytorchReplicaSpecs:\n    Master: {replicas: 1}\n    Worker:\n      replicas: 3\n"
           "      template:\n        spec:\n          containers:\n          - ";
  };
  CHECK(gpus(job(""), "--nproc_per_node 8 ") == "32");
  CHECK(gpus(job(""), "--nnodes 2 --nproc_per_node 8 ") == "16");
  CHECK(gpus(job("  nprocPerNode: \"8\"\n"), "") == "32");
  CHECK(gpus(job("  elasticPolicy: {minReplicas: 1}\n"), "--nproc_per_node 8 ") == "32");
  CHECK(gpus(job("  elasticPolicy: {nProcPerNode: 4}\n"), "") == "16");
  CHECK(gpus(job(""), "--nnodes $WORLD_SIZE --nproc_per_node 8 ") == "32");
  CHECK(gpus(job("  nprocPerNode: \"4\"\n"), "--nnodes $((WORLD_SIZE / 4)) ") == "16");
  CHECK(gpus("kind: LeaderWorkerSet\nspec:\n  leaderWorkerTemplate:\n    size: 3\n    ",
             "--nnodes $LWS_GROUP_SIZE --nproc_per_node 8 ") == "24");
  CHECK(gpus("kind: TrainJob\nspec:\n  trainer:\n    numNodes: 4\n    numProcPerNode: 8\n    ",
             "") == "32");
}

TEST_CASE("a script that a ConfigMap mounts is the one that a container runs") {
  const auto file = [](const std::string& runs, const std::string& name) {
    return "apiVersion: v1\nkind: ConfigMap\ndata:\n  other.txt: a\n  " + name +
           ": |\n    torchrun --nproc_per_node 8 " + arguments +
           " --tensor-model-parallel-size $TP\n---\napiVersion: batch/v1\nkind: Job\nspec:\n"
           "  containers:\n  - env: [{name: TP, value: \"2\"}]\n    command: [bash, " +
           runs + "]\n";
  };
  CHECK(at(tests::job(file("/scripts/train.sh", "train.sh")).document, "plan.tensor") == "2");
  CHECK_FALSE(scenarios::read_job(file("/scripts/train.sh", "eval.sh"), "job", {}));
  CHECK_FALSE(scenarios::read_job(file("/scripts/run.sh, --config=/scripts/train.sh", "train.sh"),
                                  "job", {}));
  CHECK_FALSE(
      scenarios::read_job(file("/scripts/run.sh, /scripts/train.sh", "train.sh"), "job", {}));
}

}  // namespace cluster_file_spec
