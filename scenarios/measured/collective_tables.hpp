// SPDX-License-Identifier: Apache-2.0
// Published measurements of collectives: a table (CSV) beside the machine it was taken on (YAML).
#pragma once
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "scenarios/documents/cursor.hpp"
#include "topology/collective_table.hpp"

namespace scenarios {

// The names of the folder's tables, sorted: "NAME" for NAME.yaml. Throws Error if it is none.
std::vector<std::string> collective_table_names(const std::filesystem::path& folder);

// Reads NAME.yaml and NAME.csv; `sets` are "cluster.node.…=value", applied to the YAML first.
// Throws Error that names the file and the place of every mistake. `read` receives both files and
// those that the first one names.
topology::CollectiveTable load_collective_table(const std::filesystem::path& folder,
                                                const std::string& name,
                                                std::span<const std::string> sets = {},
                                                Files* read = nullptr);

// A table with its description as written. read_again() returns its machine, read with these
// entries in place of the catalog's; `named` receives the names of all entries that it rests on.
struct CollectiveTableFile {
  topology::CollectiveTable table;
  std::shared_ptr<const Value> description;
};
CollectiveTableFile load_collective_table_file(const std::filesystem::path& folder,
                                               const std::string& name,
                                               std::span<const std::string> sets = {},
                                               Files* read = nullptr);
topology::Cluster read_again(const CollectiveTableFile& file, const Entries& entries,
                             std::set<std::string>* named = nullptr);

}  // namespace scenarios
