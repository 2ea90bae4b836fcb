// SPDX-License-Identifier: Apache-2.0
// Prices of the catalog's nodes, and where they come from.
#pragma once
#include <optional>
#include <string>

#include "search/purchase/purchase.hpp"

namespace scenarios {

// Adds the catalog's source for the price of the node of that name, and whether it is an estimate;
// adds nothing for an unknown name.
void add_price_source(search::QuotedPrice& price, const std::string& node);

// Returns the price of a node and its share of the switches: the scenario's own, or the catalog's
// with its source; nothing if neither has one.
std::optional<search::QuotedPrice> price_of(const topology::Cluster& cluster);

}  // namespace scenarios
