// SPDX-License-Identifier: Apache-2.0
// The units in which parameters are gathered and gradients reduced: layers under ZeRO-3, else
// buckets.
#pragma once
#include <cstddef>
#include <vector>

#include "strategies/lowering/cast.hpp"

namespace strategies {

// A part of a pass over a virtual stage.
struct PassUnit {
  Segment blocks;
  Parameters gathers;  // that it needs whole and has not yet
  Parameters reduces;  // whose gradients are complete after it
};

// Cuts a pass over a virtual stage into units as ZeRO-3 wraps layers, in the order in which they
// run; at least one. `backward`: the pass runs the blocks backwards.
std::vector<PassUnit> units_of(const Cast& cast, const Segment& blocks, bool backward);
// Cuts a pass as units_of does, into buckets: of gradients backward, of parameters forward.
std::vector<PassUnit> buckets_of(const Cast& cast, const Segment& blocks, bool backward);
// Cuts units once more, so that blocks of which something is offloaded stand alone.
std::vector<PassUnit> cut_at_offloaded(const Cast& cast, std::vector<PassUnit> units,
                                       bool backward);

// Whether the block belongs to the root unit of ZeRO-3, which is gathered once a pass.
bool is_root(const Cast& cast, const Block& block);
// Whether parameters of a unit are gathered while units before it run.
bool prefetches(const Cast& cast);
// The time from which the parameters of a unit may be gathered. 0: before the pass before has run
// its last unit; n: once that pass and n − 1 units of this one have ended.
std::size_t gathers_after(const Cast& cast, const std::vector<PassUnit>& units, std::size_t unit);

}  // namespace strategies
