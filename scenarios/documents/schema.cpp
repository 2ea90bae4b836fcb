// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/schema.hpp"

namespace scenarios {
namespace {

using Json = nlohmann::ordered_json;

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
  return {{"anyOf", Json::array({number, {{"type", "string"}, {"pattern", "^\\s*[-+0-9.]"}}})},
          {"examples", Json::array({std::string(example_of(form.type))})}};
}

Json list(const Form& form) {
  Json schema{{"type", "array"}, {"items", schema_of(form.forms.front())}};
  if (form.range.most > 0) {
    schema["minItems"] = static_cast<std::int64_t>(form.range.least);
    schema["maxItems"] = static_cast<std::int64_t>(form.range.most);
  }
  return schema;
}

}  // namespace

nlohmann::ordered_json schema_of(const Form& form) {
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

nlohmann::ordered_json headed_schema(const char* title, const char* description, const Form& form) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", title},
              {"description", description}};
  schema.update(schema_of(form));
  return schema;
}

std::string schema_text(const Json& schema) { return schema.dump(2) + "\n"; }

}  // namespace scenarios
