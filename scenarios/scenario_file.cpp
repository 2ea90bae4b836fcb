// SPDX-License-Identifier: Apache-2.0
#include "scenarios/scenario_file.hpp"

#include <algorithm>
#include <utility>

#include "scenarios/catalog.hpp"
#include "scenarios/document.hpp"
#include "scenarios/named.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;

struct ClusterDraft {
  topology::Node node;
  std::int64_t nodes = 0, gpus = 0;
  std::optional<FabricDraft> fabric;
  double memory_fraction = 1.0;
};

constexpr Range machine{1, 10'000'000, "no cluster is that large"};

Table<ClusterDraft> make_cluster_table() {
  const Form gpus{.type = Type::list, .forms = {{.type = Type::whole, .range = {0, 1e7, ""}}}};
  const Form stragglers{
      .type = Type::list,
      .forms = {map_of({{"gpus", "Numbers of GPUs", "", gpus},
                        {"nodes", "Numbers of nodes", "", gpus},
                        {"slowdown",
                         "Times slower",
                         "",
                         {.type = Type::number, .range = {1, 1e6, "slower, not faster"}}}})}};
  const Form links{.type = Type::list,
                   .forms = {map_of({{"link", "Name of the link", "", {.type = Type::text}},
                                     {"factor",
                                      "Share of the bandwidth that is left",
                                      "",
                                      {.type = Type::number, .range = {0, 1, "a share"}}}})}};
  const auto none = [](const Value& value) { return value.items.empty(); };
  return {{{"node", "A node: a catalog name or a mapping", "", name_or_map(node_fields())},
           [](ClusterDraft& draft, const Cursor& at) { draft.node = read_node(at); }},
          whole<ClusterDraft>("nodes", "", machine, "Nodes of the cluster", &ClusterDraft::nodes),
          whole<ClusterDraft>("gpus", "", machine, "GPUs of the cluster, instead of nodes",
                              &ClusterDraft::gpus),
          {{"fabric", "The network between nodes: a catalog name or a mapping",
            "the node's usual fabric", name_or_map(fabric_fields())},
           [](ClusterDraft& draft, const Cursor& at) { draft.fabric = read_fabric(at); }},
          number<ClusterDraft>("memory_fraction", "1", {0.01, 1, "a share of device memory"},
                               "Share of device memory that the job may use",
                               &ClusterDraft::memory_fraction),
          not_yet<ClusterDraft>("stragglers", "none", stragglers, "GPUs or nodes that are slower",
                                none, "leave it out: all GPUs are equally fast"),
          not_yet<ClusterDraft>("degraded_links", "none", links, "Links that lost bandwidth", none,
                                "leave it out: all links are whole")};
}

const Table<ClusterDraft>& cluster_table() {
  static const auto table = make_cluster_table();
  return table;
}

// The fabric that the file names, or the node's own; one node needs none.
topology::Fabric fabric_of(ClusterDraft& draft, const Cursor& at, bool several) {
  if (!draft.fabric) {
    const auto& usual = draft.node.usual_fabric;
    topology::Fabric none;
    none.name = "fabric";  // what the reader calls one without a name
    none.kind = topology::Fabric::Kind::single_switch;
    none.link_bandwidth =
        draft.node.nics.count > 0 ? draft.node.nics.bandwidth : draft.node.pcie.bandwidth;
    if (usual.empty()) {
      if (several && !at.reading().doubtful("cluster.node"))
        at.missing("fabric", "node '" + draft.node.name +
                                 "' names no usual fabric, and several nodes need one");
      return none;
    }
    Value name;
    name.kind = Value::Kind::scalar;
    name.text = usual;
    draft.fabric = read_fabric(at.instead(name, at.value()));
  }
  if (const auto limit = draft.fabric->nics_per_node)
    draft.node.nics.count = std::min(draft.node.nics.count, *limit);
  return draft.fabric->fabric;
}

}  // namespace

topology::Cluster read_cluster(const Cursor& at) {
  ClusterDraft draft;
  read_map(cluster_table(), draft, at);
  if (at.value().kind != Value::Kind::map) return {};
  require({"node"}, "a cluster is made of nodes", at);
  const bool nodes = at.value().find("nodes") != nullptr, gpus = at.value().find("gpus") != nullptr;
  if (nodes && gpus) at.complain("both nodes and gpus are given; keep one of them");
  if (!nodes && !gpus) at.missing("nodes", "a cluster needs nodes: N or gpus: N");
  topology::Cluster cluster;
  cluster.gpus = draft.gpus > 0 ? draft.gpus : draft.nodes * draft.node.gpus;
  const bool several = cluster.gpus > draft.node.gpus;
  cluster.fabric = fabric_of(draft, at, several);
  if (several && draft.node.nics.count == 0 && !at.reading().doubtful("cluster.node"))
    at.complain("node '" + draft.node.name +
                "' has no NICs, but there are several nodes; give "
                "cluster.node.nics: {count, bandwidth}");
  cluster.node = std::move(draft.node);
  cluster.memory_fraction = draft.memory_fraction;
  return cluster;
}

std::vector<Field> cluster_fields() { return fields_of(cluster_table()); }

namespace {

const std::vector<Field>& published_fields() {
  static const std::vector<Field> fields{
      {"step_time",
       "Measured time of one step",
       "",
       {.type = Type::duration, .range = {0, 1e6, "a step ends within days"}}},
      {"source", "Where it was published", "", {.type = Type::text}},
      {"note", "How the figure was derived", "", {.type = Type::text}}};
  return fields;
}

Table<Scenario> make_table() {
  return {
      text<Scenario>("name", "A name for reports", &Scenario::name),
      {{"model", "The model: a catalog name or a mapping", "", name_or_map(model_fields())},
       [](Scenario& scenario, const Cursor& at) { scenario.model = read_model(at); }},
      {{"cluster", "The machine", "", map_of(fields_of(cluster_table()))},
       [](Scenario& scenario, const Cursor& at) { scenario.cluster = read_cluster(at); }},
      {{"training", "What one step trains on", "", map_of(training_fields())},
       [](Scenario& scenario, const Cursor& at) {
         read_training(scenario.training, at);
         require({"sequence_length", "global_batch"},
                 "a step needs sequence_length and global_batch", at);
       }},
      {{"plan", "Who does what", "one GPU does everything", map_of(plan_fields())},
       [](Scenario& scenario, const Cursor& at) { read_plan(scenario.plan, at); }},
      {{"software", "The framework: a catalog name or a mapping", "megatron-core",
        name_or_map(software_fields())},
       [](Scenario& scenario, const Cursor& at) { scenario.software = read_software(at); }},
      unread<Scenario>("search", {.type = Type::map}, "Limits of a search; nothing for one plan"),
      unread<Scenario>("published", map_of(published_fields()),
                       "What such a run was measured to take")};
}

const Table<Scenario>& table() {
  static const auto made = make_table();
  return made;
}

const Value* path(const Value& document, std::string_view first, std::string_view second) {
  const auto* outer = document.find(first);
  return outer == nullptr ? nullptr : outer->find(second);
}

// What was left out and follows from the rest.
void complete(Scenario& scenario, bool data_given) {
  auto& plan = scenario.plan;
  if (!data_given)
    plan.data = std::max<std::int64_t>(1, scenario.cluster.gpus / (plan.tensor * plan.pipeline));
  auto& model = scenario.model;
  if (model.max_sequence == 0) model.max_sequence = scenario.training.sequence_length;
  if (scenario.name.empty())
    scenario.name = model.name + " on " + std::to_string(scenario.cluster.gpus) + " GPUs of " +
                    scenario.cluster.node.name;
}

}  // namespace

std::vector<Field> scenario_fields() { return fields_of(table()); }

Scenario read_document(const Value& document, Reading& reading) {
  const Cursor root(document, "", reading);
  Scenario scenario;
  if (document.kind != Value::Kind::map) {
    root.complain("expected a map with model, cluster, training and plan");
    return scenario;
  }
  read_map(table(), scenario, root);
  require({"model", "cluster", "training"}, "a scenario needs model, cluster and training", root);
  if (document.find("software") == nullptr) scenario.software = catalog_software("megatron-core");
  const bool data_given = path(document, "plan", "data") != nullptr;
  complete(scenario, data_given);
  check_scenario(scenario, data_given, document, reading);
  return scenario;
}

Scenario read_scenario(std::string_view text, const std::string& file_name,
                       std::span<const std::string> sets, const std::filesystem::path& base) {
  Value document = parse_yaml(text, file_name);
  Reading reading(file_name, base);
  apply_sets(document, sets, reading);
  auto scenario = read_document(document, reading);
  reading.throw_if_any();
  return scenario;
}

Scenario load_scenario(const std::filesystem::path& file, std::span<const std::string> sets) {
  return read_scenario(read_file(file), file.string(), sets, file.parent_path());
}

std::optional<Published> read_published(std::string_view text, const std::string& file_name) {
  const Value document = parse_yaml(text, file_name);
  const auto* published = document.find("published");
  if (published == nullptr) return {};
  Reading reading(file_name, {});
  check(map_of(published_fields()), Cursor(*published, "published", reading));
  reading.throw_if_any();
  const auto word = [&](std::string_view key) {
    const auto* value = published->find(key);
    return value == nullptr ? std::string() : value->text;
  };
  Published result{{}, word("source"), word("note")};
  if (const auto time = word("step_time"); !time.empty())
    result.step_time = units::parse_duration(time);
  return result;
}

std::optional<Published> load_published(const std::filesystem::path& file) {
  return read_published(read_file(file), file.string());
}

}  // namespace scenarios
