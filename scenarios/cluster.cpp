// SPDX-License-Identifier: Apache-2.0
// The machine: nodes of one kind or of several, and the fabric between them.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scenarios/checks/checker.hpp"
#include "scenarios/faults.hpp"
#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"
#include "topology/fabric_plan.hpp"

namespace scenarios {
namespace {

using topology::Cluster;
using topology::Part;

struct ClusterDraft {
  std::vector<Part> parts;  // one, of no number yet, unless `node` is a list
  bool listed = false;
  std::int64_t nodes = 0, gpus = 0, trays = 0, racks = 0;
  std::optional<FabricDraft> fabric;
  double memory_fraction = 1.0;
  std::optional<Cursor> stragglers, degraded_links;
  const Cluster* made = nullptr;  // whose nodes, fabric and faults are shown
};
ClusterDraft draft_of(const Cluster& cluster) {
  return {.gpus = cluster.gpus, .memory_fraction = cluster.memory_fraction, .made = &cluster};
}

constexpr Range machine{1, 10'000'000, "no cluster is that large"};

const Table<Part>& part_table() {
  static const Table<Part> table{
      {{"node", "A kind of node: a catalog name or a mapping", "", name_or_map(node_fields())},
       [](Part& part, const Cursor& at) { part.node = read_node(at); },
       [](const Part& part) { return std::optional(shown(part.node)); }},
      whole<Part>("nodes", "", machine, "Nodes of this kind", &Part::nodes)};
  return table;
}

Form node_form() {
  auto form = name_or_map(node_fields());
  form.forms.push_back({.type = Type::list,
                        .range = {1, 32, "kinds of node"},
                        .forms = {map_of(fields_of(part_table()))}});
  return form;
}

void read_parts(ClusterDraft& draft, const Cursor& at) {
  draft.listed = at.value().kind == Value::Kind::list;
  if (!draft.listed) {
    draft.parts = {{read_node(at), 0}};
    return;
  }
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    read_map(part_table(), draft.parts.emplace_back(), at.item(i));
    require({"node", "nodes"}, "every kind of node has a name or a mapping, and a number of nodes",
            at.item(i));
  }
}

std::int64_t listed_nodes(const std::vector<Part>& parts) {
  std::int64_t nodes = 0;
  for (const auto& part : parts) nodes += part.nodes;
  return nodes;
}

// Shows one kind of node as itself, several as a list with their numbers.
Value show_nodes(const Cluster& cluster) {
  if (cluster.others.empty()) return shown(cluster.node);
  std::vector<Part> parts{{cluster.node, cluster.nodes() - listed_nodes(cluster.others)}};
  parts.insert(parts.end(), cluster.others.begin(), cluster.others.end());
  return shown_list(parts, [](const Part& part) { return show_map(part_table(), part); });
}

// Returns the number of a node's NICs that the catalog's fabric of that name connects; nothing:
// all.
std::optional<int> nics_connected(const std::string& fabric) {
  const auto text = catalog_text(Kind::fabric, fabric);
  if (!text || text->find("nics_per_node") == text->npos) return {};
  Reading reading(fabric, {});
  const auto name = shown_text(fabric);
  return read_fabric(Cursor(name, "fabric", reading)).nics_per_node;
}

// Shows the fabric, with nics_per_node if its base connects fewer NICs than nodes have here.
Value show_fabric(const Cluster& cluster) {
  auto keys = shown(cluster.fabric);
  const auto count = cluster.node.nics.count;
  if (const auto most = nics_connected(cluster.fabric.name); most && *most < count)
    show_key(keys, "nics_per_node", shown_whole(count));
  return keys;
}

std::optional<Value> show_some_stragglers(const ClusterDraft& draft) {
  if (draft.made->stragglers.empty()) return {};
  return show_stragglers(*draft.made);
}

std::optional<Value> show_some_degraded_links(const ClusterDraft& draft) {
  if (draft.made->degraded_links.empty()) return {};
  return show_degraded_links(*draft.made);
}

Table<ClusterDraft> make_cluster_table() {
  return {
      {{"node", "A node: a catalog name or a mapping; or a list of kinds of node", "", node_form()},
       read_parts,
       [](const ClusterDraft& draft) { return std::optional(show_nodes(*draft.made)); }},
      shown_as(nullptr, whole<ClusterDraft>("nodes", "", machine, "Nodes of the cluster",
                                            &ClusterDraft::nodes)),
      whole<ClusterDraft>("gpus", "", machine, "GPUs of the cluster, instead of nodes",
                          &ClusterDraft::gpus),
      shown_as(nullptr, whole<ClusterDraft>("trays", "", machine,
                                            "Compute trays of rack-scale nodes, instead of nodes: "
                                            "they fill one rack after the other",
                                            &ClusterDraft::trays)),
      shown_as(nullptr, whole<ClusterDraft>("racks", "", machine,
                                            "Racks: another word for nodes, where a node is one; "
                                            "with trays: over which these are spread evenly",
                                            &ClusterDraft::racks)),
      {{"fabric", "The network between nodes: a catalog name or a mapping",
        "the usual fabric of the first node", name_or_map(fabric_fields())},
       [](ClusterDraft& draft, const Cursor& at) { draft.fabric = read_fabric(at); },
       [](const ClusterDraft& draft) { return std::optional(show_fabric(*draft.made)); }},
      number<ClusterDraft>("memory_fraction", "1", {0.01, 1, "a share of device memory"},
                           "Share of device memory that the job may use",
                           &ClusterDraft::memory_fraction),
      {{"stragglers", "GPUs or nodes that compute slower than their kind", "none",
        stragglers_form()},
       [](ClusterDraft& draft, const Cursor& at) { draft.stragglers = at; },
       show_some_stragglers},
      {{"degraded_links", "Links that lost bandwidth or failed", "none", degraded_links_form()},
       [](ClusterDraft& draft, const Cursor& at) { draft.degraded_links = at; },
       show_some_degraded_links}};
}

const Table<ClusterDraft>& cluster_table() {
  static const auto table = make_cluster_table();
  return table;
}

// Returns the innermost value along these keys, each inside the one before, that the file has.
Cursor innermost(Cursor at, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) {
    const auto inner = at.find(key);
    if (!inner) break;
    at = *inner;
  }
  return at;
}

bool doubtful(const Cursor& at, std::string_view key) {
  return at.reading().doubtful(at.inner_path(key));
}

std::string list_of(const std::vector<std::string_view>& keys) {
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i)
    (text += i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") += keys[i];
  return text;
}

// Complains if more than one key gives the size of the cluster, except for trays together with
// racks.
void check_counts(const Cursor& at) {
  std::vector<std::string_view> given;
  for (const std::string_view key : {"nodes", "gpus", "trays", "racks"})
    if (at.find(key)) given.push_back(key);
  const bool spread = given == std::vector<std::string_view>{"trays", "racks"};
  if (given.size() > 1 && !spread)
    at.complain((given.size() == 2 ? "both " : "") + list_of(given) +
                " are given; keep one of them");
}

// Returns the GPUs of the given trays or racks; trays that are spread over racks leave a part of
// each rack empty.
std::int64_t count_by_rack(ClusterDraft& draft, const Cursor& at) {
  auto& node = draft.parts.front().node;
  const auto place = draft.trays > 0 ? "trays" : "racks";
  if (node.tray == 0) {
    if (!doubtful(at, "node"))
      at.complain_at(place, "node '" + node.name +
                                "' is one machine, of no trays; write nodes, or "
                                "give node.tray, the GPUs of one tray");
    return node.gpus;
  }
  if (draft.trays == 0) return draft.racks * node.gpus;
  if (draft.racks == 0) return draft.trays * node.tray;
  const std::int64_t most = node.gpus / node.tray, each = draft.trays / draft.racks;
  if (draft.trays % draft.racks != 0 || each > most) {
    at.complain_at("trays", digits(draft.trays) + " trays do not fill " + digits(draft.racks) +
                                " racks evenly, of which each holds up to " + digits(most) +
                                "; write e.g. " +
                                digits(draft.racks * std::clamp<std::int64_t>(each + 1, 1, most)));
    return draft.trays * node.tray;
  }
  const auto used = each * node.tray;
  if (used < node.gpus) node = partly_used(std::move(node), static_cast<int>(used));
  return draft.racks * used;
}

// Returns the GPUs of the cluster. A list of kinds of node gives the number of nodes; keys that
// give it again must agree.
std::int64_t count_gpus(ClusterDraft& draft, const Cursor& at) {
  const bool nodes = at.find("nodes").has_value(), gpus = at.find("gpus").has_value();
  const std::int64_t per_node = draft.parts.front().node.gpus;
  check_counts(at);
  if (!draft.listed) {
    if (draft.trays > 0 || draft.racks > 0) return count_by_rack(draft, at);
    if (!nodes && !gpus) at.missing("nodes", "a cluster needs nodes: N or gpus: N");
    return draft.gpus > 0 ? draft.gpus : draft.nodes * per_node;
  }
  const auto total = listed_nodes(draft.parts);
  for (const auto* key : {"trays", "racks"})
    if (at.find(key)) at.complain_at(key, "the kinds of node say how many there are; leave it out");
  if (doubtful(at, "node")) return total * per_node;
  if (draft.nodes > 0 && draft.nodes != total)
    at.complain_at("nodes", digits(draft.nodes) + ", but the kinds of node add up to " +
                                digits(total) + "; leave nodes out or write " + digits(total));
  if (draft.gpus > 0 && draft.gpus != total * per_node)
    at.complain_at("gpus", digits(draft.gpus) + ", but the kinds of node add up to " +
                               digits(total * per_node) + " GPUs; leave gpus out or write " +
                               digits(total * per_node));
  return total * per_node;
}

// Returns the fabric that the file names, or the node's usual one; one node needs none.
FabricDraft fabric_of(const ClusterDraft& draft, const Cursor& at, bool several) {
  if (draft.fabric) return *draft.fabric;
  const auto& node = draft.parts.front().node;
  if (!node.usual_fabric.empty()) {
    Value name;
    name.kind = Value::Kind::scalar;
    name.text = node.usual_fabric;
    return read_fabric(at.instead(name, at.value()));
  }
  if (several && !doubtful(at, "node"))
    at.missing("fabric",
               "node '" + node.name + "' names no usual fabric, and several nodes need one");
  topology::Fabric none;
  none.name = "fabric";  // what the reader calls one without a name
  none.kind = topology::Fabric::Kind::single_switch;
  none.link_bandwidth = node.nics.count > 0 ? node.nics.bandwidth : node.pcie.bandwidth;
  return {none, {}};
}

// Leaves only the NICs that the fabric connects, at most `most` of a node.
void limit_nics(std::vector<Part>& parts, const std::optional<int>& most) {
  if (most)
    for (auto& part : parts) part.node.nics.count = std::min(part.node.nics.count, *most);
}

// Returns the key that decides the numbers of NICs and GPUs of a node: the first of these that the
// file has.
Cursor place_of_nics(const Cursor& node, const Cursor& fabric_limit) {
  if (fabric_limit.path().ends_with(".nics_per_node")) return fabric_limit;
  const auto nics = innermost(node, {"nics", "count"});
  return nics.path().ends_with(".count") ? nics : innermost(node, {"gpus"});
}

// Checks that one of the final numbers of NICs and GPUs divides the other, so that every GPU has a
// nearest NIC.
void check_nics(const ClusterDraft& draft, const Cursor& at) {
  const auto node = at.find("node");
  if (!node || doubtful(at, "node")) return;
  const auto limit = innermost(at, {"fabric", "nics_per_node"});
  for (std::size_t i = 0; i < draft.parts.size(); ++i) {
    const auto count = draft.parts[i].node.nics.count, gpus = draft.parts[i].node.gpus;
    if (count == 0 || count % gpus == 0 || gpus % count == 0) continue;
    const auto place = draft.listed ? innermost(node->item(i), {"node"}) : *node;
    place_of_nics(place, limit)
        .complain(digits(count) + " NICs do not match " + digits(gpus) +
                  " GPUs; one number must divide the other, so that every GPU has a NIC nearest to "
                  "it");
  }
}

// Checks that kinds of node have equally many GPUs and NICs: ranks are placed by node, and rings
// pass equally many NICs on each.
void check_alike(const std::vector<Part>& parts, const Cursor& at) {
  const auto list = at.find("node");
  if (parts.size() < 2 || at.reading().doubtful(list->path())) return;
  const auto& first = parts.front().node;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto& node = parts[i].node;
    const auto place = innermost(list->item(i), {"node"});
    if (node.gpus != first.gpus)
      place.complain(digits(node.gpus) + " GPUs beside nodes of " + digits(first.gpus) +
                     ": all kinds of node need as many; write {base: " + node.name +
                     ", gpus: " + digits(first.gpus) + "}");
    else if (node.nics.count != first.nics.count)
      place.complain(digits(node.nics.count) + " NICs beside nodes of " + digits(first.nics.count) +
                     ": all kinds of node need as many; write {base: " + node.name +
                     ", nics: {count: " + digits(first.nics.count) + "}}");
  }
}

// Whether the switches of the fabric join all nodes.
void check_joined(const Cluster& cluster, const Cursor& at) {
  const auto wrong = [](const Cluster& joined) -> std::string {
    try {
      topology::plan_of(joined);
      return {};
    } catch (const std::invalid_argument& why) {
      return why.what();
    }
  };
  const auto why = wrong(cluster);
  if (why.empty()) return;
  auto free = cluster;
  free.fabric.tiers.reset();
  const auto& node = cluster.node;
  const auto size = ": " + digits(cluster.nodes()) + " nodes of " + digits(node.nics.count) +
                    " NICs, " + digits(cluster.fabric.radix) + " ports per switch; ";
  if (wrong(free).empty())
    innermost(at, {"fabric", "tiers"})
        .complain(why + size + "leave tiers out, or give a larger radix");
  else
    innermost(at, {"fabric"}).complain(why + size + "give a larger radix, or fewer nodes");
}

void check_some_nics(const Cluster& cluster, const Cursor& at) {
  if (cluster.nodes() > 1 && cluster.node.nics.count == 0 && !doubtful(at, "node"))
    at.complain("node '" + cluster.node.name +
                "' has no NICs, but there are several nodes; give "
                "cluster.node.nics: {count, bandwidth}");
}

}  // namespace

Cluster read_cluster(const Cursor& at) {
  ClusterDraft draft;
  read_map(cluster_table(), draft, at);
  if (at.value().kind != Value::Kind::map) return {};
  require({"node"}, "a cluster is made of nodes", at);
  if (draft.parts.empty()) draft.parts.emplace_back();
  Cluster cluster;
  cluster.gpus = count_gpus(draft, at);
  const auto fabric = fabric_of(draft, at, cluster.gpus > draft.parts.front().node.gpus);
  limit_nics(draft.parts, fabric.nics_per_node);
  check_nics(draft, at);
  check_alike(draft.parts, at);
  cluster.fabric = fabric.fabric;
  cluster.node = std::move(draft.parts.front().node);
  cluster.others.assign(std::make_move_iterator(draft.parts.begin() + 1),
                        std::make_move_iterator(draft.parts.end()));
  cluster.memory_fraction = draft.memory_fraction;
  check_some_nics(cluster, at);
  if (cluster.nodes() > 1 && !at.reading().doubtful(at.path())) check_joined(cluster, at);
  const bool known = !at.reading().doubtful(at.path());
  if (draft.stragglers) read_stragglers(cluster, known, *draft.stragglers);
  if (draft.degraded_links) read_degraded_links(cluster, known, *draft.degraded_links);
  check_values(cluster_table(), draft_of(cluster), at);
  return cluster;
}

Value shown(const Cluster& cluster) { return show_map(cluster_table(), draft_of(cluster)); }

std::vector<Field> cluster_fields() { return fields_of(cluster_table()); }

}  // namespace scenarios
