// SPDX-License-Identifier: Apache-2.0
#include "topology/measured_collective.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace topology {
namespace {

using Measurement = std::pair<units::Bytes, units::Seconds>;

void check_table(const MeasuredCollective& table) {
  if (table.points.empty()) throw std::invalid_argument("a measured collective has no points");
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    const auto& [size, time] = table.points[i];
    if (!(size.value > 0 && time.value > 0))
      throw std::invalid_argument("a measured collective has a size and a time above zero");
    if (i > 0 && !(size > table.points[i - 1].first))
      throw std::invalid_argument("the sizes of a measured collective must rise");
  }
}

double slope(const Measurement& a, const Measurement& b) {
  return std::log(b.second / a.second) / std::log(b.first / a.first);
}

units::Seconds along(const Measurement& from, double slope, units::Bytes size) {
  return {from.second.value * std::pow(size / from.first, slope)};
}

}  // namespace

const MeasuredCollective* measured_for(Collective collective, int ranks, int nodes,
                                       const Fabric& fabric) {
  const auto found = std::ranges::find_if(fabric.measured, [&](const MeasuredCollective& table) {
    return table.collective == collective && table.ranks == ranks && table.nodes == nodes;
  });
  return found == fabric.measured.end() ? nullptr : &*found;
}

units::Seconds interpolated(const MeasuredCollective& table, units::Bytes size) {
  check_table(table);
  const auto& points = table.points;
  const auto above = std::ranges::lower_bound(points, size, {}, &Measurement::first);
  if (above == points.end()) return points.back().second * (size / points.back().first);
  if (above->first == size) return above->second;
  if (above != points.begin()) return along(above[-1], slope(above[-1], *above), size);
  if (points.size() == 1 || !(size.value > 0)) return above->second;
  return along(*above, std::clamp(slope(points[0], points[1]), 0.0, 1.0), size);
}

}  // namespace topology
