// SPDX-License-Identifier: Apache-2.0
// Variables by which Transformer Engine chooses its kernels, in scripts of Megatron-LM.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace engine_variables_spec {
using scenarios::Effect;
using tests::at;
using tests::effect_of;

const std::string train =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 "
    "--num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 "
    "--global-batch-size 8 --vocab-size 320 --bf16 ";

std::string kernel(const std::string& text) {
  return at(tests::job(text + "\n").document, "software.attention");
}

TEST_CASE("Transformer Engine takes a kernel of attention that no variable leaves out") {
  CHECK(kernel(train) == "fused-from-hopper");
  CHECK(kernel("NVTE_FLASH_ATTN=0 " + train) == "fused");
  CHECK(kernel("NVTE_FLASH_ATTN=1 NVTE_FUSED_ATTN=0 " + train) == "flash");
  CHECK(kernel("export NVTE_FLASH_ATTN=0 NVTE_FUSED_ATTN=0\n" + train) == "unfused");
  CHECK(kernel("export NVTE_FLASH_ATTN=0\nNVTE_FLASH_ATTN=1 " + train) == "fused-from-hopper");
  CHECK(kernel("NVTE_FLASH_ATTN=0\n" + train) ==
        "fused-from-hopper");  // the program does not see it
  CHECK(effect_of(tests::job("NVTE_FLASH_ATTN=0 " + train + "\n"), "NVTE_FLASH_ATTN=0") ==
        Effect::read);
  CHECK(tests::refused("export NVTE_FLASH_ATTN=0 NVTE_FUSED_ATTN=0 NVTE_UNFUSED_ATTN=0\n" + train +
                       "\n")
            .find("NVTE_UNFUSED_ATTN=0: no kernel of attention is left") != std::string::npos);
}

TEST_CASE("variables of kernels choose nothing where the job says the kernel") {
  const auto effect = [](const std::string& more) {
    return effect_of(tests::job("NVTE_FUSED_ATTN=0 " + train + more + "\n"), "NVTE_FUSED_ATTN=0");
  };
  CHECK(effect("--attention-backend flash") == Effect::none);
  CHECK(effect("--transformer-impl local") == Effect::none);
  CHECK(effect("") == Effect::read);
  CHECK(kernel("NVTE_FLASH_ATTN=0 " + train + "--attention-backend flash") == "flash");
}

TEST_CASE("variables of PyTorch's allocator set it up") {
  const auto value = [](const std::string& before, const std::string& key) {
    return at(tests::job(before + train + "\n").document, "software.allocator." + key);
  };
  for (const std::string name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    CHECK(value("export " + name + "=expandable_segments:True\n", "expandable_segments") == "true");
    CHECK(value(name + "='expandable_segments:True' ", "expandable_segments") == "true");
    CHECK(value(name + "=max_split_size_mb:128,garbage_collection_threshold:0.8 ",
                "max_split_size_mb") == "128");
    CHECK(value(name + "=garbage_collection_threshold:0.8 ", "garbage_collection_threshold") ==
          "0.8");
    CHECK(effect_of(tests::job(name + "=backend:cudaMallocAsync " + train + "\n"),
                    name + "=backend:cudaMallocAsync") == Effect::not_modelled);
  }
  CHECK(value("", "expandable_segments").empty());
  const auto titan = tests::job(
      "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\ntorchrun --nproc_per_node 8 -m "
      "torchtitan.train --model.name llama3 --model.flavor 8B\n");
  CHECK(at(titan.document, "software.allocator.expandable_segments") == "true");
}

}  // namespace engine_variables_spec
