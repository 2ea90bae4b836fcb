// SPDX-License-Identifier: Apache-2.0
// A purchase as people write it: workloads, options, what limits them and what they cost.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/yaml.hpp"
#include "search/purchase.hpp"

namespace scenarios {

// Reads a purchase. Text, sets, base, read and Error as read_scenario's (scenario_file.hpp). An
// option whose cluster lists numbers of nodes, or fabrics, becomes one for each: "rented/128". Each
// option's cluster with each workload is a question as read_question's. A node's price and power
// that are left out are the catalog's.
search::Purchase read_purchase(std::string_view text, const std::string& file_name,
                               std::span<const std::string> sets = {},
                               const std::filesystem::path& base = {}, Files* read = nullptr);

// The same from a file, which paths in it start from; `read` receives it too.
search::Purchase load_purchase(const std::filesystem::path& file,
                               std::span<const std::string> sets = {}, Files* read = nullptr);

}  // namespace scenarios
