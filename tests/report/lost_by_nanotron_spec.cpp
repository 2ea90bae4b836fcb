// SPDX-License-Identifier: Apache-2.0
// Plans that nanotron cannot run, and the values that its file has instead.
#include "tests/report/lost_keys.hpp"

namespace lost_by_nanotron_spec {

using forecast::Scenario;
using report::Framework;
using report::Lost;

namespace {

void check(const Scenario& before, const std::vector<tests::LosingChange>& changes) {
  tests::check_lost(before, Framework::nanotron, changes);
}

Scenario plain() { return tests::plain_scenario("nanotron"); }

// The same without a pipeline.
Scenario flat(const std::string& more = "zero: 1") {
  return tests::plain_scenario("nanotron", "llama3-8b",
                               "tensor: 2, sequence_parallel: true, " + more);
}

}  // namespace

TEST_CASE("the plain scenario loses nothing in nanotron's file") {
  CHECK(report::launch(plain(), Framework::nanotron).not_expressed.empty());
  CHECK(report::launch(flat(), Framework::nanotron).not_expressed.empty());
}

TEST_CASE("each trait of a model that nanotron's classes lack is named by itself") {
  struct Trait {
    void (*apply)(model::Transformer&);
    std::string words;
  };
  using model::Transformer;
  const std::vector<Trait> traits{
      {[](Transformer& m) { m.activation = model::Activation::geglu; }, "activation geglu"},
      {[](Transformer& m) { m.norm = model::Norm::layernorm; }, "norm layernorm"},
      {[](Transformer& m) { m.position = model::Position::learned; }, "position learned"},
      {[](Transformer& m) { m.position = model::Position::alibi; }, "position alibi"},
      {[](Transformer& m) { m.biases = m.qkv_biases = true; }, "biases"},
      {[](Transformer& m) { m.output_bias = true; }, "biases"},
      {[](Transformer& m) { m.parallel_block = true; }, "parallel_block"},
      {[](Transformer& m) { m.norms_per_layer = 4; }, "norms_per_layer 4"},
      {[](Transformer& m) { m.query_key_norm = true; }, "query_key_norm"},
      {[](Transformer& m) { m.attention_sinks = true; }, "attention_sinks"},
      {[](Transformer& m) { m.dropout = 0.1; }, "dropout 0.1"},
      {[](Transformer& m) { m.causal = false; }, "causal false"},
      {[](Transformer& m) { m.multi_token_prediction = 2; }, "multi_token_prediction 2"},
      {[](Transformer& m) { m.window = {.size = 512, .every = 2}; },
       "attention_window.every above 1"},
      {[](Transformer& m) { m.window = {.size = 512, .every = 1, .full_every = 4}; },
       "attention_window.full_every"},
      {[](Transformer& m) { m.head_dim = 64; }, "head_dim 64 other than hidden / heads"}};
  for (const auto& [apply, words] : traits) {
    auto after = plain();
    apply(after.model);
    const auto lost = tests::newly_lost(plain(), after, Framework::nanotron);
    INFO(words);
    CHECK(lost == std::vector<Lost>{
                      {"model", "model." + words + ": nanotron's Llama and Qwen2 have none such"}});
  }
}

TEST_CASE("Qwen2's class has windows, experts and biases of queries, Llama's none of them") {
  struct Case {
    void (*apply)(model::Transformer&);
    bool qwen;
    std::string written;
  };
  using model::Transformer;
  const std::vector<Case> cases{
      {[](Transformer&) {}, false, "    attention_bias: false\n"},
      {[](Transformer& m) { m.qkv_biases = true; }, true, "    attention_bias: true\n"},
      {[](Transformer& m) { m.window = {.size = 512, .every = 1}; }, true,
       "    sliding_window_size: 512\n"},
      {[](Transformer& m) { m.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 704}; },
       true,
       "    moe_config:\n      num_experts: 8\n      top_k: 2\n      moe_intermediate_size: "
       "704\n"}};
  for (const auto& [apply, qwen, written] : cases) {
    auto s = flat();
    apply(s.model);
    const auto launch = report::launch(s, Framework::nanotron);
    INFO(written << report::sentences_of(launch.not_expressed).size());
    CHECK(launch.not_expressed.empty());
    CHECK_THAT(launch.text, STEPCAST_HOLDS(qwen ? "    is_qwen2_config: true\n"
                                                : "    is_llama_config: true\n"));
    CHECK_THAT(launch.text, STEPCAST_HOLDS(written));
  }
}

TEST_CASE("each trait of experts that nanotron's Qwen2 lacks is named by itself") {
  auto before = flat();
  before.model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 704};
  struct Trait {
    void (*apply)(model::Moe&);
    std::string words;
  };
  using model::Moe;
  const std::vector<Trait> traits{
      {[](Moe& moe) { moe.first_dense_layers = 3; }, "first_dense_layers 3"},
      {[](Moe& moe) { moe.every = 2; }, "every 2"},
      {[](Moe& moe) { moe.capacity_factor = 1.25; }, "capacity_factor"},
      {[](Moe& moe) { moe.router_bias = true; }, "router_bias true"},
      {[](Moe& moe) { moe.expert_biases = true; }, "expert_biases true"},
      {[](Moe& moe) { moe.shared_experts = 1, moe.shared_ffn = 64, moe.shared_gate = true; },
       "shared_gate true"}};
  for (const auto& [apply, words] : traits) {
    auto after = before;
    apply(*after.model.moe);
    INFO(words);
    CHECK(tests::newly_lost(before, after, Framework::nanotron) ==
          std::vector<Lost>{
              {"model.moe", "model.moe." + words + ": nanotron's Qwen2 has none such"}});
  }
}

TEST_CASE(
    "nanotron computes in 32 or 16 bit, and sums gradients in fp32 or as wide as parameters") {
  using units::Precision;
  check(plain(),
        {{[](Scenario& s) { s.training.precision = Precision::fp16; }, {}, "  dtype: float16\n"},
         {[](Scenario& s) { s.training.precision = Precision::fp32; }, {}, "  dtype: float32\n"},
         {[](Scenario& s) { s.training.precision = Precision::tf32; },
          {{"training.precision",
            "training.precision tf32: nanotron has float32, float16 and bfloat16; float32 is "
            "written instead"}},
          "  dtype: float32\n"},
         {[](Scenario& s) {
            s.training.precision = Precision::fp8;
            s.training.fp8_recipe = strategies::Fp8Recipe::blockwise;
          },
          {{"training.precision",
            "training.precision fp8 with fp8_recipe blockwise: nanotron has float32, float16 and "
            "bfloat16; bfloat16 is written instead"}},
          "  dtype: bfloat16\n"},
         {[](Scenario& s) { s.training.precision = Precision::mxfp8; },
          {{"training.precision",
            "training.precision mxfp8: nanotron has float32, float16 and bfloat16; bfloat16 is "
            "written instead"}},
          "  dtype: bfloat16\n"}});
  auto whole = plain();
  whole.plan.bucket = units::Bytes{50.0 * (1 << 20)};  // whole MB of either width
  check(whole, {{[](Scenario& s) { s.plan.gradient_precision = Precision::bf16; },
                 {},
                 "  accumulate_grad_in_fp32: false\n"},
                {[](Scenario& s) { s.plan.gradient_precision = Precision::fp16; },
                 {{"gradient_precision",
                   "gradient_precision fp16: nanotron has fp32 and the parameters' precision"}},
                 "  accumulate_grad_in_fp32: false\n"}});
}

// A bucket counts gradients; nanotron's, in whole MB of 2^20 bytes, are as wide as parameters.
TEST_CASE("a bucket of so many gradients is the nearest whole number of MB of parameters") {
  constexpr double mb = 1 << 20;
  struct Case {
    double fp32_bytes;  // of gradients
    std::string written, sentence;
  };
  const std::vector<Case> cases{
      {50 * mb, "ddp_bucket_cap_mb: 25\n", ""},
      {2 * mb, "ddp_bucket_cap_mb: 1\n", ""},
      {51 * mb, "ddp_bucket_cap_mb: 26\n",
       "bucket of 13369344 gradients: nanotron counts buckets in whole MB; 26 MB, of 13631488 "
       "gradients, is written instead"},
      {0.5 * mb, "ddp_bucket_cap_mb: 1\n",  // never none
       "bucket of 131072 gradients: nanotron counts buckets in whole MB; 1 MB, of 524288 "
       "gradients, is written instead"}};
  for (const auto& [bytes, written, sentence] : cases) {
    auto s = plain();
    s.plan.bucket = units::Bytes{bytes};
    const auto launch = report::launch(s, Framework::nanotron);
    INFO(bytes);
    CHECK_THAT(launch.text, STEPCAST_HOLDS(written));
    CHECK(launch.not_expressed ==
          (sentence.empty() ? std::vector<Lost>{} : std::vector<Lost>{{"bucket", sentence}}));
  }
  auto s = plain();
  s.plan.bucket = units::Bytes{0};
  CHECK(report::launch(s, Framework::nanotron).not_expressed ==
        std::vector<Lost>{{"bucket", "bucket 0: nanotron reduces gradients in buckets of 25 MB"}});
}

TEST_CASE("nanotron divides optimizer states over all replicas, and nothing else") {
  using namespace strategies;
  check(
      flat(),
      {{[](Scenario& s) { s.training.optimizer = Optimizer::muon; },
        {{"training.optimizer",
          "training.optimizer muon: nanotron has adamW and sgd; adamW is written instead"}},
        "optimizer_factory: {name: adamW, "},
       {[](Scenario& s) { s.training.optimizer = Optimizer::sgd; },
        {},
        "optimizer_factory: {name: sgd}"},
       {[](Scenario& s) { s.training.optimizer = Optimizer::adam; }, {}, "weight_decay: 0.0\n"},
       {[](Scenario& s) { s.plan.zero = 2; },
        {{"zero",
          "zero 2: nanotron divides optimizer states only; 1 is written instead, which keeps "
          "whole gradients on each rank"}},
        "zero_stage: 1\n"},
       {[](Scenario& s) { s.plan.shard_group = ShardGroup::node; },
        {{"shard_group", "shard_group node: nanotron divides states over all replicas"}}},
       {[](Scenario& s) { s.plan.gather_bucket = units::Bytes{1e6}; },
        {{"bucket.gather", "bucket.gather 1000000 bytes: nanotron gathers parameters at once"}}}});
  check(flat("zero: 1, overlap: {parameters: false}"),
        {{[](Scenario& s) { s.plan.zero = 3, s.plan.reshard_after_forward = false; },
          {{"zero",
            "zero 3: nanotron divides optimizer states only; 1 is written instead, which keeps "
            "whole gradients and parameters on each rank"},
           {"reshard_after_forward",
            "reshard_after_forward false: nanotron keeps parameters whole here, at all times"}}},
         {[](Scenario& s) { s.plan.zero = 3, s.plan.wrap.layers = 2; },
          {{"zero",
            "zero 3: nanotron divides optimizer states only; 1 is written instead, which keeps "
            "whole gradients and parameters on each rank"},
           {"wrap", "wrap {layers: 2}: nanotron keeps parameters whole here, and gathers none"}}},
         {[](Scenario& s) {
            s.plan.zero = 2;
            s.plan.gradient_sync = GradientSync::step;
          },
          {{"zero",
            "zero 2: nanotron divides optimizer states only; 1 is written instead, which keeps "
            "whole gradients on each rank"},
           {"gradient_sync",
            "gradient_sync step: nanotron reduces gradients after every microbatch"}}}});
}

TEST_CASE("nanotron waits for what a plan would have beside computation") {
  check(plain(),
        {{[](Scenario& s) { s.plan.overlap.data = false; },
          {{"overlap.data",
            "overlap.data false: nanotron reduces gradients under the last backward pass"}}},
         {[](Scenario& s) { s.plan.overlap.parameters = true; },
          {{"overlap.parameters",
            "overlap.parameters true: nanotron waits for gathered parameters"}}},
         {[](Scenario& s) { s.plan.overlap.pipeline = true; },
          {{"overlap.pipeline", "overlap.pipeline true: nanotron waits for its transfers"}}},
         {[](Scenario& s) { s.plan.overlap.tensor = true; },
          {},
          "tp_linear_async_communication: true\n  tp_mode: REDUCE_SCATTER\n"},
         {[](Scenario& s) { s.plan.overlap.tensor = true, s.plan.sequence_parallel = false; },
          {{"overlap.tensor",
            "overlap.tensor true: nanotron needs sequence_parallel for it; here layers wait for "
            "their sums"}},
          "tp_linear_async_communication: false\n  tp_mode: ALL_REDUCE\n"}});
}

TEST_CASE("nanotron has two schedules, one stage per rank, and layers where it reckons them") {
  using namespace strategies;
  check(
      plain(),
      {{[](Scenario& s) { s.plan.schedule = ScheduleKind::gpipe; }, {}, "pp_engine: afab\n"},
       {[](Scenario& s) { s.plan.schedule = ScheduleKind::zb_h1; },
        {{"schedule",
          "schedule zb-h1: nanotron has 1f1b and afab (gpipe); 1f1b is written instead"}},
        "pp_engine: 1f1b\n"},
       {[](Scenario& s) { s.plan.schedule = ScheduleKind::interleaved, s.plan.virtual_stages = 2; },
        {{"schedule",
          "schedule interleaved: nanotron has 1f1b and afab (gpipe); 1f1b is written instead"},
         {"virtual_stages", "virtual_stages 2: nanotron has one stage per pipeline rank"}}},
       {[](Scenario& s) {
          s.plan.layers_per_stage = {15, 17};
        },
        {{"layers_per_stage",
          "layers_per_stage [15, 17]: nanotron divides layers by what it reckons that they "
          "cost"}}}});
  check(flat(), {{[](Scenario& s) { s.plan.schedule = ScheduleKind::gpipe; },
                  {{"schedule",
                    "schedule gpipe: on one pipeline rank nanotron runs one microbatch after the "
                    "other"}}}});
}

TEST_CASE("nanotron spreads experts over replicas, and divides them as layers") {
  auto before = flat();  // sixteen replicas
  before.model.moe = model::Moe{.experts = 32, .top_k = 2, .expert_ffn = 704};
  using enum strategies::Degree;
  before.plan.rank_order = {tensor, context, data, pipeline, expert};
  check(before,
        {{[](Scenario& s) { s.plan.expert = 4; }, {}, "  dp: 4\n  expert_parallel_size: 4\n"},
         {[](Scenario& s) { s.plan.expert = 32, s.plan.expert_tensor = 1; },
          {{"expert",
            "expert 32: nanotron's experts are divided by replicas, of which there are 16; 1 is "
            "written instead"},
           {"expert_tensor", "expert_tensor 1: nanotron divides experts as layers, by 2"}},
          "  dp: 16\n  expert_parallel_size: 1\n"},
         {[](Scenario& s) { s.plan.expert = 4, s.plan.overlap.expert = true; },
          {{"overlap.expert", "overlap.expert true: nanotron's layers wait for their tokens"}}}});
}

TEST_CASE(
    "nanotron keeps everything on the device, and takes the way to divide sequences from code") {
  using Tier = strategies::Offload::Tier;
  check(flat(),
        {{[](Scenario& s) { s.plan.offload.optimizer = Tier::nvme; },
          {{"offload.optimizer", "offload.optimizer nvme: nanotron keeps it on the device"}}},
         {[](Scenario& s) { s.plan.offload = {.optimizer = Tier::cpu, .gradients = true}; },
          {{"offload.optimizer", "offload.optimizer cpu: nanotron keeps it on the device"},
           {"offload.gradients", "offload.gradients cpu: nanotron keeps it on the device"}}},
         {[](Scenario& s) { s.plan.offload.parameters = Tier::cpu; },
          {{"offload.parameters", "offload.parameters cpu: nanotron keeps it on the device"}}},
         {[](Scenario& s) {
            s.plan.offload.activations = true;
            s.plan.offload.activation_layers = 3;
            s.plan.offload.activation_modules = {model::Module::core_attn, model::Module::mlp};
          },
          {{"offload.activations",
            "offload.activations cpu of core_attn and mlp in 3 layers of each rank: nanotron keeps "
            "it on the device"}}},
         {[](Scenario& s) { s.plan.context = 2, s.plan.data = 8; },
          {{"context_method",
            "context_method ring: nanotron takes it from the model's implementation of attention"}},
          "context_parallel_size: 2\n"}});
}

TEST_CASE("nanotron recomputes all layers whole or none, each by itself") {
  using strategies::Recompute;
  using Kind = Recompute::Kind;
  constexpr const char* written = "  recompute_layer: true\n";
  check(plain(),
        {{[](Scenario& s) { s.plan.recompute.kind = Kind::full; }, {}, written},
         {[](Scenario& s) { s.plan.recompute = {.kind = Kind::full, .every = {4}}; },
          {{"recompute.checkpoint_every",
            "recompute.checkpoint_every: nanotron keeps the input of every layer that is "
            "recomputed, which takes more memory and no more time"}},
          written},
         {[](Scenario& s) { s.plan.recompute = {.kind = Kind::full_layers, .layers = 4}; },
          {{"recompute",
            "recompute: the plan recomputes stages 0-1: 4 of 16 layers whole; nanotron recomputes "
            "all layers whole or nothing, and all layers whole is written instead"}},
          written},
         {[](Scenario& s) {
            s.plan.recompute_of_stage = {{Kind::full}, {Kind::per_op}};
          },
          {{"recompute",
            "recompute: the plan recomputes stage 0: all layers whole; stage 1: all but every "
            "second product of all layers; nanotron recomputes all layers whole or nothing, and "
            "all layers whole is written instead"}},
          written}});
}

TEST_CASE("constants that nanotron lacks or no scenario has are left to whoever starts it") {
  const auto undecided = [](const Scenario& s) {
    return report::launch(s, Framework::nanotron).undecided;
  };
  CHECK(undecided(plain()) ==
        std::vector<std::string>{"scaling of rotary positions: nanotron's classes have none; they "
                                 "are as the model was trained with first"});
  CHECK(undecided(tests::plain_scenario("nanotron", "llama2-7b")).empty());
  CHECK_THAT(
      report::launch(tests::plain_scenario("nanotron", "llama2-7b"), Framework::nanotron).text,
      STEPCAST_HOLDS("    rms_norm_eps: 1.0e-05\n    rope_theta: 10000.0\n"));
  auto another = plain();
  another.model.layers = 30;  // no longer the model that has these constants
  CHECK(undecided(another) ==
        std::vector<std::string>{
            "rope_theta and rms_norm_eps of the model: nanotron's 10000 and 1e-6 hold"});
}

}  // namespace lost_by_nanotron_spec
