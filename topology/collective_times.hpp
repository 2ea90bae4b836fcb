// SPDX-License-Identifier: Apache-2.0
// The times of one group's collectives, of many sizes.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "topology/collective.hpp"
#include "topology/paths.hpp"
#include "topology/rate_surface.hpp"

namespace topology {

// Times of collectives of one group, for those who ask for many sizes: the paths and measurements
// of the group on the cluster, which must outlive it, are looked up once.
class CollectiveTimes {
 public:
  // Throws what collective_time throws for a collective that no table has.
  CollectiveTimes(const GroupShape& group, const Cluster& cluster);
  // The time that collective_time gives, bit for bit.
  units::Seconds of(Collective collective, units::Bytes size) const;

 private:
  static constexpr std::size_t kinds_of_collective = 6;
  struct Part {  // of the group on one kind of node
    Paths paths, surveyed;
    std::array<const RateSurface*, kinds_of_collective> surfaces{};
  };
  GroupShape group_;
  std::vector<Part> parts_;
  std::array<const MeasuredCollective*, kinds_of_collective> tables_{};
};

}  // namespace topology
