// SPDX-License-Identifier: Apache-2.0
// What sets single devices and links of a cluster apart from the others.
#pragma once
#include "scenarios/cursor.hpp"
#include "scenarios/form.hpp"
#include "topology/cluster.hpp"

namespace scenarios {

Form stragglers_form();
Form degraded_links_form();

// Read lists of these forms into a cluster that is complete otherwise. `known`: nothing of it is in
// doubt, so that numbers and names can be judged.
void read_stragglers(topology::Cluster& cluster, bool known, const Cursor& at);
void read_degraded_links(topology::Cluster& cluster, bool known, const Cursor& at);

// The inverse.
Value show_stragglers(const topology::Cluster& cluster);
Value show_degraded_links(const topology::Cluster& cluster);

}  // namespace scenarios
