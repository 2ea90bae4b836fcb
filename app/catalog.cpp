// SPDX-License-Identifier: Apache-2.0
#include "report/catalog.hpp"

#include <algorithm>

#include "app/command.hpp"
#include "scenarios/catalog.hpp"
#include "scenarios/scenario_file.hpp"

namespace app {

namespace {

scenarios::Kind kind_named(const std::string& text) {
  if (const auto kind = scenarios::parse_kind(text)) return *kind;
  std::string choices;
  for (auto kind : scenarios::catalog_kinds())
    choices += (choices.empty() ? "" : ", ") + std::string(kind);
  throw Mistake("unknown kind '" + text + "'; expected one of " + choices);
}

}  // namespace

int catalog_list(const std::string& kind, const Common& common, Streams streams) {
  report::CatalogList list;
  for (auto name : scenarios::catalog_kinds()) {
    if (!kind.empty() && kind_named(kind) != kind_named(std::string(name))) continue;
    report::CatalogKind entry{std::string(name), {}};
    for (auto item : scenarios::catalog_names(kind_named(std::string(name))))
      entry.names.emplace_back(item);
    list.push_back(std::move(entry));
  }
  deliver(common.json ? report::catalog_list_json(list) : report::catalog_list_text(list), common,
          streams);
  return success;
}

int catalog_show(const std::string& kind_text, const std::string& name, const Common& common,
                 Streams streams) {
  using scenarios::Kind;
  const auto kind = kind_named(kind_text);
  const auto text = scenarios::catalog_text(kind, name);
  if (!text) throw Mistake(scenarios::unknown_name(kind, name));
  std::string answer;
  switch (kind) {
    case Kind::model: {
      const auto model = scenarios::catalog_model(name);
      answer =
          common.json ? report::model_json(model) : std::string(*text) + report::model_facts(model);
      break;
    }
    case Kind::device:
      answer =
          common.json ? report::device_json(scenarios::catalog_device(name)) : std::string(*text);
      break;
    case Kind::node:
      answer = common.json ? report::node_json(scenarios::catalog_node(name)) : std::string(*text);
      break;
    case Kind::fabric:
      answer =
          common.json ? report::fabric_json(scenarios::catalog_fabric(name)) : std::string(*text);
      break;
    case Kind::software:
      answer = common.json ? report::software_json(scenarios::catalog_software(name))
                           : std::string(*text);
      break;
  }
  deliver(answer, common, streams);
  return success;
}

int catalog_schema(const Common& common, Streams streams) {
  deliver(scenarios::scenario_schema(), common, streams);
  return success;
}

}  // namespace app
