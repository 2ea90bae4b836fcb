// SPDX-License-Identifier: Apache-2.0
// Plans that torchtitan cannot run, and the values that its job has instead.
#include "tests/report/lost_keys.hpp"

namespace lost_by_torchtitan_spec {

using forecast::Scenario;
using report::Framework;
using report::Lost;

namespace {

constexpr auto torchtitan = Framework::torchtitan;

void check(const Scenario& before, const std::vector<tests::LosingChange>& changes) {
  tests::check_lost(before, torchtitan, changes);
}

Scenario with(const std::string& plan, const std::string& model = "llama3-8b") {
  return tests::plain_scenario("torchtitan", model, plan);
}

// A mixture on sixteen tensor groups of two, all of whose ranks share states.
Scenario mixture() {
  return with("tensor: 2, sequence_parallel: true, expert: 4, zero: 3", "qwen3-30b-a3b");
}

}  // namespace

TEST_CASE("torchtitan starts models of its registry, and names what would have to be added to it") {
  auto s = with("zero: 3");
  const auto about_model = [&] {
    auto lost = report::launch(s, torchtitan).not_expressed;
    std::erase_if(lost, [](const auto& one) { return !one.key.starts_with("model"); });
    return lost;
  };
  CHECK(about_model().empty());
  CHECK_THAT(report::launch(s, torchtitan).text,
             STEPCAST_HOLDS("[model]\nname = \"llama3\"\nflavor = \"8B\"\n"));
  s.model.name = "short";
  s.model.layers = 12;
  CHECK(about_model() ==
        std::vector<Lost>{{"model",
                           "model \"short\": no flavor of torchtitan's llama3 has its sizes, which "
                           "are not written; add one of this name to its registry in Python: 12 "
                           "layers of width 4096, 32 heads of 128 and 8 of keys and values, MLP "
                           "14336, vocabulary 128256"}});
  CHECK_THAT(report::launch(s, torchtitan).text,
             STEPCAST_HOLDS("name = \"llama3\"\nflavor = \"short\"\n"));
  s.model.norm = model::Norm::layernorm;  // of which no family has any
  s.model.tied_embeddings = true;
  CHECK(
      about_model() ==
      std::vector<Lost>{{"model",
                         "model \"short\": none of torchtitan's families is like it; a family of "
                         "this name, which torchtitan does not know, is written, and of the model "
                         "nothing else: 12 layers of width 4096, 32 heads of 128 and 8 of keys "
                         "and values, MLP 14336, vocabulary 128256, tied embeddings"}});
}

TEST_CASE("torchtitan's experts have the router of their flavor, and predict one token") {
  const auto s = mixture();
  check(s, {{[](Scenario& of) { of.model.moe->router_bias = !of.model.moe->router_bias; },
             {{"model.moe.router_bias", std::string("model.moe.router_bias ") +
                                            (s.model.moe->router_bias ? "false" : "true") +
                                            ": torchtitan's qwen3 30B-A3B has it " +
                                            (s.model.moe->router_bias ? "true" : "false")}}},
            {[](Scenario& of) { of.model.multi_token_prediction = 1; },
             {{"model.multi_token_prediction",
               "model.multi_token_prediction 1: torchtitan's models predict one token"}}}});
}

TEST_CASE("torchtitan computes in bf16 or fp32, and below in 8 bit") {
  using enum units::Precision;
  check(with("zero: 3"),
        {{[](Scenario& s) { s.training.precision = fp16; },
          {{"training.precision",
            "training.precision fp16: torchtitan has bfloat16 and float32; bfloat16 is written "
            "instead"}},
          "mixed_precision_param = \"bfloat16\"\n"},
         {[](Scenario& s) { s.training.precision = tf32; },
          {{"training.precision",
            "training.precision tf32: torchtitan has bfloat16 and float32; float32 is written "
            "instead"}},
          "mixed_precision_param = \"float32\"\n"},
         {[](Scenario& s) { s.training.precision = fp32; },
          {},
          "mixed_precision_param = \"float32\"\n"},
         {[](Scenario& s) { s.training.precision = nvfp4; },
          {{"training.precision",
            "training.precision nvfp4: torchtitan has float8 and mxfp8 below 16 bit; bfloat16 is "
            "written instead"}},
          "mixed_precision_param = \"bfloat16\"\n"},
         {[](Scenario& s) { s.plan.gradient_precision = bf16; },
          {{"gradient_precision", "gradient_precision bf16: torchtitan reduces gradients in fp32"}},
          "mixed_precision_reduce = \"float32\"\n"},
         {[](Scenario& s) { s.training.optimizer = strategies::Optimizer::sgd; },
          {{"training.optimizer",
            "training.optimizer sgd: torchtitan has Adam and AdamW; AdamW is written instead"}},
          "[optimizer]\nname = \"AdamW\"\n"},
         {[](Scenario& s) { s.training.optimizer = strategies::Optimizer::adam; },
          {},
          "[optimizer]\nname = \"Adam\"\n"}});
}

TEST_CASE("torchtitan's 8-bit products are those of its converters, by recipe and layer") {
  using enum units::Precision;
  using model::LinearGradient;
  using model::LinearPart;
  using strategies::Fp8Recipe;
  check(with("zero: 3"),
        {{[](Scenario& s) {
            s.training.precision = fp8;
            s.training.fp8_recipe = Fp8Recipe::tensorwise;
          },
          {},
          "converters = [\"quantize.linear.float8\"]\n\n[quantize.linear.float8]\nrecipe_name = "
          "\"tensorwise\"\nfilter_fqns = [\"output\"]\n"},
         {[](Scenario& s) {
            s.training.precision = fp8;
            s.training.fp8_recipe = Fp8Recipe::blockwise;
          },
          {{"training.fp8_recipe",
            "training.fp8_recipe blockwise: torchtitan has tensorwise and rowwise; tensorwise is "
            "written instead"}},
          "recipe_name = \"tensorwise\"\n"},
         {[](Scenario& s) {
            s.training.precision = fp8;
            s.training.fp8_recipe = Fp8Recipe::rowwise;
            s.training.in_bf16.gradients = {LinearGradient::weights};
          },
          {},
          "recipe_name = \"rowwise_with_gw_hp\"\n"},
         {[](Scenario& s) {
            s.training.precision = fp8;
            s.training.fp8_recipe = Fp8Recipe::tensorwise;
            s.training.in_bf16.gradients = {LinearGradient::weights};
          },
          {{"training.in_bf16.gradients",
            "training.in_bf16.gradients weights: torchtitan has them in bf16 with fp8_recipe "
            "rowwise alone"}}},
         {[](Scenario& s) {
            s.training.precision = mxfp8;
            s.training.in_bf16.gradients = {LinearGradient::inputs};
          },
          {{"training.in_bf16.gradients",
            "training.in_bf16.gradients inputs: torchtitan computes gradients of inputs as the "
            "forward pass"}},
          "recipe_name = \"mxfp8_cublas\"\n"},
         {[](Scenario& s) {
            s.training.precision = mxfp8;
            s.training.in_bf16 = {.first_layers = 1, .last_layers = 1, .parts = {LinearPart::mlp}};
          },
          {},
          "filter_fqns = [\"output\", \"feed_forward\", \"layers.0.\", \"layers.31.\"]\n"}});
  check(mixture(),
        {{[](Scenario& s) { s.training.precision = mxfp8; },
          {},
          "converters = [\"quantize.linear.mx\", \"quantize.grouped_mm.mx\"]\n"},
         {[](Scenario& s) {
            s.training.precision = mxfp8;
            s.training.in_bf16.first_layers = 2;
          },
          {{"training.in_bf16.first_layers",
            "training.in_bf16.first_layers and last_layers: torchtitan converts the experts of all "
            "layers alike"}}},
         {[](Scenario& s) {
            s.training.precision = mxfp8;
            s.training.in_bf16.parts = {LinearPart::experts};
          },
          {},
          "converters = [\"quantize.linear.mx\"]\n"}});
}

TEST_CASE("FSDP offloads all states together, where it shards them") {
  using Tier = strategies::Offload::Tier;
  check(with("zero: 3"),
        {{[](Scenario& s) {
            s.plan.offload = {Tier::cpu, Tier::cpu, true};
          },
          {},
          "enable_cpu_offload = true\n"},
         {[](Scenario& s) { s.plan.offload = {.optimizer = Tier::nvme, .gradients = true}; },
          {{"offload.optimizer",
            "offload.optimizer nvme, offload.gradients cpu: torchtitan has parameters, gradients "
            "and optimizer states in host memory together, where FSDP shards them; that is written "
            "instead"}},
          "enable_cpu_offload = true\n"},
         {[](Scenario& s) { s.plan.offload.activations = true; },
          {{"offload.activations",
            "offload.activations cpu: torchtitan keeps activations on the device"}}}});
  check(with("zero: 0"),
        {{[](Scenario& s) { s.plan.offload.optimizer = Tier::cpu; },
          {{"offload.optimizer",
            "offload.optimizer cpu: torchtitan has parameters, gradients and optimizer states in "
            "host memory together, where FSDP shards them; none is written instead"}},
          "enable_cpu_offload = false\n"},
         {[](Scenario& s) {
            s.plan.offload = {Tier::cpu, Tier::cpu, true};
          },  // as FSDP would
          {{"offload.optimizer",
            "offload.optimizer cpu, offload.gradients cpu, offload.parameters cpu: torchtitan has "
            "parameters, gradients and optimizer states in host memory together, where FSDP shards "
            "them; none is written instead"}},
          "enable_cpu_offload = false\n"}});
}

TEST_CASE("FSDP divides parameters too, layer by layer, over whole sequences or none") {
  using strategies::ShardGroup;
  check(with("zero: 3"),
        {{[](Scenario& s) { s.plan.zero = 1; },
          {{"zero",
            "zero 1: FSDP also divides gradients and parameters; it is written so that these stay "
            "gathered from the forward to the backward pass"}},
          "fsdp_reshard_after_forward = \"never\"\n"},
         {[](Scenario& s) { s.plan.zero = 2; },
          {{"zero",
            "zero 2: FSDP also divides parameters; it is written so that these stay gathered from "
            "the forward to the backward pass"}},
          "fsdp_reshard_after_forward = \"never\"\n"},
         {[](Scenario& s) { s.plan.reshard_after_forward = false; },
          {},
          "fsdp_reshard_after_forward = \"never\"\n"},
         {[](Scenario& s) { s.plan.wrap.layers = 0; },
          {{"wrap", "wrap model: torchtitan gathers one layer at once"}}},
         {[](Scenario& s) { s.plan.bucket = units::Bytes{1e6}; },
          {{"bucket", "bucket 1000000 bytes: torchtitan reduces and gathers layer by layer"}}},
         {[](Scenario& s) { s.plan.gather_bucket = units::Bytes{2e6}; },
          {{"bucket.gather",
            "bucket.gather 2000000 bytes: torchtitan reduces and gathers layer by layer"}}},
         {[](Scenario& s) { s.plan.shard_group = ShardGroup::node; },
          {},
          "data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 8\n"}});
  check(with("zero: 0"),
        {{[](Scenario& s) { s.plan.bucket = units::Bytes{1e6}; },
          {{"bucket",
            "bucket 1000000 bytes: torchtitan reduces and gathers in buckets of its own size"}}},
         {[](Scenario& s) { s.plan.context = 2, s.plan.data = 16; },
          {{"zero",
            "zero 0: where sequences are divided FSDP shards over their ranks, and gathers "
            "parameters for every pass"}}}});
  // Four ranks share states: a sequence of eight, two replicas of it.
  check(with("context: 8, zero: 3"),
        {{[](Scenario& s) { s.plan.shard_group = ShardGroup::of(4); },
          {{"shard_group",
            "shard_group 4: torchtitan divides states over whole sequences; 1 of 4 replicas is "
            "written instead"}},
          "data_parallel_shard_degree = 1\n"},
         {[](Scenario& s) {  // four and a half sequences of two ranks
            s.plan.context = 2, s.plan.data = 9, s.training.global_batch = 72;
            s.plan.shard_group = ShardGroup::of(9);
          },
          {{"shard_group",
            "shard_group 9: torchtitan divides states over whole sequences; 1 of 9 replicas is "
            "written instead"}},
          "data_parallel_shard_degree = 1\n"}});
}

TEST_CASE(
    "where FSDP divides nothing torchtitan's tensor and pipeline ranks start in fp32 or never") {
  const auto effects = [](const std::string& plan) {
    const auto lost = report::launch(with(plan), torchtitan).not_expressed;
    const auto one = std::ranges::find_if(lost, [](const Lost& of) {
      return of.sentence.find("FSDP divides nothing") != of.sentence.npos;
    });
    return one == lost.end() ? std::string() : one->sentence;
  };
  const std::string tensor = "tensor: 8, sequence_parallel: true, ";
  CHECK(effects("zero: 0").empty());  // replicas alone
  CHECK(effects(tensor + "zero: 3").empty());
  CHECK(effects(tensor + "zero: 0") ==
        "zero 0: where FSDP divides nothing torchtitan has replicas on neither tensor nor pipeline "
        "ranks, and refuses to start");
  CHECK(effects(tensor + "pipeline: 4, zero: 0") ==
        "zero 0: where FSDP divides nothing torchtitan's tensor and pipeline ranks compute in "
        "float32, not in bf16");
}

TEST_CASE("torchtitan's tensor ranks divide sequences, and hide communication where it compiles") {
  using strategies::TensorOverlap;
  auto s = with("tensor: 2, sequence_parallel: true, zero: 3");
  s.software.compile = false;
  check(s,
        {{[](Scenario& of) { of.plan.sequence_parallel = false; },
          {{"sequence_parallel",
            "sequence_parallel false: torchtitan's tensor parallelism always has it"}}},
         {[](Scenario& of) { of.plan.overlap.tensor = true; },
          {{"overlap.tensor",
            "overlap.tensor true: torchtitan needs software.compile for it; here layers wait for "
            "their communication"}},
          "enable_async_tensor_parallel = false\n"},
         {[](Scenario& of) {
            of.plan.overlap.tensor = of.software.compile = true;
            of.software.tensor_overlap = TensorOverlap::pipelined;
          },
          {},
          "enable_async_tensor_parallel = true\n"},
         {[](Scenario& of) {
            of.plan.overlap.tensor = of.software.compile = true;
            of.software.tensor_overlap = TensorOverlap::async;
          },
          {{"software.tensor_overlap",
            "software.tensor_overlap async: torchtitan cuts products into parts, which is "
            "written instead"}},
          "enable_async_tensor_parallel = true\n"}});
}

TEST_CASE("torchtitan sends keys round or gathers them, and divides no windows and no sinks") {
  using enum strategies::ContextMethod;
  const auto refused = [](const std::string& method) {
    return std::vector<Lost>{
        {"context_method",
         "context_method " + method +
             ": torchtitan divides no sequences of models with windows or sinks, and refuses to "
             "start",
         Lost::Effect::never_starts}};
  };
  check(with("context: 4, zero: 3"),
        {{[](Scenario& s) { s.plan.context_method = all_gather; },
          {},
          "context_parallel_rotate_method = \"allgather\"\n"},
         {[](Scenario& s) { s.plan.context_method = ulysses; },
          {{"context_method",
            "context_method ulysses: torchtitan's keys and values go round (alltoall), which is "
            "written instead, or are gathered"}},
          "context_parallel_rotate_method = \"alltoall\"\n"},
         {[](Scenario& s) { s.model = with("zero: 3", "gpt-oss-120b").model; }, refused("ring")}});
}

TEST_CASE(
    "torchtitan's pipelines wait for transfers, and reduce gradients behind their last pass") {
  using enum strategies::ScheduleKind;
  check(
      with("pipeline: 2, zero: 3"),
      {{[](Scenario& s) { s.plan.overlap.pipeline = true; },
        {{"overlap.pipeline",
          "overlap.pipeline true: PyTorch's schedules wait for their transfers"}}},
       {[](Scenario& s) { s.plan.overlap.data = true; },
        {{"overlap.data",
          "overlap.data true: torchtitan reduces gradients of a pipeline behind its last backward "
          "pass"}}},
       {[](Scenario& s) { s.plan.gradient_sync = strategies::GradientSync::microbatch; },
        {{"overlap.data",
          "overlap.data true: torchtitan reduces gradients of a pipeline behind its last backward "
          "pass"},
         {"gradient_sync",
          "gradient_sync microbatch: torchtitan reduces gradients of a pipeline once a step"}}},
       {[](Scenario& s) { s.plan.schedule = zb_h2; },
        {{"schedule", "schedule zb-h2: PyTorch has no such schedule; 1F1B is written instead"}},
        "pipeline_parallel_schedule = \"1F1B\"\n"},
       {[](Scenario& s) { s.plan.schedule = dualpipe_v, s.plan.virtual_stages = 2; },
        {},
        "pipeline_parallel_schedule = \"DualPipeV\"\n"},
       {[](Scenario& s) {
          s.plan.schedule = dualpipe_v, s.plan.virtual_stages = 2;
          s.plan.micro_batch = 2;
        },
        {{"pipeline", "pipeline 2: PyTorch's DualPipeV refuses 2 microbatches for 4 stages",
          Lost::Effect::never_starts}}}});
  check(with("pipeline: 2, zero: 1"),  // whole gradients are reduced as they come
        {{[](Scenario& s) { s.plan.overlap.data = false; },
          {{"overlap.data",
            "overlap.data false: torchtitan reduces gradients under the backward pass"}}}});
  check(
      with("zero: 3"),
      {{[](Scenario& s) { s.plan.overlap.data = false; },
        {{"overlap.data",
          "overlap.data false: torchtitan reduces gradients under the backward pass"}}},
       {[](Scenario& s) { s.plan.overlap.parameters = false; },
        {{"overlap.parameters", "overlap.parameters false: torchtitan gathers parameters ahead"}}},
       {[](Scenario& s) { s.plan.schedule = gpipe; },
        {{"schedule",
          "schedule gpipe: on one pipeline rank torchtitan runs one microbatch after the "
          "other"}}},
       {[](Scenario& s) { s.plan.schedule = interleaved, s.plan.virtual_stages = 2; },
        {{"schedule",
          "schedule interleaved: on one pipeline rank torchtitan runs one microbatch after the "
          "other"},
         {"virtual_stages",
          "virtual_stages 2: torchtitan cuts a model on several pipeline ranks only; one stage is "
          "written instead"}}}});
}

TEST_CASE("torchtitan divides experts by tensor ranks or not at all") {
  check(mixture(),
        {{[](Scenario& s) { s.plan.expert_tensor = 4; },
          {{"expert_tensor",
            "expert_tensor 4: torchtitan divides experts by tensor (2) or not; 1 is written "
            "instead"}},
          "expert_tensor_parallel_degree = 1\n"},
         {[](Scenario& s) { s.plan.expert_tensor = 1; },
          {},
          "expert_parallel_degree = 4\nexpert_tensor_parallel_degree = 1\n"},
         {[](Scenario& s) { s.plan.expert = 1, s.plan.expert_tensor = 1; },
          {{"expert_tensor",
            "expert_tensor 1: without expert parallelism torchtitan divides experts by tensor (2), "
            "which is written instead"}},
          "expert_tensor_parallel_degree = 2\n"},
         {[](Scenario& s) { s.plan.overlap.expert = true; },
          {{"overlap.expert", "overlap.expert true: torchtitan's layers wait for their tokens"}}}});
}

}  // namespace lost_by_torchtitan_spec
