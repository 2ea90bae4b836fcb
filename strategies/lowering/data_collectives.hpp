// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks that hold the same parameters: gradients are reduced, parameters gathered.
#pragma once
#include "strategies/lowering/emitter.hpp"

namespace strategies {

enum class DataCollective { reduces, gathers };

// Adds a collective of every group of the stage that holds the same parameters, and another of
// every group that shares what is held apart. Each actor waits for its event in `after`, and finds
// the end in its clock's `reduced` or `gathered`.
void add_data_collectives(Emitter& emitter, const Cast& cast, int stage,
                          const Parameters& parameters, DataCollective what, LabelKind label,
                          const After& after);
// Adds these collectives of the stage's first groups to what runs beside a unit.
void add_data_beside(Interference& beside, const Cast& cast, int stage,
                     const Parameters& parameters, DataCollective what);

// Gathers parameters before a unit that needs them whole, after `after`; where no rank shares them,
// the unit waits for the host alone.
void gather_parameters(Emitter& emitter, const Cast& cast, int stage, const Parameters& parameters,
                       const After& after);

}  // namespace strategies
