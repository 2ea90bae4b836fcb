// SPDX-License-Identifier: Apache-2.0
// What is gathered and reduced at once: units of layers under ZeRO-3, else buckets.
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
// As units_of, into buckets: of gradients backward, of parameters forward.
std::vector<PassUnit> buckets_of(const Cast& cast, const Segment& blocks, bool backward);
// Cuts units once more, so that blocks of which something is offloaded stand alone.
std::vector<PassUnit> cut_at_offloaded(const Cast& cast, std::vector<PassUnit> units,
                                       bool backward);

// The block belongs to the root unit of ZeRO-3, which is gathered once a pass.
bool is_root(const Cast& cast, const Block& block);
// Parameters of a unit are gathered while units before it run.
bool prefetches(const Cast& cast);
// When the parameters of a unit may be gathered: 0 for before the pass, else the number of units
// that must have ended.
std::size_t gathers_after(const Cast& cast, const std::vector<PassUnit>& units, std::size_t unit);

}  // namespace strategies
