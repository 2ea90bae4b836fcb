// SPDX-License-Identifier: Apache-2.0
#include "report/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "report/document.hpp"

namespace report {

namespace {

// An entry is written as the scenario that holds it would be.
Document part_at(const forecast::Scenario& scenario, std::initializer_list<const char*> path) {
  Document at = scenario_document(scenario);
  for (const char* key : path) at = Document(at[key]);
  return at;
}

Document model_document_of(const model::Transformer& model) {
  forecast::Scenario scenario;
  scenario.model = model;
  return part_at(scenario, {"model"});
}

}  // namespace

std::string catalog_list_text(const CatalogList& list) {
  std::string text;
  for (const auto& [kind, names] : list) {
    text += kind + '\n';
    for (const auto& name : names) text += "  " + name + '\n';
  }
  return text;
}

std::string catalog_list_json(const CatalogList& list) {
  Object object;
  for (const auto& [kind, names] : list) object.put(kind.c_str(), names);
  return dump(object.take());
}

std::string model_json(const model::Transformer& model) {
  Object object;
  const auto document = model_document_of(model);
  for (const auto& [key, value] : document.items()) object.put(key.c_str(), value);
  const auto count = model::parameters(model);
  return dump(object.put("parameters", count)
                  .put("active_parameters", model::active_parameters(model))
                  .put("prediction_parameters", model::prediction_parameters(model))
                  .take());
}

std::string device_json(const topology::Device& device) {
  forecast::Scenario scenario;
  scenario.cluster.node.device = device;
  return dump(part_at(scenario, {"cluster", "node", "device"}));
}

std::string node_json(const topology::Node& node) {
  forecast::Scenario scenario;
  scenario.cluster.node = node;
  return dump(part_at(scenario, {"cluster", "node"}));
}

std::string fabric_json(const topology::Fabric& fabric) {
  forecast::Scenario scenario;
  scenario.cluster.fabric = fabric;
  return dump(part_at(scenario, {"cluster", "fabric"}));
}

std::string software_json(const strategies::Software& software) {
  forecast::Scenario scenario;
  scenario.software = software;
  return dump(part_at(scenario, {"software"}));
}

std::string model_yaml(const model::Transformer& model) {
  std::string text;
  const auto document = model_document_of(model);
  for (const auto& [key, value] : document.items())
    text += key + ": " + value.dump(-1, ' ', false, Document::error_handler_t::replace) + '\n';
  return text + model_facts(model);
}

std::string model_facts(const model::Transformer& model) {
  const auto millions = [](std::int64_t count) { return static_cast<double>(count) * 1e-6; };
  auto text = fmt::format("# parameters: {:.1f} million, embedding and head included\n",
                          millions(model::parameters(model)));
  if (model.moe)
    text += fmt::format(
        "# active parameters: {:.1f} million for a token, of which the embedding is {:.1f}\n",
        millions(model::active_parameters(model)), millions(model.vocab * model.hidden));
  if (model.multi_token_prediction > 0)
    text +=
        fmt::format("# prediction modules: {}, with {:.1f} million parameters beside these\n",
                    model.multi_token_prediction, millions(model::prediction_parameters(model)));
  return text;
}

}  // namespace report
