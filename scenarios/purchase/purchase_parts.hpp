// SPDX-License-Identifier: Apache-2.0
// Options of a purchase: the clusters of an option, and their prices.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "scenarios/purchase/purchase_keys.hpp"

namespace scenarios {

struct ClusterOption {
  std::string suffix;  // end of its name: "/128", "/128/ndr-rail-fat-tree"
  Value value;
  std::optional<search::NodeCounts> find;
};

// Returns the mapping once for each number of nodes and each fabric that it lists; once and without
// a suffix if it lists none. {from, to} without steps, or no number at all under some limit, leave
// the number to be found.
std::vector<ClusterOption> clusters_of(const Cursor& cluster,
                                       const search::Constraints& constraints);

// The form of a list or range of numbers in place of a cluster's single number of nodes.
Form series_of_nodes_form();

// Complains of an option that is both bought and rented, or rented and sold.
void check_payment(const OptionDraft& draft, const Cursor& at);

// Fills in figures that an option leaves to the catalog: the price of a node and of its share of
// the switches, its power; and the nodes of a rack. Complains, at the option's cluster, of figures
// that are nowhere. At least one of the questions must be present.
void complete_option(OptionDraft& draft, const search::Economics& economics, const Cursor& at);

}  // namespace scenarios
