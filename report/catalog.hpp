// SPDX-License-Identifier: Apache-2.0
// Catalog entries as text and JSON.
#pragma once
#include <string>
#include <vector>

#include "model/transformer.hpp"
#include "plans/software.hpp"
#include "topology/cluster.hpp"

namespace report {

struct CatalogKind {
  std::string kind;
  std::vector<std::string> names;
};
using CatalogList = std::vector<CatalogKind>;

std::string catalog_list_text(const CatalogList& list);
std::string catalog_list_json(const CatalogList& list);  // {"models": […], …}

// An entry as a scenario may hold it; a model also with its parameters and active parameters
// (embedding and head included).
std::string model_json(const model::Transformer& model);
std::string device_json(const topology::Device& device);
std::string node_json(const topology::Node& node);
std::string fabric_json(const topology::Fabric& fabric);
std::string software_json(const strategies::Software& software);

// A model as a catalog entry: every field, one line each.
std::string model_yaml(const model::Transformer& model);
// "# parameters: 174.6 billion": figures that follow from the entry.
std::string model_facts(const model::Transformer& model);

}  // namespace report
