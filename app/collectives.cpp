// SPDX-License-Identifier: Apache-2.0
#include "report/collectives.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "app/command.hpp"
#include "app/published.hpp"
#include "scenarios/measured/collective_tables.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

std::string unknown_name(const std::string& name, const std::vector<std::string>& known) {
  std::string text = "unknown table '" + name + "'; expected one of:";
  for (const auto& one : known) text += "\n  " + one;
  return text;
}

topology::TableScore scored(const topology::CollectiveTable& table) {
  try {
    return topology::score(table);
  } catch (const std::invalid_argument& why) {
    throw Mistake(table.name + ": " + why.what());
  }
}

}  // namespace

int validate_collectives(std::vector<std::string> tables, const std::string& folder,
                         const Common& common, Streams streams) {
  const auto where = data_folder(folder, "collectives", "measured collectives");
  const auto known = scenarios::collective_table_names(where);
  for (const auto& name : tables)
    if (std::ranges::find(known, name) == known.end()) throw Mistake(unknown_name(name, known));
  if (tables.empty()) tables = known;
  const Outputs outputs(common);
  scenarios::Files read;
  std::vector<topology::TableScore> scores;
  for (const auto& name : tables)
    scores.push_back(scored(scenarios::load_collective_table(where, name, common.sets, &read)));
  outputs.spare(read);
  deliver(common.json ? report::collectives_json(scores)
                      : report::collectives_text(scores, text_options(streams)),
          common, streams);
  return success;
}

}  // namespace app
