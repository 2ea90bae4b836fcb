// SPDX-License-Identifier: Apache-2.0
// A job is given its cast.
#pragma once
#include <memory>

#include "strategies/lowering/cast.hpp"

namespace strategies {

// Returns the whole cast of a job: cells, groups, writers, and what its actors hold. `costs` and
// the values that `job` refers to must outlive it. Throws std::invalid_argument where the degrees
// of the plan do not divide what they divide, or failed links cut GPUs off.
std::unique_ptr<Cast> cast_of(const Job& job, const Costs& costs, Ranks ranks);

}  // namespace strategies
