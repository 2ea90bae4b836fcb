// SPDX-License-Identifier: Apache-2.0
// Values that are well formed and mean something else than their writer thinks.
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/checks/checks.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/file_kind.hpp"
#include "scenarios/measured/doubtful.hpp"
#include "scenarios/purchase/purchase_file.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"
#include "tests/scenarios/purchases.hpp"

namespace implausible_spec {

namespace {

using tests::complaint;
using tests::complaints_of;

constexpr auto none = "no complaint";

std::string of_node(const std::string& keys) {
  return complaint({"cluster.node={base: dgx-h100, " + keys + "}"});
}

std::string of_purchase(const std::string& more, const std::string& node = "dgx-h100") {
  const std::string text =
      "workload: {model: llama3-8b, training: {sequence_length: 8192, global_batch: 64}, tokens: "
      "1e12}\n" +
      more + "\noptions:\n  - {name: a, cluster: {node: " + node + ", nodes: 4}}\n";
  return complaints_of([&] { tests::read_purchase(text, "p.yaml"); });
}

}  // namespace

TEST_CASE("a device has a GiB of memory at least, which moves 10 GB/s at least") {
  CHECK(of_node("device: {memory: 80}") ==
        "cluster.node.device.memory: 80 is out of range; expected 1.00 GiB to 16.0 TiB: a bare "
        "number is in bytes; write e.g. '80 GiB'");
  CHECK_THAT(of_node("device: {memory_bandwidth: 3.35 GB/s}"),
             STEPCAST_HOLDS("3.35 GB/s is out of range; expected 10.0 GB/s to 1.00 PB/s"));
  CHECK(of_node("device: {memory: 94 GB, memory_bandwidth: 3.9 TB/s}") == none);
}

TEST_CASE("a peak or a link that lacks its unit is refused with the unit to write") {
  CHECK(of_node("device: {peak: {bf16: 989}}") ==
        "cluster.node.device.peak.bf16: 989 is slower than any device; a bare number is in FLOP/s: "
        "write e.g. '989 TFLOP/s'");
  CHECK(of_node("device: {peak: {fp8: 0}}") == none);
  CHECK(of_node("device: {peak: {bf16: 989 TFLOP/s}}") == none);
  CHECK_THAT(of_node("nvlink: {bandwidth: 900}"), STEPCAST_HOLDS("write e.g. '450 GB/s'"));
}

namespace {

// The warnings about a small job on an H100 with one more --set.
std::vector<std::string> doubts(const std::string& set) {
  const std::vector sets{set};
  return scenarios::doubtful_values(scenarios::read_scenario(
      "model: llama3-8b\ntraining: {sequence_length: 4096, global_batch: 8}\n"
      "cluster: {node: dgx-h100, gpus: 8, fabric: ndr-rail-fat-tree}\n",
      "run.yaml", sets));
}

}  // namespace

TEST_CASE("times of launches and hops that are as long as if they lacked their unit are doubted") {
  const auto doubt = [](const std::string& set) {
    const auto all = doubts(set);
    return all.size() == 1 ? all.front() : std::to_string(all.size()) + " warnings";
  };
  CHECK(doubt("software.launch_forward=8") ==
        "software.launch_forward is 8.00 s, far longer than any that is known; a bare number is in "
        "seconds: write e.g. '8 us'");
  CHECK_THAT(doubt("cluster.node.nics.latency=5"),
             STEPCAST_HOLDS("cluster.node.nics.latency is 5.00 s"));
  for (const std::string key :
       {"cluster.node.device.efficiency.kernel_gap", "cluster.node.nvlink.latency",
        "cluster.node.nvlink.launch", "cluster.node.pcie.latency", "cluster.fabric.latency",
        "cluster.fabric.launch", "software.launch_backward", "software.step_overhead_per_tensor"}) {
    CHECK_THAT(doubt(key + "=5"), STEPCAST_HOLDS(key + " is 5.00 s"));
    CHECK(doubts(key + "=5 us").empty());
  }
  CHECK(doubts("software.step_overhead=3").empty());
}

TEST_CASE("figures of a formula are doubted where measured kernels of the device decide instead") {
  const std::string efficiency = "cluster.node.device.efficiency.";
  const auto of = doubts(efficiency + "product_plateau=0.3");
  REQUIRE(of.size() == 1);
  CHECK(of.front() ==
        efficiency +
            "product_plateau has next to no effect: measured rates of products decide on this "
            "device; for slower ones give cluster.node.device.efficiency.slowdown.products");
  CHECK(doubts(efficiency + "product_half_depth=500").size() == 1);
  CHECK(doubts(efficiency + "attention_plateau=0.25").size() == 1);
  CHECK(doubts(efficiency + "sustained_clock=0.8").empty());
  // An MI300X has no table, and a resolved scenario shows the figures that its device has anyway.
  CHECK(doubts("cluster.node={base: mi300x-8, device: {efficiency: {product_plateau: 0.3}}}")
            .empty());
  CHECK(doubts("cluster.node.device.memory=80 GiB").empty());
}

TEST_CASE("a node draws 10 W to 25 kW for each of its GPUs") {
  CHECK(of_node("power: 10 MW") ==
        "cluster.node.power: 10 MW is out of range; expected 0 W to 1.00 MW: no node or rack draws "
        "a megawatt");
  CHECK(of_node("power: 300 kW") ==
        "cluster.node.power: 300 kW is out of range; expected 80.0 W to 200 kW for 8 GPUs: the "
        "power of one node, such as '10.2 kW'");
  CHECK_THAT(of_node("power: 10.2"), STEPCAST_HOLDS("10.2 W is out of range"));
  CHECK_THAT(of_node("device: {power: 700 kW}"), STEPCAST_HOLDS("write e.g. '700 W'"));
  CHECK_THAT(of_node("device: {power: 0.7}"), STEPCAST_HOLDS("for 1 GPU, such as '700 W'"));
  CHECK(of_node("power: 14 kW") == none);
}

TEST_CASE("money of a scenario is in USD") {
  CHECK(of_node("price: 3e5 EUR") ==
        "cluster.node.price: '3e5 EUR' is in EUR, and money of scenarios is in USD: money is not "
        "mixed; write it in USD");
  CHECK(of_node("price: 0.3 M USD") == none);
}

TEST_CASE("money of a purchase is in its currency, wherever that is given") {
  const std::string node = "{base: dgx-h100, price: 3e5 EUR}";
  CHECK_THAT(of_purchase("economics: {currency: USD}", node),
             STEPCAST_HOLDS("options.0.cluster.node.price: '3e5 EUR' is in EUR, and "
                            "economics.currency is USD"));
  CHECK(of_purchase("constraints: {budget: 5 M EUR}\neconomics: {currency: EUR}", node) == none);
  CHECK_THAT(of_purchase("constraints: {budget: 5 M EUR}"), STEPCAST_HOLDS("'5 M EUR' is in EUR"));
}

TEST_CASE("a training has the tokens of one step at least") {
  const std::string said =
      "training.tokens: 300 tokens are less than one step of 1,048,576; write those of the whole "
      "training, such as '2 T tokens'";
  CHECK(complaint({"training.tokens=300", "training.global_batch=128"}) == said);
  CHECK_THAT(complaints_of([] {
               tests::read_purchase(
                   "workload: {model: llama3-8b, training: {sequence_length: 8192, global_batch: "
                   "128}, tokens: 300}\noptions:\n  - {name: a, cluster: {node: dgx-h100, nodes: "
                   "4}}\n",
                   "p.yaml");
             }),
             STEPCAST_HOLDS("workload.tokens: 300 tokens are less than one step of 1,048,576"));
}

TEST_CASE("a deadline is an hour at least, and a bare number is in seconds") {
  CHECK_THAT(of_purchase("constraints: {deadline: 60}"),
             STEPCAST_HOLDS("constraints.deadline: 60 is out of range; expected 60.0 min to 100 "
                            "years: a bare number is in seconds; write e.g. '60 days'"));
  CHECK_THAT(of_purchase("constraints: {deadline: 2 months}"),
             STEPCAST_HOLDS("a month has no fixed length; write e.g. '60 days'"));
  CHECK_THAT(of_purchase("constraints: {deadline: soon}"),
             STEPCAST_HOLDS("unknown duration 'soon'; write e.g. '60 days'"));
}

TEST_CASE("budget_of needs a budget") {
  CHECK_THAT(of_purchase("constraints: {budget_of: capital}"),
             STEPCAST_HOLDS("constraints.budget_of: says what a budget bounds, and there is none"));
}

TEST_CASE("a rate of links or NICs that the other overrides is a warning where both are given") {
  const auto warned = [](const std::string& links, const std::string& nics) {
    const std::string text =
        "model: llama3-8b\ncluster:\n  nodes: 2\n  node: {base: dgx-h100, nics: {bandwidth: " +
        nics + "}}\n  fabric: {base: ndr-rail-fat-tree, link_bandwidth: " + links +
        "}\ntraining: {sequence_length: 8192, global_batch: 128}\n";
    const auto all = scenarios::warnings(tests::read(text), scenarios::parse_yaml(text, "f.yaml"));
    return all.empty() ? std::string() : all.front();
  };
  CHECK(warned("400 GB/s", "50 GB/s") ==
        "cluster.fabric.link_bandwidth 400 GB/s makes no message faster than "
        "cluster.node.nics.bandwidth 50.0 GB/s: the lower of both holds");
  CHECK_THAT(warned("50 GB/s", "100 GB/s"),
             STEPCAST_HOLDS("cluster.node.nics.bandwidth 100 GB/s makes no message faster"));
  CHECK(warned("60 GB/s", "50 GB/s").empty());
}

TEST_CASE("a single value in place of a map is answered with the keys of the map") {
  CHECK(complaint({"plan.overlap=false"}) ==
        "plan.overlap: a single value where a map belongs; its keys are data, tensor, pipeline, "
        "parameters, expert");
}

TEST_CASE("a file of another kind is named with the command that reads it") {
  const std::string scenario =
      "model: llama3-8b\ncluster: {node: dgx-h100, nodes: 2}\ntraining: {}\n";
  const std::string sweep = "base: a.yaml\nvary: {plan.tensor: [1, 2]}\n";
  const std::string purchase = "workload: {}\noptions: []\n";
  const auto as_purchase = [](const std::string& text) {
    return complaints_of([&] { tests::read_purchase(text, "f.yaml"); });
  };
  const auto as_sweep = [](const std::string& text) {
    return complaints_of([&] { scenarios::read_grid(text, "f.yaml", {}); });
  };
  CHECK(as_purchase(scenario) ==
        "this is a scenario, not a purchase; give it to stepcast simulate or stepcast search");
  CHECK(as_purchase(sweep) == "this is a sweep, not a purchase; give it to stepcast sweep");
  CHECK(as_sweep(purchase) == "this is a purchase, not a sweep; give it to stepcast purchase");
  CHECK_THAT(as_sweep(scenario), STEPCAST_HOLDS("this is a scenario, not a sweep"));
}

TEST_CASE("every key at the top of a file tells its kind, but for name and search") {
  using scenarios::FileKind;
  const std::pair<FileKind, std::string> kinds[] = {
      {FileKind::scenario, scenarios::scenario_schema()},
      {FileKind::sweep, scenarios::sweep_schema()},
      {FileKind::purchase, scenarios::purchase_schema()}};
  for (const auto& [kind, schema] : kinds) {
    const auto read = nlohmann::json::parse(schema);
    for (const auto& property : read["properties"].items()) {
      const auto& key = property.key();
      CAPTURE(key);
      if (key != "name" && key != "search")
        CHECK(scenarios::file_kind_of(scenarios::parse_yaml(key + ": 1\n", "f.yaml")) == kind);
    }
  }
}

TEST_CASE("a key of the scenario beside those of a sweep belongs under base") {
  CHECK(complaints_of([] {
          scenarios::read_grid("base: {}\nsearch: {gap: 0.1}\nvary: {plan.tensor: [1, 2]}\n",
                               "f.yaml", {});
        }) ==
        "search: is a key of the scenario; write it under base, or into the file that base names");
}

}  // namespace implausible_spec
