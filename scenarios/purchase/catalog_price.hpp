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

// Price of a node and its share of the switches: the scenario's own, or the catalog's with its
// source. Absent where neither has one.
std::optional<search::QuotedPrice> price_of(const topology::Cluster& cluster);

}  // namespace scenarios
