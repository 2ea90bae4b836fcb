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

}  // namespace cluster_file_spec
