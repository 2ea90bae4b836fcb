// SPDX-License-Identifier: Apache-2.0
// A resolved scenario, read again, is the scenario that it was resolved from.
#include <filesystem>

#include "report/document.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace {

void same_again(const forecast::Scenario& scenario) {
  const auto text = report::scenario_document(scenario).dump();
  const auto again = scenarios::read_scenario(text, "resolved.json");
  CHECK(again.name == scenario.name);
  CHECK(again.cluster.gpus == scenario.cluster.gpus);
  CHECK(again.cluster.stragglers == scenario.cluster.stragglers);
  CHECK(again.cluster.degraded_links == scenario.cluster.degraded_links);
  CHECK(again.cluster.others.size() == scenario.cluster.others.size());
  for (std::size_t i = 0; i < scenario.cluster.others.size(); ++i)
    CHECK(again.cluster.others[i].nodes == scenario.cluster.others[i].nodes);
  CHECK(report::scenario_document(again).dump() == text);
}

}  // namespace

TEST_CASE("every example is the same after it was resolved and read again") {
  for (const auto& entry : std::filesystem::directory_iterator("scenarios/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    same_again(scenarios::load_scenario(entry.path()));
  }
}

TEST_CASE("mixed nodes, stragglers and degraded links are printed as they are read") {
  same_again(scenarios::read_scenario(R"(
model: gpt3-175b
cluster:
  node: [{node: dgx-h100, nodes: 4}, {node: dgx-a100-80gb, nodes: 8}, {node: dgx-h200, nodes: 4}]
  stragglers: [{gpus: [17, 3], slowdown: 1.2}, {nodes: [4], slowdown: 1.5}]
  degraded_links: [{link: nic3.2, factor: 0.5}, {link: gpu17, factor: 0.25}]
training: {sequence_length: 2048, global_batch: 1536}
plan: {tensor: 8, pipeline: 16}
)",
                                      "mixed.yaml"));
}
