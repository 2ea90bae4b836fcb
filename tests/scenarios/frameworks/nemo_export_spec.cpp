// SPDX-License-Identifier: Apache-2.0
// Jobs of NeMo 2: what it writes of a run, and its commands.
#include <algorithm>
#include <string>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace nemo_export_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;
using tests::value;

namespace {

// An export of Llama 3 8B with these lines of its trainer, and more of the job.
std::string export_of(const std::string& trainer, const std::string& more = {}) {
  return "_target_: nemo.collections.llm.api.pretrain\n"
         "model:\n  _target_: nemo.collections.llm.gpt.model.llama.LlamaModel\n"
         "  config: {_target_: nemo.collections.llm.gpt.model.llama.Llama3Config8B}\n"
         "trainer:\n  devices: 8\n  num_nodes: 2\n"
         "  strategy:\n    _target_: nemo.lightning.pytorch.strategies.MegatronStrategy\n"
         "    tensor_model_parallel_size: 2\n    gradient_as_bucket_view: true\n" +
         trainer + "data: {seq_length: 4096, micro_batch_size: 1, global_batch_size: 512}\n" + more;
}

}  // namespace

TEST_CASE("what NeMo 2 writes of a run is read with the model of its class") {
  const auto exported = [](const std::string& config, const std::string& more = {}) {
    return "_target_: nemo.collections.llm.api.pretrain\n_partial_: true\n"
           "model:\n  _target_: nemo.collections.llm.gpt.model.llama.LlamaModel\n"
           "  config:\n    _target_: nemo.collections.llm.gpt.model.llama." +
           config +
           "\n"
           "trainer:\n  _target_: nemo.lightning.pytorch.trainer.Trainer\n  accelerator: gpu\n"
           "  devices: 8\n  num_nodes: 2\n  plugins:\n"
           "    _target_: nemo.lightning.pytorch.plugins.mixed_precision.MegatronMixedPrecision\n"
           "    precision: bf16-mixed\n    params_dtype: {_call_: false, _target_: "
           "torch.bfloat16}\n"
           "  callbacks:\n  - _target_: nemo.utils.exp_manager.TimingCallback\n"
           "  - _target_: nemo.lightning.pytorch.callbacks.MegatronCommOverlapCallback\n"
           "    tp_comm_overlap: true\n"
           "  strategy:\n    _target_: nemo.lightning.pytorch.strategies.MegatronStrategy\n"
           "    tensor_model_parallel_size: 2\n    sequence_parallel: true\n"
           "data:\n  _target_: nemo.collections.llm.gpt.data.mock.MockDataModule\n"
           "  seq_length: 4096\n  micro_batch_size: 1\n  global_batch_size: 512\n"
           "optim:\n  config: {optimizer: adam, use_distributed_optimizer: true}\n" +
           more;
  };
  const auto job = tests::job(exported("Llama3Config8B"));
  CHECK(job.account.framework == "nemo2");
  CHECK(tests::wanted(job) == "cluster.node");
  CHECK(at(job.document, "model.layers") == "32");
  CHECK(at(job.document, "model.activation") == "swiglu");
  CHECK(at(job.document, "plan.tensor") == "2");
  CHECK(at(job.document, "plan.pipeline") == "1");
  CHECK(at(job.document, "plan.zero") == "1");
  CHECK(at(job.document, "plan.overlap.data") == "false");
  CHECK(at(job.document, "training.global_batch") == "512");
  CHECK(at(job.document, "training.sequence_length") == "4096");
  CHECK(at(job.document, "cluster.gpus") == "16");
  CHECK(at(job.document, "software.tensor_overlap") == "pipelined");
  for (const auto& one : job.account.arguments) {
    INFO(one.text);
    CHECK(one.effect != Effect::unknown);
  }
  const auto fewer =
      tests::job(exported("Llama31Config8B\n    num_layers: 4\n    hidden_size: 4096"));
  CHECK(at(fewer.document, "model.layers") == "4");
  CHECK(at(fewer.document, "model.ffn") == "14336");
  CHECK(tests::wanted(tests::job(exported("OwnConfig9B"))).starts_with("model "));
  const auto refused = [](const std::string& text) {
    return tests::refusal([&] { tests::job(text); });
  };
  CHECK(refused(exported("Llama3Config8B", "peft: {_target_: nemo.collections.llm.peft.LoRA}\n"))
            .find("only adapters are trained") != std::string::npos);
  auto other = exported("Llama3Config8B");
  other.replace(other.find("MegatronStrategy"), std::string("Megatron").size(), "FSDP2");
  CHECK(refused(other).find("strategies.FSDP2Strategy: only ") != std::string::npos);
}

TEST_CASE("the precision of an export of NeMo 2 is the same in a list of plugins and alone") {
  const std::string of_class =
      "_target_: nemo.lightning.pytorch.plugins.mixed_precision.MegatronMixedPrecision\n";
  const std::string alone = "  plugins:\n    " + of_class,
                    listed = "  plugins:\n  - _target_: a.OtherPlugin\n    precision: 32\n  - " +
                             of_class;
  for (const auto& plugins : {alone, listed}) {
    const auto mixed = plugins + "    precision: bf16-mixed\n";
    CHECK(value(export_of(mixed), "training.precision") == "bf16");
    CHECK(value(export_of(mixed + "    fp8: hybrid\n"), "training.precision") == "fp8");
    // MegatronMixedPrecision has grad_reduce_in_fp32: true
    CHECK(value(export_of(mixed), "plan.gradient_precision") == "fp32");
    CHECK(value(export_of(mixed + "    grad_reduce_in_fp32: true\n"), "plan.gradient_precision") ==
          "fp32");
    CHECK(value(export_of(mixed + "    grad_reduce_in_fp32: false\n"), "plan.gradient_precision") !=
          "fp32");
  }
}

TEST_CASE("keys of an export's callbacks are those of the callback that they stand in") {
  const auto job = tests::job(export_of(
      "  callbacks:\n"
      "  - _target_: nemo.lightning.pytorch.callbacks.MegatronCommOverlapCallback\n"
      "    tp_comm_overlap: true\n    tp_comm_overlap_cfg:\n"
      "      _target_: nemo.collections.llm.recipes.TransformerLayerTPOverlapCfg\n"
      "      qkv_dgrad: {_target_: nemo.collections.llm.recipes.BulkOverlapCfg, cga_size: 2}\n"
      "    defer_embedding_wgrad_compute: true\n    wgrad_deferral_limit: 22\n"
      "  - _target_: nemo.lightning.pytorch.callbacks.GarbageCollectionCallback\n"
      "    gc_interval_train: 100\n",
      "optim:\n  lr_scheduler: {_target_: nemo.CosineAnnealingScheduler, warmup_steps: 9}\n"));
  CHECK(at(job.document, "software.tensor_overlap") == "pipelined");
  for (const auto& one : job.account.arguments) {
    INFO(one.text);
    CHECK(one.effect != Effect::unknown);
  }
  CHECK(effect_of(job, "trainer.callbacks[].gc_interval_train 100") == Effect::none);
  CHECK(effect_of(job, "optim.lr_scheduler.warmup_steps 9") == Effect::none);
  CHECK(effect_of(job, "trainer.strategy.gradient_as_bucket_view true") == Effect::none);
}

TEST_CASE("sequence parallelism of a recipe is asked for beside tensor parallelism") {
  const auto asks = [](const std::string& overrides) {
    const auto job = tests::job("nemo llm pretrain --factory llama3_70b " + overrides + "\n");
    return std::ranges::count(job.wanted, "plan.sequence_parallel", &scenarios::WantedKey::path) ==
           1;
  };
  const std::string tensor = "trainer.strategy.tensor_model_parallel_size=";
  CHECK(asks(tensor + "4"));
  CHECK_FALSE(asks(tensor + "1"));
  CHECK_FALSE(asks(tensor + "4 trainer.strategy.sequence_parallel=true"));
  CHECK_FALSE(asks(tensor + "4 trainer.strategy.sequence_parallel=false"));
}

TEST_CASE("a command of NeMo 2 is known by its program, and its recipe may be a call") {
  const auto plain = tests::job("nemo llm pretrain --factory llama3_8b\n");
  CHECK(plain.account.framework == "nemo2");
  CHECK(at(plain.document, "model.layers") == "32");
  CHECK(std::ranges::count(plain.wanted, "plan.tensor", &scenarios::WantedKey::path) == 1);
  const auto call = tests::job(
      "nemo llm finetune -y peft=none --factory "
      "'llama3_8b( num_nodes = 2, num_gpus_per_node=8, foo=3)'\n");
  CHECK(at(call.document, "model.layers") == "32");
  CHECK(at(call.document, "cluster.gpus") == "16");
  CHECK(effect_of(call, "num_gpus_per_node=8") == Effect::read);
  CHECK(effect_of(call, "foo=3") == Effect::unknown);
  const auto gpus = [](const std::string& words) {
    return at(tests::job("nemo llm pretrain " + words + "\n").document, "cluster.gpus");
  };
  CHECK(gpus("trainer.num_nodes=4 --factory 'llama3_8b(num_nodes=2, num_gpus_per_node=8)'") ==
        "32");
  CHECK(gpus("--factory 'llama3_8b(num_nodes=\"2\", a=[1, 2], num_gpus_per_node=8)'") == "16");
}

TEST_CASE("a job that gives nodes and not their GPUs runs on all GPUs of these nodes") {
  const std::string text =
      "nemo llm pretrain --factory llama3_8b trainer.num_nodes=4 data.global_batch_size=64 "
      "data.micro_batch_size=1 data.seq_length=8192 trainer.max_steps=1\n";
  const auto cluster = [&](std::vector<std::string> env, const char* key) {
    return at(tests::job(text, std::move(env)).document, std::string("cluster.") + key);
  };
  CHECK(cluster({}, "nodes") == "4");
  CHECK(cluster({}, "gpus").empty());
  CHECK(cluster({"WORLD_SIZE=16"}, "gpus") == "16");
  CHECK(cluster({"WORLD_SIZE=16"}, "nodes").empty());
  const auto torchrun = tests::job(
      "torchrun --nnodes 2 --nproc-per-node gpu pretrain_gpt.py --num-layers 4 --hidden-size 64 "
      "--num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 --micro-batch-size 1 "
      "--global-batch-size 16 --bf16\n");
  CHECK(at(torchrun.document, "cluster.nodes") == "2");
}

}  // namespace nemo_export_spec
