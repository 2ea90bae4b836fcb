// SPDX-License-Identifier: Apache-2.0
// Private to the room: a run's basis.
#pragma once
#include <functional>

#include "forecast/basis.hpp"
#include "sim/program.hpp"
#include "sim/waits.hpp"

namespace forecast {

using EvidenceOf = std::function<topology::Evidence(const strategies::CostQuery&)>;

// The basis of the critical path of a program that `questions` priced. The time that a pass took on
// an activity is divided among its steps on it in proportion to their durations. O(stretches +
// steps + questions)
Basis basis_of(const sim::Program& program, const sim::Waits& waits,
               const strategies::CostQueries& questions, const EvidenceOf& evidence_of);

}  // namespace forecast
