// SPDX-License-Identifier: Apache-2.0
// The schema of a sweep.
#include "scenarios/documents/schema.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "scenarios/sweeps/sweep_keys.hpp"

namespace scenarios {
namespace {

using Json = nlohmann::ordered_json;

// Returns the schema of an axis: a list of any values, or a range of numbers.
Json axis() {
  const Json number{{"type", "number"}};
  const Json ends{{"from", number}, {"to", number}, {"step", number}, {"factor", number}};
  Json range{{"type", "object"}, {"additionalProperties", false}, {"properties", ends}};
  range["required"] = Json::array({"from", "to"});
  return {{"anyOf", Json::array({{{"type", "array"}, {"minItems", 1}}, range})}};
}

Json follower() {
  const Json list{{"type", "array"}, {"minItems", 1}};
  Json of = list;
  of["items"] = {{"type", "string"}};
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", {{"of", of}, {"values", list}}},
          {"required", Json::array({"of", "values"})}};
}

}  // namespace

std::string sweep_schema() {
  auto schema =
      headed_schema("stepcast sweep", "A scenario, and axes along which values of it change",
                    map_of(sweep_fields()));
  schema["required"] = Json::array({"base"});
  auto& properties = schema["properties"];
  properties["vary"]["additionalProperties"] = axis();
  properties["together"]["items"]["additionalProperties"] = axis();
  properties["follow"]["additionalProperties"] = follower();
  return schema_text(schema);
}

}  // namespace scenarios
