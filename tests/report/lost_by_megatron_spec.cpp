// SPDX-License-Identifier: Apache-2.0
// Plans that Megatron-LM cannot run, and the values that its script has instead.
#include "tests/report/lost_keys.hpp"

namespace lost_by_megatron_spec {

using forecast::Scenario;
using report::Framework;
using report::Lost;

namespace {

void check(const Scenario& before, const std::vector<tests::LosingChange>& changes) {
  tests::check_lost(before, Framework::megatron, changes);
}

// 32 GPUs without tensor ranks, of which nothing is lost.
Scenario with(const std::string& plan, const std::string& model = "llama3-8b") {
  return tests::plain_scenario(
      "{base: megatron-core, overlap_pipeline: false, overlap_expert: false}", model, plan);
}

Lost lost(const std::string& key, const std::string& rest) { return {key, key + rest}; }

}  // namespace

TEST_CASE("Megatron-LM has biases on all linear layers or on none, and two norms a layer") {
  const auto s = with("zero: 1");
  REQUIRE(report::launch(s, Framework::megatron).not_expressed.empty());
  check(
      s,
      {{[](Scenario& of) { of.model.causal = false; },
        {lost("model.causal", " false: pretrain_gpt.py trains causal models")}},
       {[](Scenario& of) { of.model.biases = of.model.qkv_biases = true; }, {}},
       {[](Scenario& of) { of.model.qkv_biases = true; }, {}, "--add-qkv-bias"},
       {[](Scenario& of) { of.model.biases = true, of.model.qkv_biases = false; },
        {lost("model.qkv_biases",
              " false: with biases elsewhere, Megatron-LM has them there too")}},
       {[](Scenario& of) { of.model.output_bias = true; },
        {lost("model.output_bias",
              " true: without other biases Megatron-LM has none on attention's output "
              "projection")}},
       {[](Scenario& of) { of.model.parallel_block = true; },
        {lost("model.parallel_block",
              " true: Megatron-LM's layers run their MLP after attention, with a norm of its "
              "own")}},
       {[](Scenario& of) { of.model.norms_per_layer = 4; },
        {lost("model.norms_per_layer", " 4: Megatron-LM's layers have 2")}},
       {[](Scenario& of) { of.model.activation = model::Activation::geglu; },
        {lost("model.activation",
              " geglu: Megatron-LM has its sigmoid approximation (--quick-geglu), which is "
              "written instead")},
        "--quick-geglu"},
       {[](Scenario& of) { of.model.activation = model::Activation::relu; },
        {lost("model.activation",
              " relu: Megatron-LM has its square (--squared-relu), which is written instead")},
        "--squared-relu"},
       {[](Scenario& of) { of.model.position = model::Position::alibi; },
        {lost("model.position", " alibi: Megatron-LM has no such biases; none is written instead")},
        "--position-embedding-type none"}});
}

TEST_CASE("Megatron-LM's experts have biases where all linear layers have") {
  check(
      with("expert: 8, zero: 1", "mixtral-8x7b"),
      {{[](Scenario& s) { s.model.moe->expert_biases = true; },
        {lost("model.moe.expert_biases",
              " true: Megatron-LM has biases on all linear layers or on none; none is written "
              "instead")}},
       {[](Scenario& s) { s.model.biases = s.model.qkv_biases = true; },
        {lost("model.moe.expert_biases",
              " false: Megatron-LM has biases on all linear layers or on none; experts have them, "
              "too, as it is written")}},
       {[](Scenario& s) {
          s.model.biases = s.model.qkv_biases = s.model.moe->expert_biases = true;
        },
        {}}});
}

TEST_CASE("windows of attention are written by size, and by the layers that have them") {
  using model::Window;
  check(with("zero: 1"),
        {{[](Scenario& s) { s.model.window = Window{.size = 512}; }, {}, "--window-size '(512,0)'"},
         {[](Scenario& s) { s.model.window = Window{.size = 512, .full_every = 4}; },
          {},
          "--window-attn-skip-freq 4"},
         {[](Scenario& s) {
            s.model.layers = 4;
            s.model.window = Window{.size = 512, .every = 2};
          },
          {},
          "--window-attn-skip-freq '([1]*1+[0]*1+[1]*1+[0]*1)'"}});
}

TEST_CASE("Megatron-LM's kernels are those of Transformer Engine, and nothing is compiled whole") {
  using enum model::AttentionKernel;
  const auto instead = [](const std::string& word) {
    return std::vector<Lost>{
        lost("software.attention", " " + word +
                                       ": Megatron-LM has unfused, fused and flash; flash "
                                       "is written instead")};
  };
  check(with("zero: 1"),
        {{[](Scenario& s) { s.software.kernels.attention = flash_1; }, instead("flash1"),
          "--attention-backend flash"},
         {[](Scenario& s) { s.software.kernels.attention = memory_efficient; },
          instead("memory-efficient"), "--attention-backend flash"},
         {[](Scenario& s) { s.software.kernels.attention = flash_3; },
          {},
          "--flash-attention-version 3"},
         {[](Scenario& s) { s.software.compile = true; },
          {lost("software.compile",
                " true: Megatron-LM compiles a few chains of element-wise operators only")}}});
}

TEST_CASE("Megatron-LM's 8-bit trainings keep layers in bf16, or gradients with delayed scales") {
  using enum units::Precision;
  using model::LinearGradient;
  using strategies::Fp8Recipe;
  auto delayed = with("zero: 1"), blockwise = delayed;
  delayed.training.precision = blockwise.training.precision = fp8;
  delayed.training.fp8_recipe = Fp8Recipe::delayed;
  blockwise.training.fp8_recipe = Fp8Recipe::blockwise;
  const auto inputs = lost("training.in_bf16.gradients",
                           " inputs: Megatron-LM computes gradients of inputs as the forward pass");
  const auto first = [](Scenario& s) {
    s.training.in_bf16.first_layers = 1, s.training.in_bf16.last_layers = 2;
  };
  const auto of_weights = [](Scenario& s) {
    s.training.in_bf16.gradients = {LinearGradient::weights};
  };
  const auto of_inputs = [](Scenario& s) {
    s.training.in_bf16.gradients = {LinearGradient::inputs};
  };
  check(delayed, {{first,
                   {lost("training.in_bf16.first_layers",
                         " and last_layers: Megatron-LM keeps no layers in bf16 with fp8_recipe "
                         "delayed; all are in fp8")}},
                  {of_weights, {}, "--no-fp8-wgrad"},
                  {of_inputs, {inputs}},
                  {[](Scenario& s) { s.training.fp8_recipe = Fp8Recipe::rowwise; },
                   {lost("training.fp8_recipe",
                         " rowwise: Megatron-LM has delayed, tensorwise and blockwise; tensorwise "
                         "is written instead")},
                   "--fp8-recipe tensorwise"}});
  check(blockwise,
        {{first, {}, "--num-layers-at-end-in-bf16 2"},
         {of_weights,
          {lost("training.in_bf16.gradients",
                " weights: Megatron-LM has them in bf16 with fp8_recipe delayed alone")}},
         {of_inputs, {inputs}},
         {[](Scenario& s) { s.training.in_bf16.parts = {model::LinearPart::mlp}; },
          {lost("training.in_bf16.modules",
                ": Megatron-LM has one precision for all modules of a layer")}}});
}

TEST_CASE(
    "Megatron-LM reduces gradients in fp32, bf16 or fp16, and keeps master copies with Adam") {
  using enum units::Precision;
  check(
      with("zero: 1"),
      {{[](Scenario& s) { s.training.precision = tf32; },
        {lost("software.attention",
              " fused: in 32 bit Transformer Engine has unfused alone, and unfused is written "
              "instead"),
         lost("training.precision", " tf32: PyTorch's setting, not a flag; fp32 is written")}},
       {[](Scenario& s) { s.plan.gradient_precision = bf16; }, {}, "--grad-reduce-in-bf16"},
       {[](Scenario& s) { s.plan.gradient_precision = fp16; },
        {lost("gradient_precision",
              " fp16: with bf16 parameters Megatron-LM reduces gradients in fp32 or bf16; the "
              "latter is written instead")}},
       {[](Scenario& s) { s.training.precision = fp16, s.plan.gradient_precision = bf16; },
        {lost("gradient_precision",
              " bf16: with fp16 parameters Megatron-LM reduces gradients in fp32 or fp16; the "
              "latter is written instead")}},
       {[](Scenario& s) { s.plan.master_weights = fp16; }, {}, "--main-params-dtype fp16"},
       {[](Scenario& s) { s.plan.master_weights = bf16; },
        {lost("master_weights", " bf16: Megatron-LM has fp16 of the same size, written instead")}},
       {[](Scenario& s) { s.plan.master_weights = fp16, s.plan.zero = 0; },
        {lost("master_weights",
              ": Megatron-LM asks for AdamW and the distributed optimizer (zero 1) where they are "
              "not fp32, which is written instead")}},
       {[](Scenario& s) { s.training.optimizer = strategies::Optimizer::lamb; },
        {lost("training.optimizer",
              " lamb: Megatron-LM has adam, sgd and muon; adam is written instead")},
        "--optimizer adam"}});
  auto wide = with("zero: 1");
  wide.training.precision = fp32;
  check(wide, {{[](Scenario& s) { s.plan.gradient_precision = bf16; },
                {lost("gradient_precision",
                      " bf16: with fp32 parameters Megatron-LM has gradients in fp32")}}});
}

TEST_CASE("each schedule that Megatron-LM lacks becomes 1F1B, with what that changes") {
  using enum strategies::ScheduleKind;
  struct Schedule {
    strategies::ScheduleKind kind;
    std::int64_t chunks;
    std::string why;
  };
  const std::vector<Schedule> schedules{
      {gpipe, 1, ", which keeps no more microbatches"},
      {zb_h1, 1, ", whose ranks wait longer"},
      {zb_h2, 1, ", whose ranks wait longer"},
      {v_half, 2, ", with one stage per rank, which keeps more activations on the first ranks"},
      {v_min, 2, ", with one stage per rank, which keeps more activations on the first ranks"},
      {zb_v, 2, ", with one stage per rank: embedding and head are on different ranks"},
      {dualpipe_v, 2, ", with one stage per rank: embedding and head are on different ranks"},
      {dualpipe, 1, ", which has one copy of the parameters, not two"}};
  const auto before = with("pipeline: 2, zero: 1");
  for (const auto& [kind, chunks, why] : schedules) {
    auto after = before;
    after.plan.schedule = kind;
    after.plan.virtual_stages = chunks;
    const std::string word(units::word(kind));
    INFO(word);
    CHECK(tests::newly_lost(before, after, Framework::megatron) ==
          std::vector<Lost>{lost("schedule", " " + word +
                                                 ": Megatron-LM has 1f1b and interleaved; 1f1b is "
                                                 "written instead" +
                                                 why)});
  }
}

TEST_CASE("Megatron-LM interleaves several stages of several ranks, by whole groups") {
  using enum strategies::ScheduleKind;
  const auto interleave = [](Scenario& s) {
    s.plan.schedule = interleaved, s.plan.virtual_stages = 2;
  };
  check(with("zero: 1"), {{interleave,
                           {lost("virtual_stages",
                                 " 2: on one pipeline rank Megatron-LM has one stage, which is "
                                 "written instead")}}});
  auto few = with("pipeline: 4, micro_batch: 4, zero: 1");  // eight replicas of two microbatches
  check(few, {{interleave,
               {lost("virtual_stages",
                     " 2: 2 microbatches are fewer than 4 pipeline ranks, which Megatron-LM cannot "
                     "interleave; one stage per rank is written instead")}},
              {[](Scenario& s) { s.plan.overlap.pipeline = true; },
               {lost("overlap.pipeline",
                     " true: Megatron-LM's transfers run beside computation with virtual stages "
                     "only; here it waits for them")}}});
  auto uneven = with("pipeline: 4, zero: 1");
  uneven.training.global_batch = 8 * 11;  // eleven microbatches are groups of six and five
  const Lost groups{
      "schedule",
      "schedule interleaved: 11 microbatches are no multiple of 4 pipeline ranks; "
      "Megatron-LM refuses a shorter last group, and groups of 6 are written instead, "
      "which keep more activations",
      Lost::Effect::runs_otherwise};
  check(uneven, {{interleave, {groups}, "--microbatch-group-size-per-virtual-pipeline-stage 6"}});
}

TEST_CASE("Megatron-FSDP overlaps, frees and gathers in its own way") {
  using strategies::GradientSync;
  const auto s = with("zero: 3, overlap: {data: true, parameters: true}");
  check(s,
        {{[](Scenario& of) { of.plan.reshard_after_forward = false; },
          {lost("reshard_after_forward",
                " false: Megatron-FSDP frees gathered parameters after the forward pass, and "
                "gathers them again")}},
         {[](Scenario& of) { of.plan.wrap.layers = 3; },
          {lost("wrap", " {layers: 3}: Megatron-FSDP gathers one layer at once")}},
         {[](Scenario& of) { of.plan.overlap.data = false; },
          {lost("overlap.data", " false: Megatron-FSDP reduces gradients under the backward pass"),
           lost("overlap.parameters",
                " true: Megatron-LM gathers ahead only with --overlap-grad-reduce; here it waits "
                "for parameters")}},
         {[](Scenario& of) { of.plan.overlap.parameters = false; },
          {lost("overlap.parameters", " false: Megatron-FSDP gathers parameters ahead")}},
         {[](Scenario& of) { of.plan.gather_bucket = units::Bytes{64e6}; },
          {},
          "--suggested-communication-unit-size 32000000"},
         {[](Scenario& of) { of.plan.gradient_sync = GradientSync::step; },
          {lost("gradient_sync", " step: Megatron-LM reduces gradients after every microbatch")}}});
}

TEST_CASE(
    "Megatron-LM's distributed optimizer gathers in the buckets of gradients, and after them") {
  check(
      with("zero: 1, overlap: {data: true, parameters: false}"),
      {{[](Scenario& s) { s.plan.gather_bucket = units::Bytes{64e6}; },
        {lost("bucket.gather",
              " 64000000 bytes: Megatron-LM gathers parameters in the buckets that it reduces "
              "gradients in")}},
       {[](Scenario& s) { s.plan.bucket = units::Bytes{80e6}; }, {}, "--ddp-bucket-size 20000000"},
       {[](Scenario& s) { s.plan.overlap.parameters = true; }, {}, "--overlap-param-gather"},
       {[](Scenario& s) { s.plan.overlap = {.data = false, .parameters = true}; },
        {lost("overlap.parameters",
              " true: Megatron-LM gathers ahead only with --overlap-grad-reduce; here it waits for "
              "parameters")}},
       {[](Scenario& s) { s.plan.shard_group = strategies::ShardGroup::of(4); },
        {},
        "--num-distributed-optimizer-instances 8"}});
  auto muon = with("zero: 1, overlap: {data: true, parameters: false}");
  muon.training.optimizer = strategies::Optimizer::muon;
  check(muon,
        {{[](Scenario& s) { s.plan.overlap.parameters = true; },
          {lost("overlap.parameters",
                " true: Megatron-LM gathers ahead only for optimizers that divide tensors; "
                "here it waits for parameters")}},
         {[](Scenario& s) { s.plan.shard_group = strategies::ShardGroup::node; },
          {lost("shard_group", " node: distributed Muon divides states over all replicas")}}});
}

TEST_CASE("Megatron-LM hides what tensor ranks reduce, and cuts products with divided sequences") {
  using strategies::TensorOverlap;
  check(with("tensor: 2, sequence_parallel: true, zero: 1, overlap: {tensor: true}"),
        {{[](Scenario& s) { s.plan.overlap.tensor = false; },
          {lost("overlap.tensor",
                " false: Megatron-LM always reduces the gradient of a layer's input under its "
                "weight gradient")}},
         {[](Scenario& s) { s.software.tensor_overlap = TensorOverlap::pipelined; },
          {},
          "--tp-comm-overlap"},
         {[](Scenario& s) {
            s.software.tensor_overlap = TensorOverlap::pipelined;
            s.plan.sequence_parallel = false;
          },
          {lost("overlap.tensor",
                " true: Megatron-LM cuts products for it (--tp-comm-overlap) with sequence "
                "parallelism only; here it overlaps what runs under weight gradients")}}});
}

TEST_CASE("Megatron-LM hides tokens of experts beside virtual stages and layers that are kept") {
  const auto refused = [](const std::string& why) {
    return std::vector<Lost>{lost("overlap.expert", " true: Megatron-LM refuses it where " + why +
                                                        "; here layers wait for tokens")};
  };
  const auto overlaps = [](Scenario& s) { s.plan.overlap.expert = true; };
  auto recomputed = with("expert: 8, zero: 1, recompute: full", "mixtral-8x7b");
  check(recomputed, {{overlaps, refused("whole layers are recomputed")}});
  check(with("expert: 8, pipeline: 2, zero: 1", "mixtral-8x7b"),
        {{overlaps, refused("ranks have one stage of the pipeline")}});
}

TEST_CASE("Megatron-LM offloads Adam's states, some modules, or layers without a pipeline") {
  using Tier = strategies::Offload::Tier;
  using model::Module;
  const auto all_layers = [](Scenario& s) { s.plan.offload.activations = true; };
  check(
      with("zero: 1"),
      {{[](Scenario& s) { s.plan.offload = {.optimizer = Tier::cpu, .gradients = true}; },
        {lost("offload.gradients",
              " cpu: Megatron-LM keeps gradients on the device until the optimizer's step")},
        "--optimizer-cpu-offload"},
       {[](Scenario& s) { s.plan.offload.parameters = Tier::nvme; },
        {lost("offload.parameters", " nvme: Megatron-LM keeps parameters on the device")}},
       {[](Scenario& s) {
          s.plan.offload.optimizer = Tier::cpu;
          s.training.optimizer = strategies::Optimizer::sgd;
        },
        {lost("offload.optimizer",
              " cpu: Megatron-LM offloads the states of Adam only; those of sgd stay on the "
              "device")}},
       {[](Scenario& s) { s.plan.offload.optimizer = Tier::cpu, s.plan.zero = 0; },
        {{"zero",
          "zero 0: Megatron-LM offloads the states of its distributed optimizer, so zero 1 is "
          "written instead"}},
        "--use-distributed-optimizer"},
       {all_layers,  // the last layer is needed at once
        {lost("offload.activations",
              " cpu: Megatron-LM offloads at most 31 of 32 layers, which is written instead")},
        "--cpu-offloading-num-layers 31"},
       {[](Scenario& s) {
          s.plan.offload.activations = true;
          s.plan.offload.activation_layers = 5;
        },
        {},
        "--cpu-offloading-num-layers 5"},
       {[](Scenario& s) {
          s.plan.offload.activations = true;
          s.plan.offload.activation_modules = {Module::layernorm, Module::mlp};
        },
        {lost("offload.activations",
              " cpu of layernorm and mlp: Megatron-LM does not offload mlp, whose activations stay "
              "on the device")},
        "--offload-modules attn_norm mlp_norm"},
       {[](Scenario& s) {
          s.plan.offload.activations = true;
          s.plan.offload.activation_layers = 5;
          s.plan.offload.activation_modules = {Module::core_attn};
        },
        {lost("offload.activations",
              " cpu of core_attn in 5 layers of each rank: Megatron-LM offloads modules of all "
              "layers, which is written instead")},
        "--offload-modules core_attn"}});
  const auto stays = [](const std::string& where) {
    return std::vector<Lost>{
        lost("offload.activations",
             " cpu: Megatron-LM cannot offload layers " + where + "; they stay on the device")};
  };
  check(with("pipeline: 2, zero: 1"), {{all_layers, stays("in a pipeline")}});
  check(with("recompute: selective, zero: 1"), {{all_layers, stays("beside recomputation")}});
}

TEST_CASE("constants of a model that no scenario has are written where known, else left open") {
  const auto undecided = [](const Scenario& s) {
    return report::launch(s, Framework::megatron).undecided;
  };
  using Sentences = std::vector<std::string>;
  CHECK(undecided(with("zero: 1")).empty());
  CHECK_THAT(report::launch(with("zero: 1"), Framework::megatron).text,
             STEPCAST_HOLDS("--rotary-base 500000 \\\n  --use-rope-scaling \\\n  "
                            "--rope-scaling-factor 8"));
  auto other = with("zero: 1");
  other.model.layers = 16;
  CHECK(undecided(other) ==
        Sentences{"epsilon of norms: Megatron-LM's 1e-5 holds (--norm-epsilon)",
                  "base and scaling of rotary positions: Megatron-LM's 10000 and none hold "
                  "(--rotary-base, --use-rope-scaling)"});
  auto mixture = with("expert: 8, zero: 1", "mixtral-8x7b");
  const std::string balance =
      "loss that balances experts: none is written (--moe-router-load-balancing-type, "
      "--moe-aux-loss-coeff)";
  CHECK(undecided(mixture) == Sentences{balance});
  mixture.model.layers = 16;
  CHECK(undecided(mixture).back() ==
        "groups of experts and scale of what they add: Megatron-LM's none and 1 hold "
        "(--moe-router-num-groups, --moe-router-group-topk, --moe-router-topk-scaling-factor)");
  CHECK(
      undecided(with("expert: 8, zero: 1", "gpt-oss-120b")) ==
      Sentences{"YaRN's scaling of rotary positions by 32 from 4096 tokens: Megatron-LM has a flag "
                "for its factor with latent attention only; none is written"});
}

}  // namespace lost_by_megatron_spec
