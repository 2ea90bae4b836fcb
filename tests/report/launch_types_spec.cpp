// SPDX-License-Identifier: Apache-2.0
// Launch configurations hold only keys that their framework has, of the types that it takes.
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <set>
#include <sstream>

#include "report/launch/launch.hpp"
#include "scenarios/documents/toml.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/launch_plans.hpp"

namespace launch_types_spec {

using report::Framework;

namespace {

// A value by its path: int, float, bool, str, null, list or lists (of lists).
struct Leaf {
  std::string key, type, text;
};
using Leaves = std::vector<Leaf>;

std::string inner(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// The type that PyYAML and TOML give to an unquoted text: an exponent needs a point and a sign.
std::string plain_type(const std::string& text) {
  static const std::regex whole("[-+]?[0-9]+"), real("[-+]?[0-9]+\\.[0-9]*([eE][-+][0-9]+)?");
  if (text == "true" || text == "false") return "bool";
  if (text == "null" || text == "~" || text.empty()) return "null";
  if (std::regex_match(text, whole)) return "int";
  return std::regex_match(text, real) ? "float" : "str";
}

void leaves_of(const YAML::Node& node, const std::string& path, Leaves& leaves) {
  if (node.IsMap()) {
    for (const auto& member : node)
      leaves_of(member.second, inner(path, member.first.as<std::string>()), leaves);
    return;
  }
  if (node.IsSequence() && node.size() > 0 && node[0].IsMap()) {
    for (const auto& item : node) leaves_of(item, path + "[]", leaves);
    return;
  }
  const bool quoted = node.Tag() == "!";
  leaves.push_back({path,
                    node.IsNull()       ? "null"
                    : node.IsSequence() ? "list"
                    : quoted            ? "str"
                                        : plain_type(node.Scalar()),
                    node.IsScalar() ? node.Scalar() : ""});
}

void leaves_of(const nlohmann::json& node, const std::string& path, Leaves& leaves) {
  if (node.is_object()) {
    for (const auto& [key, value] : node.items()) leaves_of(value, inner(path, key), leaves);
    return;
  }
  leaves.push_back({path,
                    node.is_boolean()          ? "bool"
                    : node.is_number_integer() ? "int"
                    : node.is_number()         ? "float"
                    : node.is_null()           ? "null"
                    : node.is_array()          ? "list"
                                               : "str",
                    node.is_string() ? node.get<std::string>() : node.dump()});
}

void leaves_of(const scenarios::Value& value, const std::string& path, Leaves& leaves) {
  using Kind = scenarios::Value::Kind;
  if (value.kind == Kind::map) {
    for (const auto& member : value.members)
      leaves_of(member.value, inner(path, member.key.text), leaves);
    return;
  }
  const bool lists = !value.items.empty() && value.items.front().kind == Kind::list;
  leaves.push_back({path,
                    value.kind == Kind::list ? (lists ? "lists" : "list")
                    : value.quoted           ? "str"
                                             : plain_type(value.text),
                    value.text});
}

// The types of keys, and the keys that must be given.
struct Types {
  std::map<std::string, std::string> of;
  std::set<std::string> needed;
};

Types types_of(const std::string& file) {
  Types types;
  std::ifstream in(golden::path(file));
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key, type, more;
    words >> key >> type >> more;
    if (key == "#" || key.empty()) continue;
    if (key == "family") {
      types.of["family " + type] = more;
      continue;
    }
    types.of[key] = type;
    if (more == "!") types.needed.insert(key);
  }
  return types;
}

bool listed(const std::string& choices, const std::string& word) {
  std::istringstream all(choices);
  for (std::string choice; std::getline(all, choice, '|');)
    if (choice == word) return true;
  return false;
}

bool fits(const Leaf& leaf, std::string type) {
  if (type.ends_with('?')) {
    if (leaf.type == "null") return true;
    type.pop_back();
  }
  if (type == "any") return true;
  if (type == "number") return leaf.type == "int" || leaf.type == "float";
  if (type.starts_with("list(")) return leaf.type == "list";
  if (leaf.type == type || listed(type, leaf.type)) return true;
  return leaf.type == "str" && type != "str" && listed(type, leaf.text);
}

// Whether the leaf lies in a part of the file whose keys the sources do not name.
bool lies_in_any(const Leaf& leaf, const Types& types) {
  return std::ranges::any_of(types.of, [&](const auto& known) {
    return known.second == "any" && leaf.key.starts_with(known.first + ".");
  });
}

void check_leaves(const Leaves& leaves, const Types& types) {
  for (const auto& leaf : leaves) {
    if (lies_in_any(leaf, types)) continue;
    INFO(leaf.key << " = " << leaf.text << " (" << leaf.type << ")");
    REQUIRE(types.of.contains(leaf.key));
    INFO("takes " << types.of.at(leaf.key));
    CHECK(fits(leaf, types.of.at(leaf.key)));
  }
}

const Leaf* find(const Leaves& leaves, const std::string& key) {
  for (const auto& leaf : leaves)
    if (leaf.key == key) return &leaf;
  return nullptr;
}

void check_nanotron(const forecast::Scenario& s) {
  static const auto types = types_of("nanotron_types.txt");
  Leaves leaves;
  leaves_of(YAML::Load(report::launch(s, Framework::nanotron).text), "", leaves);
  check_leaves(leaves, types);
  const bool adam = find(leaves, "optimizer.optimizer_factory.name")->text == "adamW";
  const std::set<std::string> sections{
      "checkpoints", "general", "model",        "optimizer", "optimizer.learning_rate_scheduler",
      "parallelism", "tokens",  "data_stages[]"};
  for (const auto& key : types.needed) {
    const auto section = key.substr(0, key.rfind('.'));
    const bool factory = section == "optimizer.optimizer_factory";
    if (!sections.contains(section) && !(factory && adam)) continue;
    if (key.ends_with(".optimizer_factory") || key.ends_with("_scheduler")) continue;
    INFO("needed: " << key);
    CHECK((find(leaves, key) != nullptr || key == "model.init_method" ||
           key == "model.model_config" || key == "data_stages[].data"));
  }
}

void check_torchtitan(const forecast::Scenario& s) {
  static const auto types = types_of("torchtitan_types.txt");
  const auto launch = report::launch(s, Framework::torchtitan);
  Leaves leaves;
  leaves_of(scenarios::parse_toml(launch.text, "job.toml"), "", leaves);
  check_leaves(leaves, types);
  const auto family = "family " + find(leaves, "model.name")->text;
  const auto& flavor = find(leaves, "model.flavor")->text;
  const bool registered = types.of.contains(family) && listed(types.of.at(family), flavor);
  const bool named = std::ranges::any_of(launch.not_expressed, [](const report::Lost& lost) {
    return lost.sentence.starts_with("model ");
  });
  CHECK(registered == !named);
}

void check_deepspeed(const forecast::Scenario& s) {
  static const auto types = types_of("deepspeed_types.txt");
  const auto launch = report::launch(s, Framework::deepspeed);
  Leaves leaves;
  leaves_of(nlohmann::json::parse(launch.text), "", leaves);
  check_leaves(leaves, types);
  for (const auto& file : launch.beside)
    if (file.name == "config.json") CHECK(nlohmann::json::accept(file.text));
}

void check_all(const forecast::Scenario& s) {
  check_nanotron(s);
  check_torchtitan(s);
  check_deepspeed(s);
  for (const auto& [word, framework] : report::framework_names) {
    const auto launch = report::launch(s, framework);
    const auto names = report::launch_names(framework);
    CHECK(launch.name == names.front());
    for (const auto& file : launch.beside)
      CHECK(std::ranges::find(names, file.name) != names.end());
  }
}

}  // namespace

TEST_CASE("a value of another type is found") {
  CHECK_FALSE(fits({"k", "float", "76.3"}, "int"));
  CHECK_FALSE(fits({"k", "int", "1"}, "float"));
  CHECK_FALSE(fits({"k", "str", "gelu"}, "silu|relu"));
  CHECK(fits({"k", "null", ""}, "float?"));
  CHECK(plain_type("1e-8") == "str");  // to PyYAML
}

TEST_CASE("plans of many kinds are written in keys and types that the frameworks have") {
  REQUIRE(tests::launch_plans().size() >= 22);
  for (const auto& plan : tests::launch_plans()) {
    INFO(plan.kind);
    check_all(plan.scenario());
  }
}

TEST_CASE("random plans are written in keys and types that the frameworks have") {
  std::mt19937 random(12);
  for (int i = 0; i < 200; ++i)
    check_all(i % 2 == 0 ? tests::random_scenario(random) : tests::sharded_scenario(random));
}

TEST_CASE("torchtitan's registry is named by family and flavor") {
  const std::map<std::string, std::string> flavors{
      {"llama3-8b", "name = \"llama3\"\nflavor = \"8B\""},
      {"llama3-70b", "name = \"llama3\"\nflavor = \"70B\""},
      {"llama3-405b", "name = \"llama3\"\nflavor = \"405B\""},
      {"deepseek-v2", "name = \"deepseek_v3\"\nflavor = \"236B\""},
      {"deepseek-v3", "name = \"deepseek_v3\"\nflavor = \"671B\""},
      {"qwen3-30b-a3b", "name = \"qwen3\"\nflavor = \"30B-A3B\""},
      {"qwen3-235b-a22b", "name = \"qwen3\"\nflavor = \"235B-A22B\""},
      {"gpt-oss-120b", "name = \"gpt_oss\"\nflavor = \"120b\""}};
  for (const auto& plan : tests::launch_plans()) {
    const auto found = flavors.find(std::string(plan.model));
    const auto launch = report::launch(plan.scenario(), Framework::torchtitan);
    INFO(plan.model << '\n' << launch.text);
    const bool named = std::ranges::any_of(launch.not_expressed, [](const report::Lost& lost) {
      return lost.sentence.starts_with("model \"");
    });
    CHECK(named == (found == flavors.end()));
    if (found != flavors.end()) CHECK_THAT(launch.text, STEPCAST_HOLDS(found->second));
  }
}

}  // namespace launch_types_spec
