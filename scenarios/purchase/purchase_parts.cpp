// SPDX-License-Identifier: Apache-2.0
#include "scenarios/purchase/purchase_parts.hpp"

#include <algorithm>
#include <cmath>

#include "scenarios/named.hpp"
#include "topology/fabric_plan.hpp"

namespace scenarios {
namespace {

using topology::Cluster;
using Clusters = std::vector<std::pair<std::string, Value>>;

constexpr Range nodes_range{1, 10'000'000, "no cluster is that large"};

struct Series {
  std::int64_t from = 1, to = 1, step = 0;
  double factor = 0;
};

const Table<Series>& series_table() {
  static const Table<Series> table{
      whole<Series>("from", "", nodes_range, "The first", &Series::from),
      whole<Series>("to", "", nodes_range, "None beyond", &Series::to),
      whole<Series>("step", "", nodes_range, "Added each time", &Series::step),
      number<Series>("factor", "", {1.01, 1e6, "each is more than the one before"},
                     "Multiplied with each time", &Series::factor)};
  return table;
}

// {from, to, step or factor} as numbers; none after complaining.
std::vector<std::int64_t> series_of(const Cursor& at) {
  constexpr std::size_t most = 1000;
  Series series;
  read_map(series_table(), series, at);
  require({"from", "to"}, "a range has from, to, and step or factor", at);
  const bool step = at.find("step").has_value(), factor = at.find("factor").has_value();
  if (step == factor) at.complain("a range has either step or factor");
  if (series.to < series.from) at.complain_at("to", "is below from; give a larger one");
  std::vector<std::int64_t> numbers;
  if (at.reading().doubtful(at.path())) return numbers;
  for (auto number = series.from; number <= series.to && numbers.size() <= most;) {
    numbers.push_back(number);
    number =
        step ? number + series.step
             : std::max(number + 1,
                        std::int64_t{std::llround(static_cast<double>(number) * series.factor)});
  }
  if (numbers.size() > most) at.complain("more than 1000 numbers of nodes; take a larger step");
  return numbers;
}

std::vector<Value> numbers_of_nodes(const Cursor& at) {
  if (at.value().kind == Value::Kind::list) {
    if (at.value().items.empty()) at.complain("an empty list; write numbers of nodes");
    return at.value().items;
  }
  std::vector<Value> values;
  for (const auto number : series_of(at)) {
    auto value = at.value();
    value.kind = Value::Kind::scalar;
    value.members.clear();
    value.text = std::to_string(number);
    values.push_back(std::move(value));
  }
  return values;
}

std::string fabric_name(const Value& fabric, std::size_t index) {
  if (fabric.kind == Value::Kind::scalar) return fabric.text;
  const auto* base = fabric.find("base");
  return (base == nullptr ? "fabric" : base->text) + "." + std::to_string(index);
}

// Each of the clusters with each of the values in place of what stands under the key.
Clusters with_each(const Clusters& clusters, std::string_view key,
                   const std::vector<std::pair<std::string, Value>>& values) {
  Clusters all;
  for (const auto& [suffix, cluster] : clusters)
    for (const auto& [name, value] : values) {
      all.emplace_back(suffix + "/" + name, cluster);
      *all.back().second.find(key) = value;
    }
  return all;
}

// --- What is paid

// A figure of a node, over all nodes of all kinds.
template <class Quantity>
Quantity mean_of(const Cluster& cluster, Quantity topology::Node::*figure) {
  const auto nodes = static_cast<double>(cluster.nodes());
  double first = nodes;
  Quantity sum;
  for (const auto& part : cluster.others) {
    first -= static_cast<double>(part.nodes);
    sum += static_cast<double>(part.nodes) * part.node.*figure;
  }
  return (sum + first * cluster.node.*figure) / nodes;
}

bool every_node_has_price(const Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.kinds(); ++i)
    if (!(cluster.kind(i).price.value > 0)) return false;
  return true;
}

// Whether the file itself says what a node costs.
bool gives_price(const Cursor& cluster) {
  const auto node = cluster.find("node");
  return node && node->find("price").has_value();
}

// What of the texts under the key speaks of the price: "spreadsheet, August 2024".
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

void add_source(search::QuotedPrice& price, const Cursor& cluster) {
  const auto node = cluster.find("node");
  const auto name = node ? name_place(*node) : std::nullopt;
  const auto yaml = name ? catalog_text(Kind::node, name->value().text) : std::nullopt;
  if (!yaml) return;
  const auto entry = parse_yaml(*yaml, "catalog");
  const auto source = text_on_price(entry, "source");
  const bool remembered = !text_on_price(entry, "from_memory").empty();
  price.estimated = remembered || source.empty() || source.find("estimate") != source.npos;
  price.source = "catalog, " + name->value().text + (source.empty() ? "" : ": " + source);
}

// The catalog's switches, shared among nodes; cables and their ends are not in it.
units::Money switches_per_node(const Cluster& cluster) {
  if (cluster.nodes() < 2) return {};
  return topology::plan_of(cluster).price.value_or(units::Money{}) /
         static_cast<double>(cluster.nodes());
}

void complete_price(OptionDraft& draft, const search::Economics& economics, const Cursor& cluster) {
  const auto& of = draft.option.cluster();
  if (!draft.option.price) draft.option.price.emplace();
  auto& price = *draft.option.price;
  if (draft.has_price) return;
  if (!every_node_has_price(of))
    return cluster.complain("node '" + of.node.name +
                            "' has no price in the catalog; give the option price: {node: …}, or "
                            "rent: {per_gpu_hour: …}");
  if (!gives_price(cluster)) {
    if (economics.currency != "USD")
      return cluster.complain("prices of the catalog are in USD, and economics.currency is " +
                              economics.currency + "; give the option price: {node: … " +
                              economics.currency + "}");
    add_source(price, cluster);
  }
  price.node = mean_of(of, &topology::Node::price);
  if (!draft.prices_network && economics.currency == "USD")
    price.network_per_node = switches_per_node(of);
}

void complete_power(OptionDraft& draft, const Cursor& cluster) {
  auto& power = draft.option.power;
  if (!(power.nameplate.value > 0))
    power.nameplate = mean_of(draft.option.cluster(), &topology::Node::power);
  if (!(power.nameplate.value > 0))
    cluster.complain("what node '" + draft.option.cluster().node.name +
                     "' draws is not known; give the option power: {nameplate: …}");
  if (power.idle && *power.idle > power.nameplate)
    cluster.complain("the option's power.idle is above its nameplate");
}

}  // namespace

Form series_of_nodes_form() {
  const Form list{.type = Type::list,
                  .range = {1, 1000, "numbers of nodes"},
                  .forms = {{.type = Type::whole, .range = nodes_range}}};
  return {.type = Type::either, .forms = {list, map_of(fields_of(series_table()))}};
}

Clusters clusters_of(const Cursor& cluster) {
  Clusters all{{"", cluster.value()}};
  if (const auto nodes = cluster.find("nodes"))
    if (nodes->value().kind == Value::Kind::list || nodes->value().kind == Value::Kind::map) {
      std::vector<std::pair<std::string, Value>> values;
      for (const auto& value : numbers_of_nodes(*nodes)) values.emplace_back(value.text, value);
      all = with_each(all, "nodes", values);
    }
  if (const auto fabric = cluster.find("fabric"))
    if (fabric->value().kind == Value::Kind::list) {
      std::vector<std::pair<std::string, Value>> values;
      for (const auto& value : fabric->value().items)
        values.emplace_back(fabric_name(value, values.size()), value);
      if (values.empty()) fabric->complain("an empty list; write fabrics");
      all = with_each(all, "fabric", values);
    }
  return all;
}

void check_payment(const OptionDraft& draft, const Cursor& at) {
  if (!at.find("rent")) return;
  if (at.find("price")) at.complain_at("rent", "both price and rent are given; keep one of them");
  for (const auto* key : {"residual_value", "lifetime"})
    if (at.find(key)) at.complain_at(key, "is of what is bought; leave it out");
  if (draft.option.support_per_year.share > 0)
    at.complain_at("support_per_year",
                   "nothing is bought of which it could be a share; write an amount");
}

void complete_option(OptionDraft& draft, const search::Economics& economics, const Cursor& at) {
  const auto sound = [&](std::string_view key) {
    return !at.reading().doubtful(at.inner_path(key));
  };
  if (!draft.option.rent && sound("price") && sound("rent"))
    complete_price(draft, economics, *at.find("cluster"));
  if (sound("power")) complete_power(draft, *at.find("cluster"));
  constexpr units::Watts rack{41e3};
  const double fed = std::max(1.0, std::floor(rack / draft.option.power.nameplate));
  draft.option.nodes_per_rack = draft.nodes_per_rack.value_or(fed);
}

}  // namespace scenarios
