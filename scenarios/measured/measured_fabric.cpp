// SPDX-License-Identifier: Apache-2.0
#include "scenarios/measured/measured_fabric.hpp"

#include <cmath>

#include "scenarios/documents/edit.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/scenario_file.hpp"
#include "topology/collective.hpp"
#include "units/text.hpp"

namespace scenarios {

namespace {

std::string tables_in_braces(const topology::Fabric& measured) {
  std::string text = "[";
  for (const auto& table : measured.measured) {
    text += (text.size() > 1 ? ", {collective: " : "{collective: ") +
            std::string(to_text(table.collective)) + ", ranks: " + std::to_string(table.ranks) +
            ", nodes: " + std::to_string(table.nodes) + ", points: [";
    std::string points;
    for (const auto& [size, time] : table.points)
      points += (points.empty() ? "[" : ", [") + units::exact_text(size) + ", " +
                units::exact_text(time) + "]";
    text += points + "]}";
  }
  return text + "]";
}

// Rows of sizes below this are latency alone.
constexpr units::Bytes large{16e6};
// The most times that a measurement was faster than the model, of tables that were checked, is 1.2:
// beyond this it is no measurement of this machine.
constexpr double too_fast = 2;

bool has_room(const topology::MeasuredCollective& table, const topology::Cluster& cluster) {
  return table.nodes <= cluster.nodes() && table.ranks <= table.nodes * cluster.node.gpus;
}

}  // namespace

std::vector<std::string> doubtful_rows(const topology::Cluster& cluster) {
  auto bare = cluster;
  bare.fabric.measured.clear();
  std::vector<std::string> sentences;
  for (const auto& table : cluster.fabric.measured) {
    if (!has_room(table, cluster)) continue;
    const int each = table.ranks / table.nodes;
    const topology::GroupShape group{
        .ranks = table.ranks, .nodes = table.nodes, .least_per_node = each, .most_per_node = each};
    for (const auto& [size, time] : table.points) {
      if (size < large) continue;
      const double share = topology::collective_time(table.collective, size, group, bare) / time;
      if (share > too_fast)
        sentences.push_back("cluster.fabric.measured: " + std::string(to_text(table.collective)) +
                            " of " + std::to_string(table.ranks) + " ranks on " +
                            std::to_string(table.nodes) + (table.nodes == 1 ? " node" : " nodes") +
                            ": " + units::short_text(size) + " in " + units::short_text(time) +
                            " is " + std::to_string(std::llround(share)) +
                            " times as fast as this node and fabric can be; see whether the row is "
                            "whole, and whether it is of this machine");
    }
  }
  return sentences;
}

std::string with_measured_fabric(const std::filesystem::path& scenario,
                                 const topology::Fabric& measured) {
  const auto file = scenario.string();
  const auto text = read_file(scenario);
  const auto folder = scenario.parent_path();
  const auto before = read_scenario(text, file, {}, folder);
  const auto tables = tables_in_braces(measured);
  const auto document = parse_yaml(text, file);
  const auto* cluster = document.find("cluster");
  const auto* fabric = cluster ? cluster->find("fabric") : nullptr;
  if (fabric && fabric->kind == Value::Kind::map)
    throw Error({{file + ":" + std::to_string(fabric->line) + ":" + std::to_string(fabric->column),
                  "cluster.fabric: this fabric is a mapping; write into it: measured: " + tables}});
  auto with = with_value(text, file, "cluster.fabric",
                         "{base: " + before.cluster.fabric.name + ", measured: " + tables + "}");
  read_scenario(with, file, {}, folder);
  return with;
}

}  // namespace scenarios
