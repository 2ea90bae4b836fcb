// SPDX-License-Identifier: Apache-2.0
// The catalog: models, devices, nodes, fabrics and software profiles that a scenario can name. Each
// is a YAML file inside of the program, with the sources of its figures.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer.hpp"
#include "plans/software.hpp"
#include "topology/cluster.hpp"

namespace scenarios {

enum class Kind { model, device, node, fabric, software };

std::span<const std::string_view> catalog_kinds();  // "model", "device", … as on the command line
std::string_view to_text(Kind kind);
std::optional<Kind> parse_kind(std::string_view text);

std::vector<std::string_view> catalog_names(Kind kind);  // sorted
// The entry's YAML as written; nothing for an unknown name. O(log entries).
std::optional<std::string_view> catalog_text(Kind kind, std::string_view name);
// The path of the entry under scenarios/catalog: "devices/b200.yaml".
std::string catalog_path(Kind kind, std::string_view name);
// A table of measured kernels, by file name: "a100.csv".
std::optional<std::string_view> catalog_kernels(std::string_view name);

// "unknown node 'dgx-a10'; expected one of …; did you mean 'dgx-1v'?"
std::string unknown_name(Kind kind, std::string_view name);

// Read one entry. They throw Error for an unknown name, with the nearest, and for an entry that
// needs a feature that is not supported yet (then only_unsupported() holds).
model::Transformer catalog_model(std::string_view name);
topology::Device catalog_device(std::string_view name);
topology::Node catalog_node(std::string_view name);
topology::Fabric catalog_fabric(std::string_view name);
// Returns a cluster of `nodes` nodes on a fabric, both by name, with only the NICs that the fabric
// connects.
topology::Cluster catalog_cluster(std::string_view node, std::string_view fabric,
                                  std::int64_t nodes);
strategies::Software catalog_software(std::string_view name);

// Read a cluster, or a device, as a scenario writes them, in YAML or JSON; a device by its name, or
// as a mapping over one. Throw Error with every mistake; complaints call the text `name`.
topology::Cluster described_cluster(std::string_view text, const std::string& name);
topology::Device described_device(std::string_view text, const std::string& name);

}  // namespace scenarios
