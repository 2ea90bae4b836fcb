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

}  // namespace engine_variables_spec
