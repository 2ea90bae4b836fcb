// SPDX-License-Identifier: Apache-2.0
// Changes of a scenario, and what a framework's launch configuration says of each that it said not
// before.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "report/launch/launch.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace tests {

struct LosingChange {
  void (*apply)(forecast::Scenario&);
  std::vector<report::Lost> lost;  // in their order
  std::string written = {};        // a part of the main file; empty: not looked at
};

// Keys that are lost of the one scenario and not of the other.
inline std::vector<report::Lost> newly_lost(const forecast::Scenario& before,
                                            const forecast::Scenario& after,
                                            report::Framework framework) {
  auto lost = report::launch(after, framework).not_expressed;
  const auto known = report::launch(before, framework).not_expressed;
  std::erase_if(lost, [&](const auto& one) {
    return std::find(known.begin(), known.end(), one) != known.end();
  });
  return lost;
}

inline void check_lost(const forecast::Scenario& before, report::Framework framework,
                       const std::vector<LosingChange>& changes) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto after = before;
    changes[i].apply(after);
    const auto lost = newly_lost(before, after, framework);
    std::string said = "case " + std::to_string(i);
    for (const auto& one : lost) said += "\n" + one.key + " | " + one.sentence;
    INFO(said);
    CHECK(lost == changes[i].lost);
    const auto text = report::launch(after, framework).text;
    if (!changes[i].written.empty()) CHECK_THAT(text, STEPCAST_HOLDS(changes[i].written));
  }
}

// A training on 32 GPUs of which all four frameworks run every part: Llama 3 of 8 billion
// parameters, tensor 2 x pipeline 2 x data 8, ZeRO-1, eight microbatches.
inline forecast::Scenario plain_scenario(const std::string& software,
                                         const std::string& model = "llama3-8b",
                                         const std::string& plan = {}) {
  return scenarios::read_scenario(
      "model: " + model +
          "\ncluster: {node: dgx-h100, nodes: 4}\ntraining: {sequence_length: 4096, global_batch: "
          "64}\nsoftware: " +
          software + "\nplan: {" +
          (plan.empty() ? "tensor: 2, sequence_parallel: true, pipeline: 2, zero: 1" : plan) +
          "}\n",
      "plain");
}

}  // namespace tests
