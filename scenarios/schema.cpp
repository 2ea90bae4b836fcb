// SPDX-License-Identifier: Apache-2.0
// The reader's tables as a JSON Schema, for editors.
#include <nlohmann/json.hpp>

#include "scenarios/catalog.hpp"
#include "scenarios/corrections_file.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "scenarios/sweeps/sweep_keys.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using Json = nlohmann::ordered_json;

Json schema_of(const Form& form);

Json properties(const Form& form) {
  Json all = Json::object();
  for (std::size_t i = 0; i < form.keys.size(); ++i) {
    const auto& key = form.keys[i];
    Json one = schema_of(form.forms[i]);
    std::string words(key.description);
    if (!key.fallback.empty()) words += ". Left out: " + std::string(key.fallback);
    one["description"] = words;
    all[std::string(key.name)] = std::move(one);
  }
  return all;
}

Json object(const Form& form) {
  if (form.keys.empty()) return {{"type", "object"}};
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties(form)}};
}

// A quantity is a number in the SI base unit or text with a unit; both follow the same range, which
// a schema can only state for numbers.
Json quantity_schema(const Form& form) {
  Json number{{"type", "number"}, {"minimum", form.range.least}, {"maximum", form.range.most}};
  return {{"anyOf", Json::array({number, {{"type", "string"}, {"pattern", "^\\s*[-+0-9.]"}}})}};
}

Json list(const Form& form) {
  Json schema{{"type", "array"}, {"items", schema_of(form.forms.front())}};
  if (form.range.most > 0) {
    schema["minItems"] = static_cast<std::int64_t>(form.range.least);
    schema["maxItems"] = static_cast<std::int64_t>(form.range.most);
  }
  return schema;
}

Json schema_of(const Form& form) {
  switch (form.type) {
    case Type::text:
      return {{"type", Json::array({"string", "number"})}};
    case Type::yes_no:
      return {{"type", "boolean"}};
    case Type::choice: {
      Json words = Json::array();
      for (const auto choice : form.choices) words.push_back(std::string(choice));
      return {{"enum", words}};
    }
    case Type::whole:
      return {{"type", "integer"},
              {"minimum", static_cast<std::int64_t>(form.range.least)},
              {"maximum", static_cast<std::int64_t>(form.range.most)}};
    case Type::number:
      return {{"type", "number"}, {"minimum", form.range.least}, {"maximum", form.range.most}};
    case Type::list:
      return list(form);
    case Type::map:
      return object(form);
    case Type::either: {
      Json any = Json::array();
      for (const auto& one : form.forms) any.push_back(schema_of(one));
      return {{"anyOf", any}};
    }
    default:
      return quantity_schema(form);
  }
}

// An editor then offers the names of the catalog; any other name is judged by the reader.
void offer_names(Json& property, Kind kind) {
  Json names = Json::array();
  for (const auto name : catalog_names(kind)) names.push_back(std::string(name));
  if (!names.empty()) property["anyOf"][0] = {{"enum", names}};
}

Json headed(const char* title, const char* description) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", title},
          {"description", description}};
}

// A list of any values, or a range of numbers.
Json axis() {
  const Json number{{"type", "number"}};
  const Json ends{{"from", number}, {"to", number}, {"step", number}, {"factor", number}};
  Json range{{"type", "object"}, {"additionalProperties", false}, {"properties", ends}};
  range["required"] = Json::array({"from", "to"});
  return {{"anyOf", Json::array({{{"type", "array"}, {"minItems", 1}}, range})}};
}

}  // namespace

std::string sweep_schema() {
  auto schema = headed("stepcast sweep", "A scenario, and axes along which values of it change");
  schema.update(object(map_of(sweep_fields())));
  schema["required"] = Json::array({"base"});
  auto& properties = schema["properties"];
  properties["vary"]["additionalProperties"] = axis();
  properties["together"]["items"]["additionalProperties"] = axis();
  return schema.dump(2) + "\n";
}

std::string corrections_schema() {
  auto schema = headed("stepcast corrections",
                       "Measured steps, which correct the forecasts of scenarios like theirs");
  schema.update(list({.type = Type::list,
                      .range = {1, static_cast<double>(most_measured), ""},
                      .forms = {map_of(measured_entry_fields())}}));
  schema["items"]["required"] = Json::array({"scenario", "measured"});
  return schema.dump(2) + "\n";
}

std::string scenario_schema() {
  auto schema =
      headed("stepcast scenario",
             "A model, trained this way, on this cluster, under this plan, by this software");
  schema.update(object(map_of(scenario_fields())));
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
  return schema.dump(2) + "\n";
}

}  // namespace scenarios
