// SPDX-License-Identifier: Apache-2.0
#include "topology/collective_table.hpp"

#include <cmath>
#include <stdexcept>

#include "units/text.hpp"

namespace topology {
namespace {

TableRow row_of(const TablePoint& point, Cluster& cluster, bool multicast, units::Seconds call) {
  cluster.node.nvlink.multicast = multicast && point.in_switch;
  TableRow row{point, call + collective_time(point.collective, point.size, point.group, cluster)};
  if (!(point.measured.value > 0))
    throw std::invalid_argument(to_text(point) + ": a measured time is more than zero");
  row.error = row.predicted / point.measured - 1;
  return row;
}

template <class Belongs>
TableErrors errors_of(const std::vector<TableRow>& rows, Belongs belongs) {
  TableErrors errors;
  double magnitude = 0, sum = 0;
  for (const auto& row : rows) {
    if (!belongs(row.point)) continue;
    ++errors.rows;
    magnitude += std::abs(row.error);
    sum += row.error;
  }
  if (errors.rows == 0) return errors;
  errors.absolute = magnitude / static_cast<double>(errors.rows);
  errors.signed_mean = sum / static_cast<double>(errors.rows);
  return errors;
}

}  // namespace

TableScore score(const CollectiveTable& table) {
  TableScore result{table.name, table.source, table.note, table.framework};
  Cluster cluster = table.cluster;
  const bool multicast = cluster.node.nvlink.multicast;
  for (const auto& point : table.points) {
    result.rows.push_back(row_of(point, cluster, multicast, table.call));
    if (std::abs(result.rows.back().error) > std::abs(result.rows[result.worst].error))
      result.worst = result.rows.size() - 1;
  }
  const auto large = [](const TablePoint& point) { return point.size >= large_message; };
  result.all = errors_of(result.rows, [](const TablePoint&) { return true; });
  result.large = errors_of(result.rows, large);
  result.small = errors_of(result.rows, [&](const TablePoint& point) { return !large(point); });
  return result;
}

std::string to_text(const TablePoint& point) {
  return std::string(to_text(point.collective)) + ' ' + std::to_string(point.group.nodes) + 'x' +
         std::to_string(point.group.ranks / point.group.nodes) + ' ' +
         units::short_text(point.size) + (point.in_switch ? "" : " ring");
}

}  // namespace topology
