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

TEST_CASE("fine-tuning of NeMo 1 asks for the model that stands in its checkpoint") {
  const std::string command =
      "torchrun --nproc_per_node=8 megatron_gpt_finetuning.py trainer.precision=bf16 "
      "trainer.devices=8 trainer.num_nodes=1 model.restore_from_path=/models/a.nemo "
      "model.micro_batch_size=1 model.global_batch_size=128 model.tensor_model_parallel_size=4 "
      "model.peft.peft_scheme=none model.data.train_ds.max_seq_length=2048";
  const auto job = tests::job(command + "\n");
  CHECK(tests::wanted(job) == "model cluster.node");
  CHECK(job.document.find("model") == nullptr);
  CHECK(at(job.document, "training.sequence_length") == "2048");
  CHECK(at(job.document, "plan.tensor") == "4");
  CHECK(tests::effect_of(job, "model.data.train_ds.max_seq_length 2048") ==
        scenarios::Effect::not_modelled);
  const auto longer = tests::job(command + " model.encoder_seq_length=4096\n");
  CHECK(at(longer.document, "training.sequence_length") == "4096");
  const auto sized =
      tests::job(command +
                 " model.num_layers=8 model.hidden_size=512 model.num_attention_heads=8 "
                 "model.max_position_embeddings=2048\n");
  CHECK(at(sized.document, "model.layers") == "8");
}

}  // namespace recipe_job_spec
