// SPDX-License-Identifier: Apache-2.0
#include "report/launch/titan_registry.hpp"

#include <vector>

#include "scenarios/documents/cursor.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/jobs/table_files.hpp"
#include "scenarios/tables.hpp"

namespace report {
namespace {

std::vector<TitanModel> registered() {
  std::vector<TitanModel> models;
  for (const auto& file : scenarios::job_table_files()) {
    if (file.table != "torchtitan_models") continue;
    const auto document = scenarios::parse_yaml(file.text, "torchtitan_models.yaml");
    for (const auto& [key, sizes] : document.members) {
      scenarios::Reading reading("torchtitan_models.yaml", {});
      auto made = scenarios::read_model(scenarios::Cursor(sizes, "model", reading));
      reading.throw_if_any();
      made.name.clear();
      const auto blank = key.text.find(' ');
      models.push_back({key.text.substr(0, blank), key.text.substr(blank + 1), std::move(made)});
    }
  }
  return models;
}

}  // namespace

std::span<const TitanModel> titan_registry() {
  static const auto models = registered();
  return models;
}

}  // namespace report
