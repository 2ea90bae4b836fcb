// SPDX-License-Identifier: Apache-2.0
#include "scenarios/measured/measured_fabric.hpp"

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

}  // namespace

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
