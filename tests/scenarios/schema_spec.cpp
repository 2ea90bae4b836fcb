// SPDX-License-Identifier: Apache-2.0
// The schema describes the documents that the reader accepts: the examples satisfy it, mistakes do
// not.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "scenarios/documents/yaml.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "tests/catch.hpp"

namespace schema_spec {

using nlohmann::json;

namespace {

// A plain scalar as YAML types it.
json scalar(const scenarios::Value& value) {
  if (value.quoted) return value.text;
  if (value.text == "true" || value.text == "false") return value.text == "true";
  char* end = nullptr;
  const double number = std::strtod(value.text.c_str(), &end);
  if (value.text.empty() || *end != '\0') return value.text;
  return number == std::floor(number) ? json(static_cast<std::int64_t>(number)) : json(number);
}

json plain(const scenarios::Value& value) {
  using Kind = scenarios::Value::Kind;
  if (value.kind == Kind::scalar) return scalar(value);
  json whole = value.kind == Kind::map ? json::object() : json::array();
  for (const auto& member : value.members) whole[member.key.text] = plain(member.value);
  for (const auto& item : value.items) whole.push_back(plain(item));
  return value.kind == Kind::null ? json() : whole;
}

bool has_type(const std::string& type, const json& value) {
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

// Checks the part of JSON Schema that the tables need.
bool valid(const json& schema, const json& value);

bool valid_object(const json& schema, const json& value) {
  for (const auto& key : schema.value("required", json::array()))
    if (!value.contains(key.get<std::string>())) return false;
  const auto properties = schema.value("properties", json::object());
  const auto others = schema.value("additionalProperties", json(true));
  for (const auto& [key, one] : value.items()) {
    const bool known = properties.contains(key);
    if (!known && others.is_boolean() && !others.get<bool>()) return false;
    if (known || others.is_object())
      if (!valid(known ? properties[key] : others, one)) return false;
  }
  return true;
}

bool valid(const json& schema, const json& value) {
  if (schema.contains("anyOf"))
    return std::ranges::any_of(schema["anyOf"], [&](const json& one) { return valid(one, value); });
  if (schema.contains("enum"))
    return std::ranges::find(schema["enum"], value) != schema["enum"].end();
  if (schema.contains("type")) {
    const auto& type = schema["type"];
    if (type.is_string() && !has_type(type, value)) return false;
    if (type.is_array() &&
        std::ranges::none_of(type, [&](const json& one) { return has_type(one, value); }))
      return false;
  }
  if (schema.contains("minimum") && value < schema["minimum"]) return false;
  if (schema.contains("maximum") && value > schema["maximum"]) return false;
  if (value.is_array() && schema.contains("items"))
    return std::ranges::all_of(value, [&](const json& one) { return valid(schema["items"], one); });
  return !value.is_object() || valid_object(schema, value);
}

json document(const std::string& folder, const std::string& name) {
  const auto path = std::filesystem::path(STEPCAST_SOURCE_DIR) / folder / name;
  return plain(scenarios::parse_yaml(scenarios::read_file(path), name));
}
json example(const std::string& name) { return document("scenarios/examples", name); }

}  // namespace

TEST_CASE("every example satisfies the schema") {
  const auto schema = json::parse(scenarios::scenario_schema());
  const auto folder = std::filesystem::path(STEPCAST_SOURCE_DIR) / "scenarios/examples";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    if (entry.path().filename().string().starts_with("purchase-")) continue;  // no scenario
    CAPTURE(entry.path().filename().string());
    CHECK(valid(schema, example(entry.path().filename().string())));
  }
}

TEST_CASE("the schema takes every key that the reader takes") {
  const auto schema = json::parse(scenarios::scenario_schema());
  const auto every = document("tests/fuzz/corpus/scenario", "valid_every_key");
  CHECK(valid(schema, every));
  // The document names every key, so that the schema is asked about each, except keys of the search
  // that its plan and training fix, training.routing, which needs experts, and training.in_bf16,
  // which needs a narrow precision.
  const std::set<std::string> fixed{"layers",  "offload",     "precision", "gradient_compression",
                                    "routing", "shard_group", "in_bf16"};
  for (const auto* section : {"plan", "search", "training"})
    for (const auto& [key, one] : schema["properties"][section]["properties"].items()) {
      CAPTURE(section, key);
      CHECK((every[section].contains(key) || fixed.contains(key)));
    }
  const auto with = [&](const char* pointer, const char* value) {
    auto scenario = every;
    scenario[json::json_pointer(pointer)] = json::parse(value);
    return valid(schema, scenario);
  };
  CHECK(with("/plan/recompute", R"({"selective": ["core_attn", "mlp"]})"));
  CHECK(with("/plan/recompute", R"("optimal")"));
  CHECK(with("/plan/offload", R"({"activations": "cpu"})"));
  CHECK(with("/plan/wrap", R"("model")"));
  CHECK(with("/plan/bucket", "1e8"));
  CHECK(with("/software/cuda_graphs", "true"));
  CHECK(with("/software/cuda_graphs", "[]"));
  CHECK(with("/software/data_loader", R"("none")"));
  CHECK_FALSE(with("/plan/recompute", R"({"selective": ["attention"]})"));
  CHECK_FALSE(with("/plan/offload", R"({"gradients": "nvme"})"));
  CHECK(every["alerts"].size() == schema["properties"]["alerts"]["properties"].size());
  CHECK_FALSE(with("/alerts/memry", R"("> 90 %")"));
  CHECK_FALSE(with("/alerts/memory", R"({"above": 0.9})"));
  CHECK_FALSE(with("/alerts/node_failure_rate", R"({"when": "> 1 / day", "mtbf": 1})"));
  CHECK(with("/search/tensor", "8"));
  CHECK(with("/search/recompute", R"("optimal")"));
  CHECK_FALSE(with("/search/tensor", "[0]"));
  CHECK_FALSE(with("/search/schedule", R"(["zb"])"));
  CHECK_FALSE(with("/search/gap", "2"));
  CHECK_FALSE(with("/plan/wrap", R"("block")"));
  CHECK_FALSE(with("/software/cuda_graphs", R"(["attention"])"));
  CHECK_FALSE(with("/training/fp8_recipe", R"("rows")"));
}

TEST_CASE("the schema refuses each document that the reader refuses") {
  const auto schema = json::parse(scenarios::scenario_schema());
  const auto good = example("gpt3-175b-1024-a100.yaml");
  const auto spoilt = [&](const char* pointer, const json& value) {
    auto scenario = good;
    scenario[json::json_pointer(pointer)] = value;
    return scenario;
  };
  CHECK(valid(schema, good));
  CHECK_FALSE(valid(schema, spoilt("/plan/tensr", 8)));
  CHECK_FALSE(valid(schema, spoilt("/plan/tensor", 0)));
  CHECK_FALSE(valid(schema, spoilt("/plan/tensor", 7.5)));
  CHECK_FALSE(valid(schema, spoilt("/plan/schedule", "intrleaved")));
  CHECK_FALSE(valid(schema, spoilt("/model", "gpt3-17b")));
  CHECK_FALSE(valid(schema, spoilt("/training/global_batch", json::array({1, 2}))));
  CHECK(valid(schema, spoilt("/cluster/node", {{{"node", "dgx-h100"}, {"nodes", 4}}})));
  CHECK_FALSE(valid(schema, spoilt("/cluster/node", {{{"node", "dgx-h10"}, {"nodes", 4}}})));
  CHECK_FALSE(valid(schema, spoilt("/cluster/node", {{{"node", "dgx-h100"}, {"nods", 4}}})));
  CHECK(valid(schema, spoilt("/cluster/stragglers", {{{"gpus", {3}}, {"slowdown", 1.2}}})));
  CHECK_FALSE(valid(schema, spoilt("/cluster/stragglers", {{{"gpus", {3}}, {"slowdown", 0.5}}})));
  CHECK_FALSE(valid(schema, spoilt("/cluster/degraded_links", {{{"link", "a"}, {"factor", 2}}})));
  auto missing = good;
  missing.erase("training");
  CHECK_FALSE(valid(schema, missing));
}

TEST_CASE("sweeps have a schema of their own") {
  const auto schema = json::parse(scenarios::sweep_schema());
  const auto good = document("scenarios/examples/sweeps", "gpt3-175b-a100.yaml");
  const auto with = [&](const char* key, const char* value) {
    auto sweep = good;
    sweep[key] = json::parse(value);
    return valid(schema, sweep);
  };
  CHECK(valid(schema, good));
  CHECK(with("base", R"("gpt3.yaml")"));
  CHECK(with("vary", R"({"plan.tensor": [1, 2], "plan.zero": {"from": 0, "to": 3, "step": 1}})"));
  CHECK(with("together", R"([{"plan.tensor": [1, 2], "plan.zero": [0, 1]}])"));
  CHECK(with("follow", R"({"plan.zero": {"of": ["plan.tensor"], "values": [0, 1]}})"));
  CHECK_FALSE(with("follow", R"({"plan.zero": [0, 1]})"));
  CHECK_FALSE(with("follow", R"({"plan.zero": {"of": ["plan.tensor"]}})"));
  CHECK_FALSE(with("vary", R"({"plan.tensor": 8})"));
  CHECK_FALSE(with("vary", R"({"plan.tensor": {"from": 1}})"));
  CHECK_FALSE(with("vary", R"({"plan.tensor": {"from": 1, "to": 8, "by": 2}})"));
  CHECK_FALSE(with("together", R"({"plan.tensor": [1, 2]})"));
  CHECK_FALSE(with("mode", R"("simulat")"));
  CHECK_FALSE(with("varies", "{}"));
}

TEST_CASE("every key of the schema says its meaning") {
  const std::function<void(const json&)> visit = [&](const json& schema) {
    const auto properties = schema.value("properties", json::object());
    for (const auto& [name, one] : properties.items()) {
      CAPTURE(name);
      CHECK_FALSE(one.value("description", "").empty());
      visit(one);
    }
    for (const auto& one : schema.value("anyOf", json::array())) visit(one);
  };
  visit(json::parse(scenarios::scenario_schema()));
  visit(json::parse(scenarios::sweep_schema()));
}

}  // namespace schema_spec
