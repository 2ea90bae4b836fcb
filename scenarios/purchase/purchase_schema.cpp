// SPDX-License-Identifier: Apache-2.0
// The schema of a purchase.
#include "scenarios/documents/schema.hpp"
#include "scenarios/purchase/purchase_file.hpp"
#include "scenarios/search_keys.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using Json = nlohmann::ordered_json;

// The part as scenarios have it, with the description that it has here.
void take_part(Json& property, const Form& form) {
  const auto description = property["description"];
  property = schema_of(form);
  property["description"] = description;
}

void complete_workload(Json& workload) {
  auto& properties = workload["properties"];
  take_part(properties["model"], name_or_map(model_fields()));
  take_part(properties["training"], map_of(training_fields()));
  take_part(properties["software"], name_or_map(software_fields()));
  take_part(properties["plan"], map_of(plan_fields()));
  take_part(properties["search"], map_of(search_fields()));
  workload["required"] = Json::array({"model", "training"});
}

// Nodes and fabrics may be several, or left to be found.
void complete_cluster(Json& cluster) {
  take_part(cluster, map_of(cluster_fields()));
  auto& properties = cluster["properties"];
  const Json number{{"type", "number"}, {"minimum", 1}};
  const Json ends{{"from", number}, {"to", number}, {"step", number}, {"factor", number}};
  const Json one = properties["nodes"];
  properties["nodes"] = {
      {"anyOf", Json::array({{{"type", "integer"}, {"minimum", 1}},
                             {{"type", "array"}, {"items", number}, {"minItems", 1}},
                             {{"type", "object"},
                              {"additionalProperties", false},
                              {"properties", ends},
                              {"required", Json::array({"from", "to"})}}})},
      {"description", one["description"]}};
  auto& fabric = properties["fabric"];
  fabric["anyOf"].push_back({{"type", "array"}, {"minItems", 1}});
  cluster["required"] = Json::array({"node"});
}

}  // namespace

std::string purchase_schema() {
  auto schema = headed_schema("stepcast purchase",
                              "Clusters to choose from for what is to be trained, what limits them "
                              "and what they cost",
                              map_of(purchase_fields()));
  schema["required"] = Json::array({"options"});
  auto& properties = schema["properties"];
  complete_workload(properties["workload"]);
  complete_workload(properties["workloads"]["items"]);
  take_part(properties["search"], map_of(search_fields()));
  auto& option = properties["options"]["items"];
  complete_cluster(option["properties"]["cluster"]);
  option["required"] = Json::array({"name", "cluster"});
  return schema_text(schema);
}

}  // namespace scenarios
