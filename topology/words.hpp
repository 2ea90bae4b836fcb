// SPDX-License-Identifier: Apache-2.0
// The words of the machine's choices (units/words.hpp).
#pragma once
#include "topology/cluster.hpp"
#include "topology/evidence.hpp"
#include "units/words.hpp"

namespace topology {

constexpr auto words_of(NvLink::Kind) {
  using enum NvLink::Kind;
  return units::words<NvLink::Kind>(
      {{"nvswitch", nvswitch}, {"mesh", mesh}, {"pairs", pairs}, {"none", none}});
}

constexpr auto words_of(Fabric::Kind) {
  using enum Fabric::Kind;
  return units::words<Fabric::Kind>({{"fat-tree", fat_tree},
                                     {"rail-fat-tree", rail_fat_tree},
                                     {"rail-only", rail_only},
                                     {"dragonfly-plus", dragonfly_plus},
                                     {"torus-3d", torus_3d},
                                     {"single-switch", single_switch}});
}

constexpr auto words_of(Collective) {
  using enum Collective;
  return units::words<Collective>({{"all_reduce", all_reduce},
                                   {"all_gather", all_gather},
                                   {"reduce_scatter", reduce_scatter},
                                   {"all_to_all", all_to_all},
                                   {"broadcast", broadcast},
                                   {"reduce", reduce}});
}

constexpr auto words_of(Evidence) {
  using enum Evidence;
  return units::words<Evidence>({{"measured", measured},
                                 {"interpolated", interpolated},
                                 {"scaled", scaled},
                                 {"physics", physics}});
}

}  // namespace topology
