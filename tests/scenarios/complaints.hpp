// SPDX-License-Identifier: Apache-2.0
// Scenarios that are read and checked, and the complaints about them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/document.hpp"
#include "scenarios/scenario_file.hpp"

namespace tests {

using Sets = std::vector<std::string>;

// A scenario of a model with 64 heads, 8 kv_heads and 80 layers, on eight H100 in each of 16 nodes.
constexpr auto llama = R"(
model: llama3-70b
cluster: {node: dgx-h100, nodes: 16}
training: {sequence_length: 8192, global_batch: 128}
plan: {tensor: 8}
)";

inline forecast::Scenario read(const std::string& text, const Sets& sets = {}) {
  auto document = scenarios::parse_yaml(text, "f.yaml");
  scenarios::Reading reading("f.yaml", {});
  scenarios::apply_sets(document, sets, reading);
  auto scenario = scenarios::read_document(document, reading);
  reading.throw_if_any();
  return scenario;
}

// The complaints of a reading, one line each, without places.
template <class Read>
std::string complaints_of(Read&& read) {
  std::string all;
  try {
    read();
  } catch (const scenarios::Error& wrong) {
    for (const auto& one : wrong.complaints) all += (all.empty() ? "" : "\n") + one.text;
  }
  return all.empty() ? "no complaint" : all;
}
inline std::string complaint(const Sets& sets) {
  return complaints_of([&] { read(llama, sets); });
}

inline std::string corpus(const std::string& name) {
  return scenarios::read_file(std::filesystem::path(STEPCAST_SOURCE_DIR) / "tests/fuzz/corpus" /
                              "scenario" / name);
}

}  // namespace tests
