// SPDX-License-Identifier: Apache-2.0
#include "scenarios/purchase/purchase_parts.hpp"

#include <algorithm>
#include <cmath>

#include "scenarios/named.hpp"
#include "scenarios/purchase/catalog_price.hpp"
#include "search/purchase/machine_prices.hpp"

namespace scenarios {
namespace {

using topology::Cluster;
using Clusters = std::vector<ClusterOption>;

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

// Returns the numbers of {from, to, step or factor}; none after a complaint.
std::vector<std::int64_t> series_of(const Cursor& at) {
  constexpr std::size_t most = 1000;
  Series series;
  read_map(series_table(), series, at);
  require({"from", "to"}, "a range has from, to, and step or factor", at);
  const bool step = at.find("step").has_value(), factor = at.find("factor").has_value();
  if (step && factor) at.complain("a range has either step or factor");
  if (at.find("to") && series.to < series.from)
    at.complain_at("to", "is below from; give a larger one");
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

// Returns each of the clusters with each of the values under the key.
Clusters with_each(const Clusters& clusters, std::string_view key,
                   const std::vector<std::pair<std::string, Value>>& values) {
  Clusters all;
  for (const auto& cluster : clusters)
    for (const auto& [name, value] : values) {
      all.push_back({cluster.suffix + "/" + name, cluster.value, cluster.find});
      *all.back().value.find(key) = value;
    }
  return all;
}

Clusters with_fabrics(Clusters all, const Cursor& cluster) {
  const auto fabric = cluster.find("fabric");
  if (!fabric || fabric->value().kind != Value::Kind::list) return all;
  std::vector<std::pair<std::string, Value>> values;
  for (const auto& value : fabric->value().items)
    values.emplace_back(fabric_name(value, values.size()), value);
  if (values.empty()) fabric->complain("an empty list; write fabrics");
  return with_each(all, "fabric", values);
}

// Returns the option of a cluster whose number of nodes is to be found: a range without steps, or
// no number under some limit; else nothing. The cluster is read with the least number of nodes, but
// with two if there may be two, because two nodes need a fabric.
std::optional<ClusterOption> found_nodes(const Cursor& cluster,
                                         const search::Constraints& constraints) {
  search::NodeCounts counts;
  const auto nodes = cluster.find("nodes");
  if (nodes) {
    if (nodes->value().kind != Value::Kind::map || nodes->find("step") || nodes->find("factor"))
      return {};
    Series series{.to = 0};
    read_map(series_table(), series, *nodes);
    require({"from", "to"}, "a range has from and to", *nodes);
    if (nodes->find("to") && series.to < series.from)
      nodes->complain_at("to", "is below from; give a larger one");
    counts = {series.from, std::max(series.from, series.to)};
  } else {
    const auto& c = constraints;
    const bool limited = c.deadline || c.budget || c.power || c.racks;
    for (const auto* key : {"gpus", "trays", "racks"})
      if (cluster.find(key)) return {};
    const auto node = cluster.find("node");
    if (!limited || (node && node->value().kind == Value::Kind::list)) return {};
  }
  ClusterOption option{"", cluster.value(), counts};
  auto number = nodes ? nodes->value() : cluster.value();
  number.kind = Value::Kind::scalar;
  number.members.clear();
  number.text =
      std::to_string(std::max(counts.least, std::min<std::int64_t>(2, counts.most.value_or(2))));
  if (nodes)
    *option.value.find("nodes") = std::move(number);
  else
    show_key(option.value, "nodes", std::move(number));
  return option;
}

// --- What is paid

// Whether the file itself gives the price of a node.
bool gives_price(const Cursor& cluster) {
  const auto node = cluster.find("node");
  return node && node->find("price").has_value();
}

void add_source(search::QuotedPrice& price, const Cursor& cluster) {
  const auto node = cluster.find("node");
  const auto name = node ? name_place(*node) : std::nullopt;
  if (name) add_price_source(price, name->value().text);
}

void complete_price(OptionDraft& draft, const search::Economics& economics, const Cursor& cluster) {
  const auto& of = draft.option.cluster();
  if (!draft.option.price) draft.option.price.emplace();
  auto& price = *draft.option.price;
  if (draft.has_price) return;
  const auto node_price = search::price_per_node(of);
  if (!node_price)
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
  price.node = *node_price;
  price.network_of_catalog = !draft.prices_network && economics.currency == "USD";
  if (price.network_of_catalog) price.network_per_node = search::switches_per_node(of);
}

void complete_power(OptionDraft& draft, const Cursor& cluster) {
  auto& power = draft.option.power;
  if (!(power.nameplate.value > 0))
    power.nameplate = search::power_per_node(draft.option.cluster());
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

Clusters clusters_of(const Cursor& cluster, const search::Constraints& constraints) {
  if (auto found = found_nodes(cluster, constraints)) return with_fabrics({*found}, cluster);
  Clusters all{{"", cluster.value(), {}}};
  if (const auto nodes = cluster.find("nodes"))
    if (nodes->value().kind == Value::Kind::list || nodes->value().kind == Value::Kind::map) {
      std::vector<std::pair<std::string, Value>> values;
      for (const auto& value : numbers_of_nodes(*nodes)) values.emplace_back(value.text, value);
      all = with_each(all, "nodes", values);
    }
  return with_fabrics(std::move(all), cluster);
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
  draft.option.nodes_per_rack =
      draft.nodes_per_rack.value_or(search::nodes_fed_by_rack(draft.option.power.nameplate));
}

}  // namespace scenarios
