// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/catalog.hpp"
#include "scenarios/checks/checks.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/purchase/purchase_file.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/search_file.hpp"
#include "tests/catch.hpp"

namespace reader_spec {

using scenarios::read_scenario;
namespace fs = std::filesystem;

namespace {

const fs::path source = STEPCAST_SOURCE_DIR;

constexpr auto gpt3 = R"(
model: gpt3-175b
cluster: {node: dgx-a100-80gb, nodes: 128}
training: {sequence_length: 2048, global_batch: 1536}
plan: {tensor: 8, pipeline: 16}
)";

forecast::Scenario with(std::vector<std::string> sets) {
  return read_scenario(gpt3, "gpt3.yaml", sets);
}

std::string complaint(std::vector<std::string> sets) {
  try {
    with(std::move(sets));
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "no complaint";
}

std::vector<fs::path> files(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == extension) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("keys that a scenario leaves out have the promised defaults") {
  const auto scenario = with({});
  CHECK(scenario.training.precision == units::Precision::bf16);
  CHECK(scenario.training.optimizer == strategies::Optimizer::adamw);
  auto usual = scenarios::catalog_software("megatron-core");
  usual.kernels.attention = model::AttentionKernel::flash;  // as Transformer Engine has it on A100
  CHECK(scenario.software == usual);
  CHECK(scenario.cluster.fabric == scenarios::catalog_fabric("hdr-rail-fat-tree"));
  CHECK(scenario.cluster.gpus == 1024);
  CHECK(scenario.plan.data == 8);  // 1024 / (8 x 16)
  CHECK(scenario.plan.micro_batch == 1);
  CHECK(scenario.plan.recompute.kind == strategies::Recompute::Kind::none);
  CHECK(scenario.model.kv_heads == 96);
  CHECK(scenario.model.head_dim == 128);
  CHECK(scenario.model.ffn == 49152);
}

TEST_CASE("a file with mistakes is answered with all of them, as agreed") {
  const auto mistaken = files(source / "tests/scenarios/golden", ".yaml");
  CHECK(mistaken.size() >= 19);
  for (const auto& file : mistaken) {
    CAPTURE(file.filename().string());
    std::string answer = "no complaint";
    try {
      read_scenario(scenarios::read_file(file), file.filename().string(), {}, file.parent_path());
    } catch (const scenarios::Error& wrong) {
      answer = wrong.what();
    }
    CHECK(answer + "\n" == scenarios::read_file(fs::path(file).replace_extension(".txt")));
  }
}

TEST_CASE("every example loads, without a warning") {
  const auto examples = files(source / "scenarios/examples", ".yaml");
  CHECK(examples.size() >= 8);
  for (const auto& file : examples) {
    CAPTURE(file.filename().string());
    if (file.filename().string().starts_with("purchase-")) {
      CHECK_NOTHROW(scenarios::load_placed_purchase(file));
      continue;
    }
    if (file.filename().string().find("-search-") != std::string::npos) {
      CHECK_NOTHROW(scenarios::load_question(file));
      continue;
    }
    const auto [scenario, origin] = scenarios::load_placed_scenario(file);
    CHECK(scenarios::warnings(scenario).empty());
    const auto published = scenarios::published_in(origin);
    if (published) CHECK(published->step_time.value > 0);
    if (published) CHECK_FALSE(published->source.empty());
  }
}

TEST_CASE("--set edits the document before it is read") {
  CHECK(with({"plan.micro_batch=2"}).plan.micro_batch == 2);
  CHECK(with({"plan.overlap.data=false"}).plan.overlap.data == false);
  CHECK(with({"cluster.node.gpus=4", "cluster.nodes=256"}).cluster.node.nics.count == 4);
  CHECK(with({"cluster.nodes=null", "cluster.gpus=512"}).cluster.gpus == 512);
  CHECK(with({"plan={tensor: 4, pipeline: 8}"}).plan.data == 32);
  CHECK(with({"model.layers=32"}).model.hidden == 12288);  // the name became a base
  CHECK(with({"plan.recompute.full_layers=2"}).plan.recompute.layers == 2);
}

TEST_CASE("a mistake in --set is reported under its number") {
  CHECK(
      complaint({"plan.tensor=8", "plan.tensr=4"}).starts_with("--set 2: plan.tensr: unknown key"));
  CHECK_THAT(complaint({"plan.tensr=4"}), STEPCAST_HOLDS("did you mean 'tensor'?"));
  CHECK(complaint({"plan.tensor"}) ==
        "--set 1: 'plan.tensor' is no assignment; expected path.to.key=value");
  CHECK(complaint({"plan.tensor="}) ==
        "--set 1: plan.tensor: no value after '='; write null to remove the key");
  CHECK(complaint({"plan.tensor.x=1"}) ==
        "--set 1: plan.tensor.x: 'plan.tensor' is a single value without key 'x'");
  CHECK(complaint({"plan.tensor=[1"}) ==
        "--set 1: plan.tensor: this is not YAML: end of sequence flow not found");
  CHECK(complaint({"training.global_batch=1537"}) ==
        "--set 1: training.global_batch: 1537 is not divisible by micro_batch 1 x data 8 = 8: "
        "every replica runs whole microbatches; write 1536 or 1544");
}

TEST_CASE("choices that only a search makes are refused as unsupported") {
  const std::string active = "plan.recompute=optimal";
  try {
    with({active, "plan.pipeline=1"});
    FAIL("it was accepted");
  } catch (const scenarios::Error& wrong) {
    CAPTURE(wrong.what());
    CHECK(scenarios::only_unsupported(wrong));
    CHECK_THAT(wrong.what(), STEPCAST_HOLDS("is chosen by `stepcast search`"));
  }
}

TEST_CASE("a card with more memory shows the same share of it") {
  const auto scenario = with({"cluster.node.device.memory=96 GiB"});
  CHECK(scenario.cluster.node.device.memory.value == 96 * 0x1p30);
  CHECK(scenario.cluster.node.device.usable_memory.value == Approx(96 * 0x1p30 * 79.2 / 80));
  CHECK(scenario.cluster.node.device.name == "a100-80gb-sxm");
}

TEST_CASE("no more memory can be used than there is") {
  CHECK_NOTHROW(with({"cluster.node.device.usable_memory=80 GiB"}));
  CHECK_THROWS_WITH(with({"cluster.node.device.usable_memory=90 GiB"}),
                    STEPCAST_HOLDS("usable_memory: 90.0 GiB is more than the 80.0 GiB of memory; "
                                   "write what the driver lets a process see of it"));
}

TEST_CASE("part of a rack has its share of the NICs and of the power") {
  const auto node =
      with({"cluster.node={base: gb200-nvl72, gpus: 64}", "cluster.nodes=16"}).cluster.node;
  CHECK(node.gpus == 64);
  CHECK(node.nics.count == 64);
  CHECK(node.power.value == Approx(120e3 * 64 / 72));
}

TEST_CASE("TCP uses one NIC of a node") {
  CHECK(with({"cluster.fabric=ethernet-100g"}).cluster.node.nics.count == 1);
}

TEST_CASE("key and value heads may be fewer than tensor-parallel ranks") {
  CHECK_NOTHROW(with({"model=llama3-70b", "plan.tensor=16", "plan.pipeline=8"}));
  CHECK_THAT(complaint({"model=llama3-70b", "model.heads=96", "plan.tensor=12", "cluster.nodes=192",
                        "model.head_dim=128"}),
             STEPCAST_HOLDS("12 and 8 kv_heads do not divide each other"));
}

TEST_CASE("a sequence beyond the model's own length is a warning") {
  const auto warnings = scenarios::warnings(with({"training.sequence_length=4096"}));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "training.sequence_length 4096 is beyond the model's max_sequence 2048; learned positions "
        "are extended");
}

TEST_CASE("a key of a plan that cannot have an effect is a warning") {
  const auto warned = [](const std::vector<std::string>& sets) {
    std::string all;
    for (const auto& warning : scenarios::warnings(with(sets))) all += warning + "\n";
    return all;
  };
  const std::string one_gpu = "cluster={node: dgx-a100-80gb, gpus: 1}", plain = "plan={}";
  const auto alone = [&](const std::string& set) {
    return warned({one_gpu, plain, "model=gpt2-xl", "training.sequence_length=1024",
                   "training.global_batch=1", "plan." + set});
  };
  CHECK(alone("zero=0").empty());
  CHECK(alone("sequence_parallel=true") == "plan.sequence_parallel has no effect with tensor 1\n");
  CHECK(alone("context_method=ulysses") == "plan.context_method has no effect with context 1\n");
  CHECK(alone("reshard_after_forward=false") ==
        "plan.reshard_after_forward has no effect without zero: 3, which gathers parameters\n");
  CHECK(alone("shard_group=node") ==
        "plan.shard_group has no effect with zero: 0, which shards nothing\n");
  CHECK(alone("gradient_compression=onebit") ==
        "plan.gradient_compression has no effect with data 1 and context 1: nothing is reduced\n");
  // Two ranks hold each expert.
  CHECK(warned({"cluster={node: dgx-h100, gpus: 4}", "model=mixtral-8x7b",
                "plan={tensor: 4, sequence_parallel: true, expert: 2, expert_tensor: 1}",
                "training.sequence_length=1024", "training.global_batch=1",
                "plan.gradient_compression=fp8"})
            .empty());
  CHECK(warned({one_gpu, "plan={recompute: full}", "model=gpt2-xl", "training.sequence_length=1024",
                "training.global_batch=1", "plan.activation_compression=int8"}) ==
        "plan.activation_compression does next to nothing with recompute: full, which keeps the "
        "layers' inputs only\n");
}

TEST_CASE("experts and attention that contradict themselves are refused") {
  const std::vector<std::string> mixtral{"model=mixtral-8x7b", "plan={tensor: 1, expert: 8}"};
  const auto with_one = [&](const std::string& set) {
    auto sets = mixtral;
    sets.push_back(set);
    return complaint(sets);
  };
  CHECK_THAT(with_one("model.moe.imbalance=30"),
             STEPCAST_HOLDS("imbalance 30 with expert 8: a rank that had all tokens would have 8 "
                            "times the mean; write no more than that"));
  CHECK_THAT(with_one("model.moe.first_dense_layers=40"),
             STEPCAST_HOLDS("40 of 32 layers: no layer has experts"));
  CHECK_THAT(with_one("model.moe.capacity_factor=0"), STEPCAST_HOLDS("0.01 to 1,000"));
  CHECK_THAT(with_one("model.attention={kind: mqa}"),
             STEPCAST_HOLDS("mqa has 1 kv_heads, but the model has 8; write gqa, or leave one of "
                            "the two out"));
}

}  // namespace reader_spec
