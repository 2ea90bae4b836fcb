// SPDX-License-Identifier: Apache-2.0
// Prices of the catalog's nodes, and where they come from.
#pragma once
#include <optional>
#include <string>

#include "search/purchase/purchase.hpp"

namespace scenarios {

// Says where the catalog has the price of the node of that name from, and whether it is estimated;
// nothing of a name that it does not hold.
void add_price_source(search::QuotedPrice& price, const std::string& node);

// What a node and its share of the switches cost: the catalog's price, with its source, or that of
// the scenario itself. Absent where nobody knows it.
std::optional<search::QuotedPrice> price_of(const topology::Cluster& cluster);

}  // namespace scenarios
