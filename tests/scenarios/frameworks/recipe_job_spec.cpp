// SPDX-License-Identifier: Apache-2.0
// Recipes of NeMo, NeMo-AutoModel and Primus that a command changes or starts by another name.
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace recipe_job_spec {
using tests::at;

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

}  // namespace recipe_job_spec
