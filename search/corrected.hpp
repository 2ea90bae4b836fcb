// SPDX-License-Identifier: Apache-2.0
// The answer of a search in corrected times.
#pragma once
#include <vector>

#include "forecast/accuracy/correction.hpp"
#include "search/objectives.hpp"
#include "search/why.hpp"

namespace search {

struct Corrected {
  forecast::Correction correction;        // of the best plan
  std::vector<units::Seconds> simulated;  // step times of Answer::plans before
};

// Multiplies all times of the outcome and of its reasons by the correction of the best plan: one
// factor for all plans, so that their order and the proved gap, which are of simulated times, stay.
// The best plan gets its corrected interval, the others keep the width of theirs. The objective
// must be step_time, whose choices do not depend on the factor; forecasts of plans must have their
// intervals, and there must be one.
Corrected correct(Outcome& outcome, Why& why, const forecast::Corrections& corrections);

}  // namespace search
