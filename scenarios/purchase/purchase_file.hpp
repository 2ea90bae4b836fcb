// SPDX-License-Identifier: Apache-2.0
// The file of a purchase: workloads, options, limits and costs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "scenarios/documents/form.hpp"
#include "scenarios/placed.hpp"
#include "search/purchase/purchase.hpp"

namespace scenarios {

// A purchase with the places of its keys, for refusals of the simulation, and the files that were
// read.
struct PlacedPurchase {
  search::Purchase value;
  Origin origin;
  std::vector<std::string> clusters, workloads;  // paths, by option and by workload
};
// Reads a purchase from a file or a text. Sets and Error are as in load_placed_scenario
// (scenario_file.hpp). An option whose cluster lists numbers of nodes, or fabrics, becomes one for
// each: "rented/128". Each option's cluster with each workload is a question like those of
// load_placed_question(). A node's price and power that are left out are the catalog's.
PlacedPurchase load_placed_purchase(const Source& source, std::span<const std::string> sets = {});

// The keys of a purchase, and the JSON Schema by which editors complete and check one.
std::vector<Field> purchase_fields();
std::string purchase_schema();

// Returns the complaint about a plan that simulation refused (placed.hpp).
Complaint placed(const search::PurchaseRefusal& refused, const PlacedPurchase& purchase);

}  // namespace scenarios
