// SPDX-License-Identifier: Apache-2.0
#include "scenarios/purchase/catalog_price.hpp"

#include "scenarios/catalog.hpp"
#include "scenarios/documents/yaml.hpp"
#include "search/purchase/machine_prices.hpp"

namespace scenarios {
namespace {

// Returns the part of the texts under the key that follows the word "price": "spreadsheet, August
// 2024".
std::string text_on_price(const Value& entry, std::string_view key) {
  const auto* texts = entry.find(key);
  if (texts == nullptr) return {};
  auto all = texts->items;
  if (texts->kind == Value::Kind::scalar) all.push_back(*texts);
  for (const auto& one : all)
    if (const auto found = one.text.find("price"); found != std::string::npos) {
      const auto rest = one.text.substr(found + std::string_view("price").size());
      return rest.starts_with(": ") ? rest.substr(2) : rest.empty() ? "price" : rest;
    }
  return {};
}

// Whether the node's price is the one that the catalog has for its name, or, of a part of the node,
// its share.
bool priced_by_catalog(const topology::Node& node) {
  if (!catalog_text(Kind::node, node.name)) return false;
  const auto whole = catalog_node(node.name);
  return node.price == static_cast<double>(node.gpus) / whole.gpus * whole.price;
}

}  // namespace

void add_price_source(search::QuotedPrice& price, const std::string& node) {
  const auto yaml = catalog_text(Kind::node, node);
  if (!yaml) return;
  const auto entry = parse_yaml(*yaml, "catalog");
  const auto source = text_on_price(entry, "source");
  const bool remembered = !text_on_price(entry, "from_memory").empty();
  price.estimated = remembered || source.empty() || source.find("estimate") != source.npos;
  price.source = "catalog, " + node + (source.empty() ? "" : ": " + source);
}

std::optional<search::QuotedPrice> price_of(const topology::Cluster& cluster) {
  const auto node = search::price_per_node(cluster);
  if (!node) return {};
  search::QuotedPrice price{*node, search::switches_per_node(cluster), "", false, true};
  if (priced_by_catalog(cluster.node)) add_price_source(price, cluster.node.name);
  return price;
}

}  // namespace scenarios
