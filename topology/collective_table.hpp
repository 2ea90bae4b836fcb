// SPDX-License-Identifier: Apache-2.0
// Measured collectives beside what the model says of them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/collective.hpp"

namespace topology {

struct TablePoint {
  Collective collective = Collective::all_reduce;
  GroupShape group;
  bool in_switch = true;  // false: measured with the reduction in the NVLink switch turned off
  units::Bytes size;
  units::Seconds measured;
};

// One published table and the machine it was taken on.
struct CollectiveTable {
  std::string name, source, note;
  Cluster cluster;
  bool framework = false;  // taken through a framework
  // The time that the measuring program adds to every collective, such as one process that starts
  // them on all GPUs in turn. It is part of the prediction.
  units::Seconds call;
  std::vector<TablePoint> points;
};

struct TableRow {
  TablePoint point;
  units::Seconds predicted;
  double error = 0;  // (predicted − measured) / measured
};

// Means over the rows of a size; absent where there is none.
struct TableErrors {
  std::size_t rows = 0;
  std::optional<double> absolute, signed_mean;
};

struct TableScore {
  std::string name, source, note;
  bool framework = false;
  std::vector<TableRow> rows;
  TableErrors all, small, large;  // `large`: from 32 MiB up
  std::size_t worst = 0;          // row of the largest error
};

inline constexpr units::Bytes large_message{32.0 * 1024 * 1024};

// Predicts every point. Throws std::invalid_argument for a group that the machine cannot hold.
TableScore score(const CollectiveTable& table);

// "all_reduce 2x8 32 MiB", with "ring" where the switch was not used.
std::string to_text(const TablePoint& point);

}  // namespace topology
