// SPDX-License-Identifier: Apache-2.0
// The schema of a purchase, with the parts of scenarios from the schema of scenarios.
#include "scenarios/documents/schema.hpp"
#include "scenarios/purchase/purchase_file.hpp"
#include "scenarios/purchase/purchase_keys.hpp"
#include "scenarios/purchase/purchase_parts.hpp"
#include "scenarios/scenario_file.hpp"

namespace scenarios {
namespace {

using PurchaseJson = nlohmann::ordered_json;

// Allows `other` in place of the property's single value.
void allow(PurchaseJson& property, const PurchaseJson& other) {
  PurchaseJson either{{"anyOf", PurchaseJson::array({property, other})}};
  if (property.contains("description")) either["description"] = property["description"];
  property = std::move(either);
}

}  // namespace

std::string purchase_schema() {
  auto schema =
      headed_schema("stepcast purchase",
                    "Workloads, the clusters to choose from for them, limits, and what all costs",
                    map_of(purchase_fields()));
  schema["required"] = PurchaseJson::array({"options"});
  const auto whole = PurchaseJson::parse(scenario_schema());
  auto& parts = schema["$defs"];
  for (const char* part : {"model", "training", "software", "plan", "search", "cluster"})
    parts[part] = whole["properties"][part];
  auto& cluster = parts["cluster"]["properties"];
  allow(cluster["nodes"], schema_of(series_of_nodes_form()));
  allow(cluster["fabric"], {{"type", "array"}, {"items", cluster["fabric"]}});

  const auto refer = [](PurchaseJson& properties, std::initializer_list<const char*> names) {
    for (const std::string name : names) properties[name] = {{"$ref", "#/$defs/" + name}};
  };
  auto& properties = schema["properties"];
  refer(properties, {"search"});
  refer(properties["options"]["items"]["properties"], {"cluster"});
  for (auto* workload : {&properties["workload"], &properties["workloads"]["items"]})
    refer((*workload)["properties"], {"model", "training", "software", "plan", "search"});
  return schema_text(schema);
}

}  // namespace scenarios
