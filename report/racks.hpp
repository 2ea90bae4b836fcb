// SPDX-License-Identifier: Apache-2.0
// GPUs of rack-scale clusters, counted in trays and in racks.
#pragma once
#include <cstdint>
#include <optional>

#include "topology/cluster.hpp"

namespace report {

struct RackCount {
  std::int64_t racks = 0, trays = 0;  // used ones; each rack is one node
  int tray_gpus = 0;                  // GPUs of a tray
  std::int64_t rack_gpus = 0;         // joined by NVLink in a rack used like the first
  std::int64_t last_rack_gpus = 0;    // in the last one
  std::int64_t empty_trays = 0;       // in all racks, by the catalog's size of a rack
  int whole_rack_trays = 0;           // trays of a rack, by the catalog
};

// Returns nothing for clusters whose nodes are not made of trays.
std::optional<RackCount> counted_in_racks(const topology::Cluster& cluster);

}  // namespace report
