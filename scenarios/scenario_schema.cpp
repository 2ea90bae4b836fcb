// SPDX-License-Identifier: Apache-2.0
// The schema of a scenario, with the names of the catalog.
#include "scenarios/catalog.hpp"
#include "scenarios/documents/schema.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using Json = nlohmann::ordered_json;

// Adds the names of the catalog, which an editor then offers; the reader judges any other name.
void offer_names(Json& property, Kind kind) {
  Json names = Json::array();
  for (const auto name : catalog_names(kind)) names.push_back(std::string(name));
  if (!names.empty()) property["anyOf"][0] = {{"enum", names}};
}

}  // namespace

std::string scenario_schema() {
  auto schema =
      headed_schema("stepcast scenario",
                    "A model, trained this way, on this cluster, under this plan, by this software",
                    map_of(scenario_fields()));
  schema["required"] = Json::array({"model", "cluster", "training"});
  auto& properties = schema["properties"];
  auto& cluster = properties["cluster"]["properties"];
  offer_names(properties["model"], Kind::model);
  offer_names(properties["software"], Kind::software);
  auto& listed = cluster["node"]["anyOf"][2]["items"]["properties"]["node"];
  for (auto* node : {&cluster["node"], &listed}) {
    offer_names(*node, Kind::node);
    offer_names((*node)["anyOf"][1]["properties"]["device"], Kind::device);
  }
  offer_names(cluster["fabric"], Kind::fabric);
  return schema_text(schema);
}

}  // namespace scenarios
