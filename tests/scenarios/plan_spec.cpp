// SPDX-License-Identifier: Apache-2.0
// The meaning of every key of plan, training and software.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace plan_spec {

namespace {

using strategies::Plan;
using strategies::Recompute;
using tests::corpus;
using tests::llama;
using tests::read;
using tests::Sets;
using Kind = Recompute::Kind;

Plan plan(const Sets& sets) { return read(llama, sets).plan; }
Recompute recompute(const std::string& written) {
  return plan({"plan.recompute=" + written}).recompute;
}

}  // namespace

TEST_CASE("a plan that names every key is read as it stands") {
  using namespace strategies;
  const auto scenario = read(corpus("valid_every_key"));
  Plan expected{.tensor = 4, .pipeline = 4, .data = 4, .context = 2, .expert_tensor = 4};
  expected.context_method = ContextMethod::all_gather;
  expected.sequence_parallel = true;
  expected.micro_batch = 2;
  expected.schedule = ScheduleKind::v_half;
  expected.virtual_stages = 2;
  expected.layers_per_stage = {9, 10, 10, 11, 11, 10, 10, 9};
  expected.zero = 3;
  expected.reshard_after_forward = false;
  expected.gradient_sync = GradientSync::step;
  expected.shard_group = ShardGroup::node;
  expected.wrap = {2};
  expected.recompute_of_stage = {
      {Kind::none, 0, {}},        {Kind::selective, 0, {}},
      {Kind::full, 0, {}},        {Kind::per_op, 0, {}},
      {Kind::full_layers, 3, {}}, {Kind::modules, 0, {Module::layernorm, Module::mlp}},
      {Kind::none, 0, {}},        {Kind::none, 0, {}}};
  expected.offload.optimizer = Offload::Tier::nvme;
  expected.offload.parameters = Offload::Tier::cpu;
  expected.offload.gradients = expected.offload.activations = true;
  expected.offload.activation_modules = {Module::core_attn, Module::mlp};
  expected.activation_compression = ActivationCompression::int8;
  expected.overlap = {true, false, true, false, true};
  expected.gradient_precision = units::Precision::bf16;
  expected.master_weights = units::Precision::fp16;
  expected.gradient_compression = GradientCompression::fp8;
  expected.bucket = units::Bytes{25e6};
  expected.gather_bucket = units::Bytes{1e7};
  expected.rank_order = {Degree::tensor, Degree::pipeline, Degree::context, Degree::expert,
                         Degree::data};
  CHECK(scenario.plan == expected);
  CHECK(scenario.training == Training{.sequence_length = 8192,
                                      .global_batch = 128,
                                      .precision = units::Precision::fp8,
                                      .fp8_recipe = Fp8Recipe::blockwise,
                                      .optimizer = Optimizer::sgd,
                                      .padding = 0.1,
                                      .tokens = 2e12});
  const auto& software = scenario.software;
  CHECK(software.kernels.attention == model::AttentionKernel::fused);
  CHECK(software.kernels.fused_cross_entropy);
  CHECK(software.compile);
  CHECK_FALSE(software.cuda_graphs);
  CHECK(software.graphed_parts == std::vector{GraphedPart::attn, GraphedPart::moe_router});
  CHECK(software.moe_dispatcher == MoeDispatcher::deepep);
  CHECK(software.data_loader == DataLoader{12.5, 4});
  CHECK(software.overlap_expert);
  CHECK(software.post_validation);
  CHECK_FALSE(software.limit_all_gathers);
  CHECK(software.root_unit);
}

TEST_CASE("keys that are left out change nothing") {
  CHECK(read(llama).plan == Plan{.tensor = 8, .data = 16});
  CHECK(plan({"plan.recompute=none", "plan.offload=none", "plan.wrap=layer", "plan.expert=1",
              "plan.gradient_compression=none", "plan.layers=[]"}) ==
        Plan{.tensor = 8, .data = 16});
  CHECK_FALSE(read(llama).software.data_loader);
}

TEST_CASE("single layers can have a choice of their own") {
  CHECK(plan({"plan.layers=[{from: 0, to: 3, recompute: full}, {from: 9, to: 9, recompute: "
              "{selective: [mlp]}}]"})
            .layers ==
        std::vector<strategies::LayerStrategy>{
            {0, 3, Recompute{Recompute::Kind::full, 0, {}}},
            {9, 9, Recompute{Recompute::Kind::modules, 0, {strategies::Module::mlp}}}});
}

TEST_CASE("data is the number of GPUs over tensor, context and pipeline") {
  CHECK(plan({"plan.tensor=4", "plan.context=2", "plan.pipeline=4"}).data == 4);
}

TEST_CASE("recomputation is a word, a number of layers, rows of them, or a choice of modules") {
  using strategies::Module;
  CHECK(recompute("none").kind == Kind::none);
  CHECK(recompute("selective").kind == Kind::selective);
  CHECK(recompute("full").kind == Kind::full);
  CHECK(recompute("per-op").kind == Kind::per_op);
  CHECK(recompute("{full_layers: 7}") == Recompute{Kind::full_layers, 7, {}});
  CHECK(recompute("{checkpoint_every: 4}") == Recompute{Kind::full, 0, {}, {4}});
  CHECK(recompute("{checkpoint_every: [8, 2]}") == Recompute{Kind::full, 0, {}, {8, 2}});
  CHECK(recompute("{checkpoint_every: 1}") == Recompute{Kind::full, 0, {}});
  CHECK(recompute("{full_layers: 7, checkpoint_every: 3}") ==
        Recompute{Kind::full_layers, 7, {}, {3}});
  CHECK(recompute("{selective: [core_attn]}") == Recompute{Kind::selective, 0, {}});
  CHECK(recompute("{selective: [mlp, core_attn]}") ==
        Recompute{Kind::modules, 0, {Module::core_attn, Module::mlp}});
}

TEST_CASE("kept activations are offloaded whole, of some layers, or of some modules") {
  using strategies::Module;
  const auto offload = [](const std::string& to) {
    return plan({"plan.offload.activations=" + to}).offload;
  };
  CHECK(offload("cpu") == strategies::Offload{.activations = true});
  CHECK(offload("{to: cpu, layers: 20}").activation_layers == 20);
  CHECK(offload("{to: cpu, modules: [mlp]}").activation_modules == std::vector{Module::mlp});
}

TEST_CASE("a wrap is a number of layers, or the model") {
  const auto wrap = [](const std::string& written) {
    return plan({"plan.zero=3", "plan.wrap=" + written}).wrap.layers;
  };
  CHECK(wrap("layer") == 1);
  CHECK(wrap("{layers: 4}") == 4);
  CHECK(wrap("model") == 0);
}

TEST_CASE("graphs hold whole passes or parts of a layer") {
  const auto software = [](const std::string& written) {
    return read(llama, {"software.cuda_graphs=" + written}).software;
  };
  CHECK(software("true").cuda_graphs);
  CHECK(software("[full, attn]").cuda_graphs);
  CHECK(software("[full, attn]").graphed_parts.empty());
  CHECK(software("[attn]").graphed_parts == std::vector{strategies::GraphedPart::attn});
  CHECK(software("[]") == software("false"));
}

TEST_CASE("a data loader has a speed") {
  CHECK(tests::complaint({"software.data_loader={prefetch: 2}"}) ==
        "software.data_loader: missing key 'samples_per_second'; a loader has a speed");
  CHECK(read(llama, {"software.data_loader.samples_per_second=3"}).software.data_loader ==
        strategies::DataLoader{3, 2});
}

TEST_CASE("an allocator is set up as PYTORCH_CUDA_ALLOC_CONF has it, or takes a share at once") {
  const auto allocator = [](const std::string& written) {
    return read(llama, {"software.allocator=" + written}).software.allocator;
  };
  CHECK(allocator("{}") == strategies::AllocatorSettings{});
  CHECK(allocator("{expandable_segments: true}").expandable_segments);
  CHECK(allocator("{max_split_size_mb: 128}").max_split_size_mb == 128);
  CHECK(allocator("{roundup_power2_divisions: 8}").roundup_power2_divisions == 8);
  CHECK(allocator("{garbage_collection_threshold: 0.8}").garbage_collection_threshold == 0.8);
  CHECK(allocator("{preallocated: 0.75}").preallocated == 0.75);
  CHECK(tests::complaint({"software.allocator={roundup_power2_divisions: 3}"}) ==
        "software.allocator: roundup_power2_divisions 3 is no power of two; write 1, 2, 4, 8, 16, "
        "32 or 64");
}

TEST_CASE("--set turns a word or a size into the mapping that it stands for") {
  CHECK(plan({"plan.bucket=1e8", "plan.bucket.gather=2e8"}).bucket == units::Bytes{1e8});
  CHECK(plan({"plan.offload=none", "plan.offload.optimizer=cpu", "plan.offload.activations=cpu",
              "plan.offload.activations.layers=4"})
            .offload.activation_layers == 4);
  CHECK(plan({"plan.zero=3", "plan.wrap=model", "plan.wrap.layers=4"}).wrap.layers == 4);
  CHECK(plan({"plan.recompute=full", "plan.recompute.full_layers=2"}).recompute.layers == 2);
}

}  // namespace plan_spec
