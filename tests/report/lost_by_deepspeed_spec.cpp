// SPDX-License-Identifier: Apache-2.0
// Plans that DeepSpeed cannot run, and the values that its files has instead.
#include "tests/report/lost_keys.hpp"

namespace lost_by_deepspeed_spec {

using forecast::Scenario;
using report::Framework;
using report::Lost;
using Tier = strategies::Offload::Tier;

namespace {

constexpr auto deepspeed = Framework::deepspeed;

void check(const Scenario& before, const std::vector<tests::LosingChange>& changes) {
  tests::check_lost(before, deepspeed, changes);
}

// 32 replicas whose parameters are gathered late, as DeepSpeed does it.
Scenario with(const std::string& plan, const std::string& model = "llama3-8b") {
  auto s = tests::plain_scenario("deepspeed", model, plan);
  s.software.overlap_parameters = false;
  return s;
}

const Lost onebit_needs_its_own{
    "training.optimizer",
    "training.optimizer adamw: DeepSpeed compresses to one bit in an optimizer of its own, "
    "OneBitAdam, which is written instead"};

}  // namespace

TEST_CASE("DeepSpeed names optimizers by its own words, and compresses in two of them alone") {
  using enum strategies::Optimizer;
  using strategies::GradientCompression;
  const auto uncompressed = [](const std::string& kind) {
    return Lost{
        "gradient_compression",
        "gradient_compression " + kind +
            ": DeepSpeed compresses to one bit in OneBitAdam and OneBitLamb only; gradients "
            "are reduced uncompressed"};
  };
  check(with("zero: 0"),
        {{[](Scenario& s) { s.training.optimizer = adam; }, {}, "\"type\": \"Adam\""},
         {[](Scenario& s) { s.training.optimizer = lamb; }, {}, "\"type\": \"Lamb\""},
         {[](Scenario& s) { s.training.optimizer = adafactor; }, {}, "\"type\": \"Adafactor\""},
         {[](Scenario& s) { s.training.optimizer = muon; }, {}, "\"type\": \"Muon\""},
         {[](Scenario& s) { s.training.optimizer = sgd; }, {}, "\"type\": \"SGD\""},
         {[](Scenario& s) { s.training.optimizer = onebit_adam; }, {}, "\"type\": \"OneBitAdam\""},
         {[](Scenario& s) { s.training.optimizer = sophia; },
          {{"training.optimizer",
            "training.optimizer sophia: neither DeepSpeed nor PyTorch has it; AdamW is written "
            "instead"}},
          "\"type\": \"AdamW\""},
         {[](Scenario& s) { s.plan.gradient_compression = GradientCompression::onebit; },
          {onebit_needs_its_own},
          "\"type\": \"OneBitAdam\""},
         {[](Scenario& s) {
            s.training.optimizer = lamb;
            s.plan.gradient_compression = GradientCompression::onebit;
          },
          {{"training.optimizer",
            "training.optimizer lamb: DeepSpeed compresses to one bit in an optimizer of its own, "
            "OneBitLamb, which is written instead"}},
          "\"type\": \"OneBitLamb\""},
         {[](Scenario& s) {
            s.training.optimizer = sgd;
            s.plan.gradient_compression = GradientCompression::onebit;
          },
          {uncompressed("onebit")},
          "\"type\": \"SGD\""},
         {[](Scenario& s) { s.plan.gradient_compression = GradientCompression::fp8; },
          {uncompressed("fp8")},
          "\"type\": \"AdamW\""}});
}

TEST_CASE("DeepSpeed's stages of ZeRO go with its pipelines, tensor ranks and compression") {
  using strategies::GradientCompression;
  check(
      with("zero: 1"),
      {{[](Scenario& s) { s.plan.gradient_compression = GradientCompression::onebit; },
        {onebit_needs_its_own,
         {"zero", "zero 1: DeepSpeed does not shard with 1-bit optimizers; 0 is written instead"}},
        "\"stage\": 0"}});
  check(with("pipeline: 2, zero: 1"),
        {{[](Scenario& s) { s.plan.zero = 2; },
          {{"zero",
            "zero 2: DeepSpeed shards no more than optimizer states in a pipeline; 1 is written "
            "instead"}},
          "\"stage\": 1"}});
  check(with("zero: 0"),
        {{[](Scenario& s) { s.plan.offload.optimizer = Tier::cpu; },
          {{"zero",
            "zero 0: DeepSpeed offloads the states of a sharded optimizer; 1 is written instead"}},
          "\"stage\": 1"}});
}

TEST_CASE("DeepSpeed leaves products below 16 bit, and PyTorch's TF32, to the training script") {
  using enum units::Precision;
  const auto left = [](const std::string& words) {
    return std::vector<Lost>{
        {"training.precision", "training.precision " + words +
                                   ": DeepSpeed leaves products below 16 bit to the model's code "
                                   "(Transformer Engine); bf16 is written"}};
  };
  check(with("zero: 1"),
        {{[](Scenario& s) { s.training.precision = tf32; },
          {{"training.precision",
            "training.precision tf32: PyTorch's setting, not a key; fp32 is written"}}},
         {[](Scenario& s) {
            s.training.precision = fp8;
            s.training.fp8_recipe = strategies::Fp8Recipe::rowwise;
          },
          left("fp8 with fp8_recipe rowwise"), "\"bf16\": {\n    \"enabled\": true\n  }"},
         {[](Scenario& s) { s.training.precision = nvfp4; }, left("nvfp4")},
         {[](Scenario& s) { s.training.precision = mxfp8; }, left("mxfp8")},
         {[](Scenario& s) { s.training.precision = fp16; },
          {},
          "\"fp16\": {\n    \"enabled\": true\n  }"}});
}

TEST_CASE("DeepSpeed's states go to drives under ZeRO-3 alone, and take gradients with them") {
  const Lost takes_gradients{
      "offload.gradients",
      "offload.gradients none: DeepSpeed moves gradients to the host with the optimizer's states"};
  const Lost keeps_gradients{
      "offload.gradients",
      "offload.gradients cpu: DeepSpeed moves gradients to the host with the optimizer's states "
      "under zero 2 and 3 only; here they stay on the device"};
  check(with("zero: 1"),
        {{[](Scenario& s) { s.plan.offload.optimizer = Tier::cpu; },
          {},
          "\"offload_optimizer\": {\n      \"device\": \"cpu\","},
         {[](Scenario& s) { s.plan.offload.optimizer = Tier::nvme; },
          {{"offload.optimizer",
            "offload.optimizer nvme: DeepSpeed needs zero 3 for it; host memory is written "
            "instead"}},
          "\"offload_optimizer\": {\n      \"device\": \"cpu\","},
         {[](Scenario& s) { s.plan.offload = {.optimizer = Tier::cpu, .gradients = true}; },
          {keeps_gradients}},
         {[](Scenario& s) { s.plan.offload.parameters = Tier::cpu; },
          {{"offload.parameters",
            "offload.parameters cpu: DeepSpeed needs zero 3 for it; here they stay on the "
            "device"}}}});
  check(with("zero: 2"),
        {{[](Scenario& s) { s.plan.offload.optimizer = Tier::cpu; }, {takes_gradients}},
         {[](Scenario& s) { s.plan.offload = {.optimizer = Tier::cpu, .gradients = true}; }, {}},
         {[](Scenario& s) { s.plan.offload.gradients = true; }, {keeps_gradients}}});
  check(with("zero: 3, overlap: {parameters: true, data: true}"),
        {{[](Scenario& s) {
            s.plan.offload = {Tier::nvme, Tier::nvme, true};
          },
          {},
          "\"offload_optimizer\": {\n      \"device\": \"nvme\",\n      \"nvme_path\": "
          "\"/local_nvme\","},
         {[](Scenario& s) { s.plan.offload.parameters = Tier::cpu; },
          {},
          "\"offload_param\": {\n      \"device\": \"cpu\","}});
  auto signs = with("zero: 0");
  signs.training.optimizer = strategies::Optimizer::onebit_adam;
  check(signs, {{[](Scenario& s) { s.plan.offload.optimizer = Tier::cpu; },
                 {{"offload.optimizer",
                   "offload.optimizer cpu: DeepSpeed's 1-bit optimizers keep their states on the "
                   "device"}}}});
}

TEST_CASE("DeepSpeed gathers module by module, under ZeRO-3 in one way with gradients") {
  using strategies::ShardGroup;
  check(with("zero: 3, overlap: {parameters: true, data: true}"),
        {{[](Scenario& s) { s.plan.wrap.layers = 4; },
          {{"wrap", "wrap {layers: 4}: DeepSpeed gathers module by module"}}},
         {[](Scenario& s) { s.plan.overlap.parameters = false; },
          {{"overlap.parameters",
            "overlap.parameters false: DeepSpeed has overlap_comm for gradients and parameters, "
            "which is true"}},
          "\"overlap_comm\": true"},
         {[](Scenario& s) { s.plan.overlap.data = s.plan.overlap.parameters = false; },
          {},
          "\"overlap_comm\": false"},
         {[](Scenario& s) { s.plan.shard_group = ShardGroup::node; }, {}, "\"mics_shard_size\": 8"},
         {[](Scenario& s) { s.plan.gather_bucket = units::Bytes{64e6}; },
          {},
          "\"stage3_prefetch_bucket_size\": 32000000"},
         {[](Scenario& s) { s.plan.reshard_after_forward = false; },
          {},
          "\"stage3_max_live_parameters\": 8030261248"}});
  check(with("zero: 2"),
        {{[](Scenario& s) { s.plan.shard_group = ShardGroup::of(16); },
          {{"shard_group",
            "shard_group 16: under zero 2 DeepSpeed divides states over all replicas"}}},
         {[](Scenario& s) { s.plan.overlap.parameters = true; },
          {{"overlap.parameters",
            "overlap.parameters true: under zero 2 DeepSpeed gathers parameters after the "
            "optimizer's step"}}},
         {[](Scenario& s) { s.plan.bucket = units::Bytes{80e6}; }, {}, "\"reduce_bucket_size\": "},
         {[](Scenario& s) { s.plan.gradient_sync = strategies::GradientSync::step; },
          {{"gradient_sync",
            "gradient_sync step: DeepSpeed reduces gradients after every microbatch"}}},
         {[](Scenario& s) { s.plan.gather_bucket = units::Bytes{64e6}; },
          {},
          "\"allgather_bucket_size\": 32000000"}});
  check(with("zero: 0"),
        {{[](Scenario& s) { s.plan.bucket = units::Bytes{80e6}; },
          {{"bucket",
            "bucket 80000000 bytes: without ZeRO DeepSpeed reduces in buckets of its own size"}}}});
}

TEST_CASE("DeepSpeed's pipelines are the training script's, run 1f1b and wait for transfers") {
  using enum strategies::ScheduleKind;
  const std::string partition =
      "the training script's: PipelineModule(layers, "
      "topology=PipeModelDataParallelTopology(num_pp=4, num_mp=1, num_dp=8)), whose "
      "partition_method decides which stage has which layers";
  check(with("pipeline: 4, zero: 1"),
        {{[](Scenario& s) {
            s.plan.layers_per_stage = {7, 8, 9, 8};
          },
          {{"pipeline", "pipeline 4 with layers_per_stage [7, 8, 9, 8]: " + partition}}},
         {[](Scenario& s) { s.plan.schedule = interleaved, s.plan.virtual_stages = 2; },
          {{"schedule", "schedule interleaved: DeepSpeed's pipelines run 1f1b"},
           {"virtual_stages", "virtual_stages 2: DeepSpeed has one stage per pipeline rank"}}},
         {[](Scenario& s) { s.plan.overlap.pipeline = true; },
          {{"overlap.pipeline",
            "overlap.pipeline true: DeepSpeed's pipelines wait for their transfers"}}}});
  const auto sentences =
      report::sentences_of(report::launch(with("pipeline: 4, zero: 1"), deepspeed).not_expressed);
  CHECK(std::ranges::count(sentences,
                           "pipeline 4 with layers_per_stage [8, 8, 8, 8]: " + partition) == 1);
}

TEST_CASE("DeepSpeed divides sequences by ulysses, tensor ranks keep whole ones") {
  using enum strategies::ContextMethod;
  check(with("context: 4, context_method: ulysses, zero: 1"),
        {{[](Scenario& s) { s.plan.context_method = ring; },
          {{"context_method",
            "context_method ring: DeepSpeed divides sequences by ulysses, which is written "
            "instead"}},
          "\"sequence_parallel_size\": 4"}});
  check(with("tensor: 4, zero: 1"),
        {{[](Scenario& s) { s.plan.sequence_parallel = true; },
          {{"sequence_parallel",
            "sequence_parallel true: DeepSpeed's tensor parallelism keeps what it does not divide "
            "whole on each rank"}},
          "\"autotp_size\": 4"}});
}

TEST_CASE("DeepSpeed spreads experts over ranks, and waits for their tokens") {
  check(with("expert: 8, zero: 1", "mixtral-8x7b"),
        {{[](Scenario& s) { s.plan.overlap.expert = true; },
          {{"overlap.expert", "overlap.expert true: DeepSpeed's layers wait for their tokens"}}},
         {[](Scenario& s) { s.plan.expert = 4, s.plan.expert_tensor = 2; },
          {{"expert_tensor",
            "expert_tensor 2: the training script's; ds_config divides experts by expert only"}},
          "\"autoep_size\": 4"}});
}

TEST_CASE("layers that are recomputed whole are an argument of the Trainer, others its script's") {
  using strategies::Recompute;
  const std::string wrapped =
      "recompute: the training script's, which wraps what it recomputes in "
      "deepspeed.checkpointing.checkpoint: ";
  const auto s = with("zero: 1");
  auto full = s;
  full.plan.recompute.kind = Recompute::Kind::full;
  const auto launch = report::launch(full, deepspeed);
  CHECK(tests::newly_lost(s, full, deepspeed).empty());
  CHECK(std::ranges::count(launch.elsewhere, wrapped + "all layers whole") == 1);
  CHECK_THAT(launch.beside.at(1).text, STEPCAST_HOLDS("  --gradient_checkpointing \\\n"));
  check(s,
        {{[](Scenario& of) { of.plan.recompute = {.kind = Recompute::Kind::full, .every = {2}}; },
          {{"recompute", wrapped + "all layers whole, rows of them (checkpoint_every) as one"}}},
         {[](Scenario& of) { of.plan.recompute.kind = Recompute::Kind::selective; },
          {{"recompute", wrapped + "core_attn of all layers"}}}});
  check(full, {{[](Scenario& of) { of.plan.offload.activations = true; },
                {},
                "\"cpu_checkpointing\": true"},
               {[](Scenario& of) {
                  of.plan.offload.activations = true;
                  of.plan.offload.activation_layers = 8;
                },
                {{"offload.activations",
                  "offload.activations cpu in 8 layers of each rank: DeepSpeed offloads the inputs "
                  "of layers that are recomputed whole, all of them or none; here activations stay "
                  "on the device"}},
                "\"cpu_checkpointing\": false"}});
}

TEST_CASE("a model without a class of transformers has no config.json, and no script to start it") {
  auto s = with("zero: 1");
  const auto names = [&] {
    std::vector<std::string> files;
    for (const auto& file : report::launch(s, deepspeed).beside) files.push_back(file.name);
    return files;
  };
  CHECK(names() == std::vector<std::string>{"config.json", "train.sh"});
  s.model.name = "odd \"one\"";
  s.model.norms_per_layer = 3;
  CHECK(names().empty());
  const auto sentences = report::sentences_of(report::launch(s, deepspeed).not_expressed);
  CHECK(std::ranges::count(
            sentences,
            "32 GPUs: the launcher's: deepspeed --hostfile hostfile --num_nodes 4 --num_gpus 8 "
            "TRAIN.py --deepspeed_config THIS_FILE") == 1);
  CHECK(std::ranges::count(sentences,
                           "model \"odd \\\"one\\\"\": no class of Hugging Face's transformers is "
                           "known to have its parts; no config.json is written") == 1);
}

}  // namespace lost_by_deepspeed_spec
