// SPDX-License-Identifier: Apache-2.0
#include "report/catalog.hpp"

#include <algorithm>

#include "app/command.hpp"
#include "report/fabric.hpp"
#include "scenarios/catalog.hpp"
#include "scenarios/corrections_file.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/purchase/purchase_file.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/sweeps/sweep_file.hpp"

namespace app {

namespace {

scenarios::Kind kind_named(const std::string& text) {
  if (const auto kind = scenarios::parse_kind(text)) return *kind;
  std::string choices;
  for (auto kind : scenarios::catalog_kinds())
    choices += (choices.empty() ? "" : ", ") + std::string(kind);
  throw Mistake("unknown kind '" + text + "'; expected one of " + choices);
}

// Nodes that the fabric is usual for come first; failing them, any node that has NICs.
std::string usual_node(const std::string& fabric) {
  for (const auto name : scenarios::catalog_names(scenarios::Kind::node))
    if (scenarios::catalog_node(name).usual_fabric == fabric) return std::string(name);
  return "dgx-h100";
}

std::string fabric_answer(const std::string& name, std::string_view yaml, const FabricSize& size,
                          bool json) {
  const auto node = size.node.empty() ? usual_node(name) : size.node;
  if (!scenarios::catalog_text(scenarios::Kind::node, node))
    throw Mistake("--node " + node + ": " + scenarios::unknown_name(scenarios::Kind::node, node));
  const auto cluster = scenarios::catalog_cluster(node, name, size.nodes);
  const auto plan = topology::plan_of(cluster);
  if (json) return report::fabric_facts_json(plan, cluster);
  return std::string(yaml) + report::fabric_facts(plan, cluster);
}

// Returns facts about a model that its catalog entry does not state; if this version cannot run the
// entry, the reasons.
std::string catalog_facts(const std::string& model) {
  try {
    return report::model_facts(scenarios::catalog_model(model));
  } catch (const scenarios::Error& wrong) {
    if (!scenarios::only_unsupported(wrong)) throw;
    std::string text;
    for (const auto& complaint : wrong.complaints) text += "# " + complaint.text + '\n';
    return text;
  }
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

int catalog_show(const std::string& kind_text, const std::string& name, const FabricSize& size,
                 const Common& common, Streams streams) {
  using scenarios::Kind;
  const auto kind = kind_named(kind_text);
  const auto text = scenarios::catalog_text(kind, name);
  if (!text) throw Mistake(scenarios::unknown_name(kind, name));
  std::string answer;
  switch (kind) {
    case Kind::model: {
      answer = common.json ? report::model_json(scenarios::catalog_model(name))
                           : std::string(*text) + catalog_facts(name);
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
      answer = fabric_answer(name, *text, size, common.json);
      break;
    case Kind::software:
      answer = common.json ? report::software_json(scenarios::catalog_software(name))
                           : std::string(*text);
      break;
  }
  deliver(answer, common, streams);
  return success;
}

int catalog_schema(const std::string& file, const Common& common, Streams streams) {
  deliver(file == "sweep"         ? scenarios::sweep_schema()
          : file == "purchase"    ? scenarios::purchase_schema()
          : file == "corrections" ? scenarios::corrections_schema()
                                  : scenarios::scenario_schema(),
          common, streams);
  return success;
}

}  // namespace app
