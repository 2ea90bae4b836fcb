// SPDX-License-Identifier: Apache-2.0
// Stragglers and degraded links: differences of single devices and links from the rest of a
// cluster.
#pragma once
#include "scenarios/documents/cursor.hpp"
#include "scenarios/documents/form.hpp"
#include "topology/cluster.hpp"

namespace scenarios {

Form stragglers_form();
Form degraded_links_form();

// Read lists of these forms into a cluster that is otherwise complete. `known`: all of it could be
// read, so that numbers and names can be judged.
void read_stragglers(topology::Cluster& cluster, bool known, const Cursor& at);
void read_degraded_links(topology::Cluster& cluster, bool known, const Cursor& at);

// The inverse of the readers.
Value show_stragglers(const topology::Cluster& cluster);
Value show_degraded_links(const topology::Cluster& cluster);

}  // namespace scenarios
