// SPDX-License-Identifier: Apache-2.0
// Private to the room: the precision of a torchtitan job's products.
#pragma once
#include <cstdint>

#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Sets the precision of products, and which linear layers the job keeps in bf16, of a model of so
// many layers (0: not known). `experts`: it is known to have routed experts.
void read_titan_precision(const Given& given, Draft& draft, std::int64_t layers, bool experts);

}  // namespace scenarios
