// SPDX-License-Identifier: Apache-2.0
// Arguments of Hugging Face's Trainer and its drivers, each as the key of a scenario that it means.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace trainer_values_spec {

namespace {

std::string train(const std::string& more) {
  return "torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf "
         "--model_max_length 2048 --per_device_train_batch_size 2 " +
         more + "\n";
}
std::string in_bf16(const std::string& more) { return train("--bf16 True " + more); }

// A file of axolotl.
std::string axolotl(const std::string& more) {
  return "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 4096\nsample_packing: true\n"
         "micro_batch_size: 2\n" +
         more + "\n";
}
// A file of LLaMA-Factory.
std::string factory(const std::string& more) {
  return "model_name_or_path: Qwen/Qwen3-4B-Instruct-2507\nstage: sft\nfinetuning_type: full\n"
         "per_device_train_batch_size: 1\n" +
         more + "\n";
}
std::string swift(const std::string& more) {
  return "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-7B --train_type full --max_length 2048 " +
         more + "\n";
}

const std::vector<std::string> eight{"WORLD_SIZE=8"};

}  // namespace

TEST_CASE("a batch of the Trainer is that of a device, its steps and its replicas") {
  tests::check_values({{"", "training.global_batch", "16"},  // 2 x 8
                       {"--gradient_accumulation_steps 4", "training.global_batch", "64"},
                       {"", "plan.micro_batch", "2"},
                       {"", "training.sequence_length", "2048"}},
                      train);
  tests::check_values({{"", "training.global_batch", "16"},
                       {"gradient_accumulation_steps: 4", "training.global_batch", "64"},
                       {"batch_size: 8", "training.global_batch", "64"},  // 8 / 2 steps
                       {"tensor_parallel_size: 2", "training.global_batch", "8"},
                       {"context_parallel_size: 4", "training.global_batch", "4"},
                       {"context_parallel_size: 4", "plan.context", "4"},
                       {"context_parallel_size: 4", "plan.context_method", "ring"}},
                      axolotl, eight);
  tests::check_values({{"", "training.global_batch", "8"},
                       {"gradient_accumulation_steps: 3", "training.global_batch", "24"},
                       {"", "training.sequence_length", "2048"},
                       {"cutoff_len: 512", "training.sequence_length", "512"}},
                      factory, eight);
}

// A round of 8 ranks has 8 sequences, and sixteen take two.
TEST_CASE("ms-swift accumulates until a batch has sixteen sequences") {
  tests::check_values({{"", "training.global_batch", "16"},
                       {"--per_device_train_batch_size 2", "training.global_batch", "16"},
                       {"--per_device_train_batch_size 3", "training.global_batch", "24"},
                       {"--per_device_train_batch_size 2 --gradient_accumulation_steps 3",
                        "training.global_batch", "48"},
                       {"--sequence_parallel_size 4", "training.global_batch", "16"},
                       {"--sequence_parallel_size 4", "plan.context_method", "ulysses"}},
                      swift);
  auto six = swift("");
  six.replace(six.find("=8"), 2, "=6");
  CHECK(tests::value(six, "training.global_batch") == "18");  // three rounds of six
}

TEST_CASE("precision of the Trainer is that of its switches, and fp32 without any") {
  tests::check_values({{"", "training.precision", "fp32"},
                       {"--bf16 True", "training.precision", "bf16"},
                       {"--bf16", "training.precision", "bf16"},
                       {"--bf16 False", "training.precision", "fp32"},
                       {"--fp16", "training.precision", "fp16"},
                       {"--tf32 True", "training.precision", "tf32"},
                       {"--bf16 --tf32 True", "training.precision", "bf16"}},
                      train);
  tests::check_values({{"", "training.precision", "bf16"},
                       {"bf16: auto", "training.precision", "bf16"},
                       {"bf16: full", "training.precision", "bf16"},
                       {"bf16: false", "training.precision", "fp32"},
                       {"fp16: true", "training.precision", "fp16"},
                       {"fp8: true", "training.precision", "fp8"}},
                      axolotl, eight);
  tests::check_values({{"", "training.precision", "bf16"},
                       {"--torch_dtype float16", "training.precision", "fp16"},
                       {"--torch_dtype float32", "training.precision", "fp32"}},
                      swift);
}

TEST_CASE("optimizers of the Trainer are told by parts of their names") {
  tests::check_values({{"", "training.optimizer", "adamw"},
                       {"--optim adamw_torch_fused", "training.optimizer", "adamw"},
                       {"--optim paged_adamw_32bit", "training.optimizer", "adamw"},
                       {"--optim adafactor", "training.optimizer", "adafactor"},
                       {"--optim sgd", "training.optimizer", "sgd"},
                       {"--adafactor True", "training.optimizer", "adafactor"},
                       {"--optim adamw_torch --adafactor True", "training.optimizer", "adamw"}},
                      in_bf16);
  tests::check_values({{"use_muon: true", "training.optimizer", "muon"}}, factory, eight);
  const char* why = "this optimizer is not modelled; expected adamw_torch, adafactor, muon or sgd";
  tests::check_refusals({{"--optim galore_adamw", why},
                         {"--optim apollo_adamw", why},
                         {"--optim lomo", why},
                         {"--optim rmsprop", why}},
                        in_bf16);
}

// The roots of the second moments have four bytes a parameter, two where moments are in bf16.
TEST_CASE("AdamW of many tensors at once keeps roots of its second moments while it updates") {
  const auto bytes = [](const std::string& text) {
    return tests::at(tests::job(text, eight).document, "software.stepping_bytes");
  };
  CHECK(bytes(in_bf16("--optim adamw_torch")) == "4");
  CHECK(bytes(in_bf16("--fsdp \"full_shard auto_wrap\" --optim adamw_torch")) == "4");
  CHECK(bytes(axolotl("optimizer: adamw_torch")) == "2");
  for (const std::string other :
       {"", "--optim adamw_torch_fused", "--optim adafactor", "--optim sgd"})
    CHECK(bytes(in_bf16(other)).empty());
}

// Where everything is in bf16, weights and moments are read and written and gradients read, two
// bytes each: 4 + 8 + 2 with two moments, 4 + 4 + 2 with one, 4 + 2 with none. Two moments of a
// byte are 4 + 4 + 2. Beside fp32, three bytes less of a moment are read and written: 40 - 12, or
// 46 - 12 of DeepSpeed.
TEST_CASE("bytes and traffic of the Trainer's optimizer follow from what is in how many bits") {
  const auto bytes = [](const std::string& text) {
    const auto job = tests::job(text, eight);
    return tests::at(job.document, "software.optimizer_bytes") + " " +
           tests::at(job.document, "software.optimizer_traffic") + " " +
           tests::at(job.document, "plan.gradient_precision");
  };
  struct Case {
    std::string text, bytes;
  };
  const std::string fsdp = "--fsdp \"full_shard auto_wrap\" ", narrow = "--optim adamw_bnb_8bit ";
  for (const auto& one : std::vector<Case>{{axolotl("optimizer: adamw_torch"), "4 14 bf16"},
                                           {axolotl("optimizer: adafactor"), "0 6 bf16"},
                                           {axolotl("optimizer: sgd"), "2 10 bf16"},
                                           {axolotl("optimizer: adamw_bnb_8bit"), "2 10 bf16"},
                                           {axolotl("optimizer: adamw_torch\nfp16: true"), "  "},
                                           {in_bf16(""), "  "},
                                           {in_bf16(narrow), "4 28 "},
                                           {train(narrow), "6 28 "},
                                           {in_bf16(fsdp + narrow), "4 28 "},
                                           {swift(""), "4 14 bf16"},
                                           {swift("--torch_dtype float32"), "  "}}) {
    INFO(one.text);
    CHECK(bytes(one.text) == one.bytes);
  }
}

TEST_CASE("attention of the Trainer is the kernel of its word") {
  const std::string name = "--attn_implementation ";
  tests::check_values({{"", "software.attention", ""},
                       {name + "flash_attention_2", "software.attention", "flash"},
                       {name + "kernels-community/flash-attn2", "software.attention", "flash"},
                       {name + "flash_attention_3", "software.attention", "flash3"},
                       {name + "sdpa", "software.attention", "fused-from-hopper"},
                       {name + "eager", "software.attention", "unfused"},
                       {name + "eager", "software.fused_softmax", "false"},
                       {name + "eager", "software.softmax_in_fp32", "true"},
                       {name + "flex_attention", "software.attention", "flash"}},
                      in_bf16);
  tests::check_values({{"flash_attn: fa2", "software.attention", "flash"},
                       {"flash_attn: disabled", "software.attention", "unfused"},
                       {"flash_attn: auto", "software.attention", "fused-from-hopper"}},
                      factory, eight);
}

TEST_CASE("Liger's kernels fuse the loss with its head, norms, positions and activations") {
  for (const auto* key : {"software.fused_cross_entropy", "software.fused_norm",
                          "software.fused_rotary", "software.fused_bias_activation"}) {
    CHECK(tests::value(in_bf16("--use_liger_kernel True"), key) == "true");
    CHECK(tests::value(in_bf16("--use_liger_kernel False"), key).empty());
  }
  CHECK(tests::value(in_bf16("--use_liger_kernel True"), "software.loss_chunks") == "liger");
  CHECK(tests::value(in_bf16("--torch_compile True"), "software.compile") == "true");
}

TEST_CASE("FSDP's words are stages of ZeRO, inside of a node where they say hybrid") {
  const auto with = [](const std::string& words) {
    const auto job = tests::job(in_bf16("--fsdp \"" + words + "\""));
    return tests::at(job.document, "plan.zero") + " " +
           tests::at(job.document, "plan.shard_group") + " " +
           tests::at(job.document, "plan.wrap") + " " +
           tests::at(job.document, "plan.offload.optimizer");
  };
  struct Case {
    const char *words, *plan;
  };
  for (const auto& one : std::vector<Case>{{"full_shard auto_wrap", "3   "},
                                           {"full_shard", "3  model "},
                                           {"shard_grad_op auto_wrap", "2   "},
                                           {"no_shard auto_wrap", "0   "},
                                           {"hybrid_shard auto_wrap", "3 node  "},
                                           {"hybrid_shard_zero2 auto_wrap", "2 node  "},
                                           {"full_shard auto_wrap offload", "3   cpu"},
                                           {"FULL_SHARD AUTO_WRAP", "3   "}}) {
    INFO(one.words);
    CHECK(with(one.words) == one.plan);
  }
  tests::check_refusals({{"--fsdp \"shard auto_wrap\"",
                          "expected full_shard, shard_grad_op, no_shard, hybrid_shard or"}},
                        in_bf16);
}

TEST_CASE("packed texts of the Trainer's drivers do not attend to each other with FlashAttention") {
  const auto effect = [](const std::string& text, const std::string& argument) {
    return tests::effect_of(tests::job(text, eight), argument);
  };
  using scenarios::Effect;
  CHECK(effect(factory("neat_packing: true"), "neat_packing true") == Effect::not_modelled);
  CHECK(effect(axolotl("flash_attention: true"), "sample_packing true") == Effect::not_modelled);
  CHECK(effect(axolotl("flex_attention: true"), "sample_packing true") == Effect::not_modelled);
  CHECK(effect(axolotl("sdp_attention: true"), "sample_packing true") != Effect::not_modelled);
  CHECK(effect(swift("--packing true"), "--packing true") == Effect::not_modelled);
}

TEST_CASE("what the Trainer does not know to be trained is refused, whoever drives it") {
  const std::string adapters = "only adapters are trained";
  tests::check_refusals(
      {{"finetuning_type: lora", adapters},
       {"finetuning_type: freeze", "weights that stay as they are are not modelled"}},
      [](const std::string& more) {
        auto text = factory("");
        const std::string full = "finetuning_type: full";
        return text.replace(text.find(full), full.size(), more);
      },
      eight);
  tests::check_refusals({{"adapter: lora", adapters}, {"adapter: qlora", adapters}}, axolotl,
                        eight);
}

}  // namespace trainer_values_spec
