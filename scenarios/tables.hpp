// SPDX-License-Identifier: Apache-2.0
// The parts of a scenario, each read from a catalog name or a mapping, and their tables of keys.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/transformer.hpp"
#include "plans/plan.hpp"
#include "plans/software.hpp"
#include "scenarios/documents/cursor.hpp"
#include "scenarios/documents/form.hpp"
#include "scenarios/keys.hpp"
#include "topology/cluster.hpp"

namespace scenarios {

// A fabric, and the number of a node's NICs that it uses (TCP: one); nothing: all.
struct FabricDraft {
  topology::Fabric fabric;
  std::optional<int> nics_per_node;
  void finish() {}
};

// Readers complain through the cursor and return what could be read.
model::Transformer read_model(const Cursor& at);
void read_device(topology::Device& device, const Cursor& at);  // over what is there already
topology::Node read_node(const Cursor& at);
// Returns `gpus` GPUs of a node that has more, with their share of its NICs and of its power.
topology::Node partly_used(topology::Node node, int gpus);
FabricDraft read_fabric(const Cursor& at);
topology::Cluster read_cluster(const Cursor& at);
strategies::Software read_software(const Cursor& at);
strategies::Software usual_software(const Cursor& at);  // where `software` is left out
void read_training(strategies::Training& training, const Cursor& at);
void read_plan(strategies::Plan& plan, const Cursor& at);
void check_plan(const strategies::Plan& plan, const Cursor& at);  // once it is complete

// The keys of each mapping, for the schema.
std::vector<Field> model_fields();
std::vector<Field> device_fields();
std::vector<Field> node_fields();
std::vector<Field> fabric_fields();
std::vector<Field> cluster_fields();
std::vector<Field> software_fields();
std::vector<Field> training_fields();
std::vector<Field> plan_fields();
std::vector<Field> scenario_fields();

const Table<topology::Efficiency>& efficiency_table();  // of a device

constexpr double least_watts = 10, most_watts = 25e3;  // of one GPU with its share of a node
constexpr Range device_power{0, most_watts, "a bare number is in watts; write e.g. '700 W'"};

// A key of a power.
template <class Target, class Get>
Key<Target> watts(std::string_view name, Range range, std::string_view description, Get get) {
  return quantity<Target>(Type::power, units::parse_power, name, "not known", range, description,
                          get);
}

// A name of the catalog, or a mapping of these keys.
Form name_or_map(const std::vector<Field>& fields);

}  // namespace scenarios
